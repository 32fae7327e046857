/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "cli/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/print.h"

/* FILLED: the width down to which a column that fills gives way alone. */
enum { BLOCK = 256, GAP = 2, FILLED = 24, CELL = 4096 };

/* The cells of a row in memory: the last is the note. */
static size_t slots(const struct cli_table *table)
{
    return (size_t)table->columns + 1;
}

static struct cli_cell *cell_at(const struct cli_table *table, int row, int column)
{
    return &table->cell[(size_t)row * slots(table) + (size_t)column];
}

void cli_table_begin(struct cli_table *table, FILE *stream, const struct cli_column *column,
                     int columns, int indent)
{
    *table = (struct cli_table){
        .stream = stream, .column = column, .columns = columns, .indent = indent, .more = "--json"};
    table->line = cli_table_width(stream, &table->is_fixed);
    table->cell = calloc((size_t)BLOCK * slots(table), sizeof *table->cell);
    table->has_failed = !table->cell;
    if (table->has_failed)
        cli_fault("show the table", ENOMEM);
}

int cli_table_room(const struct cli_table *table)
{
    return table->line;
}

/* --- cells ------------------------------------------------------------------------------------ */

/* Keeps byte 0 of the text empty: the place of cells that were not set. */
static bool grow(struct cli_table *table, size_t more)
{
    if (table->used == 0)
        table->used = 1;
    if (table->used + more <= table->room)
        return true;
    size_t room = 2 * (table->used + more) + 4096;
    char *text = realloc(table->text, room);
    if (!text) {
        table->has_failed = true;
        cli_fault("show the table", ENOMEM);
        return false;
    }
    text[0] = '\0';
    table->text = text;
    table->room = room;
    return true;
}

static void set(struct cli_table *table, int column, const char *format, va_list values)
{
    if (table->has_failed || !grow(table, CELL))
        return;
    int length = vsnprintf(table->text + table->used, CELL, format, values);
    length = length < 0 ? 0 : length < CELL ? length : CELL - 1;
    cell_at(table, table->rows, column)->at = table->used;
    table->used += (size_t)length + 1;
}

void cli_table_cell(struct cli_table *table, int column, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    set(table, column, format, values);
    va_end(values);
}

void cli_table_note(struct cli_table *table, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    set(table, table->columns, format, values);
    va_end(values);
}

void cli_table_color(struct cli_table *table, int column, enum cli_color color)
{
    if (!table->has_failed)
        cell_at(table, table->rows, column)->color = color;
}

void cli_table_end_row(struct cli_table *table)
{
    if (!table->has_failed && ++table->rows == BLOCK)
        cli_table_flush(table);
}

void cli_table_drop(struct cli_table *table)
{
    if (table->cell)
        memset(table->cell, 0, (size_t)BLOCK * slots(table) * sizeof *table->cell);
    table->rows = 0;
    table->used = 0;
}

/* --- widths ----------------------------------------------------------------------------------- */

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static void measure(struct cli_table *table)
{
    for (int row = 0; row < table->rows; row++)
        for (int c = 0; c < table->columns; c++) {
            size_t at = cell_at(table, row, c)->at;
            int width = at > 0 ? cli_format_width(table->text + at) : 0;
            table->widest[c] = larger(table->widest[c], width);
        }
}

/* The width of a column that has room. */
static int wanted(const struct cli_table *table, int c)
{
    const struct cli_column *column = &table->column[c];
    int head = table->has_no_heads ? 0 : cli_format_width(column->head);
    int widest = table->widest[c];
    if (widest == 0 && (column->may_lack || table->has_no_heads))
        return 0;
    if (column->most > 0 && widest > column->most)
        widest = column->most;
    return larger(widest, head);
}

static int line_of(const struct cli_table *table)
{
    int used = table->indent, shown = 0;
    for (int c = 0; c < table->columns; c++)
        if (table->width[c] > 0) {
            used += table->width[c];
            shown++;
        }
    return used + (shown > 1 ? (shown - 1) * GAP : 0);
}

static int least_of(const struct cli_table *table, int c)
{
    const struct cli_column *column = &table->column[c];
    return column->least > 0 && column->least < table->width[c] ? column->least : table->width[c];
}

/* The column that gives way next, or -1: one that fills, then the widest of those that may be shortened. */
static int next_to_shorten(const struct cli_table *table)
{
    int next = -1;
    for (int c = 0; c < table->columns; c++) {
        if (table->column[c].fills && table->width[c] > larger(FILLED, table->column[c].least))
            return c;
        if ((table->is_fixed || table->column[c].fills) && table->width[c] > least_of(table, c) &&
            (next < 0 || table->width[c] > table->width[next]))
            next = c;
    }
    return next;
}

static bool shorten(struct cli_table *table)
{
    int over = line_of(table) - table->line;
    for (int next; over > 0 && (next = next_to_shorten(table)) >= 0; over--)
        table->width[next]--;
    return over <= 0;
}

/* The column that is left out next, or -1. */
static int next_to_drop(const struct cli_table *table, unsigned dropped)
{
    int next = -1;
    for (int c = 0; c < table->columns; c++)
        if (table->column[c].rank > 0 && !(dropped >> c & 1) && wanted(table, c) > 0 &&
            (next < 0 || table->column[c].rank >= table->column[next].rank))
            next = c;
    return next;
}

/* For terminals on which not even the columns of rank 0 fit. */
static void squeeze(struct cli_table *table)
{
    for (int over = line_of(table) - table->line; over > 0; over--) {
        int next = 0;
        for (int c = 1; c < table->columns; c++)
            next = table->width[c] > table->width[next] ? c : next;
        if (table->width[next] <= 1)
            return;
        table->width[next]--;
    }
}

static void fit(struct cli_table *table)
{
    unsigned dropped = 0;
    for (;;) {
        for (int c = 0; c < table->columns; c++)
            table->width[c] = dropped >> c & 1 ? 0 : wanted(table, c);
        if (shorten(table) || !table->is_fixed)
            break;
        int next = next_to_drop(table, dropped);
        if (next < 0) {
            squeeze(table);
            break;
        }
        dropped |= 1U << next;
    }
    table->dropped |= dropped;
}

/* --- printing --------------------------------------------------------------------------------- */

/* Prints spaces only when text follows them, so that lines have none at their ends. */
static void put_cell(const struct cli_table *table, int c, const char *text, enum cli_color color,
                     int *owed)
{
    const struct cli_column *column = &table->column[c];
    char cut[CELL];
    int width = cli_format_width(text);
    if (width > table->width[c]) {
        text = cli_format_cut(cut, sizeof cut, text, table->width[c], column->cut);
        width = cli_format_width(text);
    }
    int padding = table->width[c] - width;
    if (column->right)
        *owed += padding;
    if (*text) {
        fprintf(table->stream, "%*s%s%s%s", *owed, "", color ? cli_color(table->stream, color) : "",
                text, color ? cli_color(table->stream, CLI_PLAIN) : "");
        *owed = 0;
    }
    *owed += (column->right ? 0 : padding) + GAP;
}

static void put_heads(struct cli_table *table)
{
    int owed = table->indent;
    unsigned shown = 0;
    for (int c = 0; c < table->columns; c++)
        shown |= table->width[c] > 0 ? 1U << c : 0;
    if (table->has_no_heads || shown == table->printed)
        return;
    table->printed = shown;
    for (int c = 0; c < table->columns; c++)
        if (table->width[c] > 0)
            put_cell(table, c, table->column[c].head, CLI_BOLD, &owed);
    fputc('\n', table->stream);
}

static void put_row(const struct cli_table *table, int row)
{
    const struct cli_cell *cell = cell_at(table, row, 0);
    size_t note = cell[table->columns].at;
    int owed = table->indent;
    for (int c = 0; c < table->columns; c++)
        if (table->width[c] > 0)
            put_cell(table, c, table->text + cell[c].at, cell[c].color, &owed);
    fputc('\n', table->stream);
    if (note > 0)
        cli_print_to(table->stream, "%*s%s\n", table->indent + 4, "", table->text + note);
}

/* Prints the heads again where later rows have other columns than the first. */
void cli_table_flush(struct cli_table *table)
{
    if (table->has_failed || table->rows == 0 || !grow(table, 1))
        return;
    measure(table);
    fit(table);
    put_heads(table);
    for (int i = 0; i < table->rows; i++)
        put_row(table, i);
    cli_table_drop(table);
}

static void put_dropped(struct cli_table *table)
{
    const char *comma = "";
    int line = table->indent - GAP;
    if (table->dropped == 0)
        return;
    cli_print_to(table->stream, "%*s%snot shown: ", table->indent, "",
                 cli_color(table->stream, CLI_DIM));
    for (int c = 0; c < table->columns; c++) {
        int width = wanted(table, c), least = table->column[c].least;
        line += width == 0 ? 0 : GAP + (least > 0 && least < width ? least : width);
        if (table->dropped >> c & 1) {
            cli_print_to(table->stream, "%s%s", comma, table->column[c].head);
            comma = ", ";
        }
    }
    cli_print_to(table->stream, "; a terminal of %d columns shows them, and so does %s%s\n", line,
                 table->more, cli_color(table->stream, CLI_PLAIN));
}

void cli_table_end(struct cli_table *table)
{
    cli_table_flush(table);
    put_dropped(table);
    free(table->text);
    free(table->cell);
    table->text = NULL;
    table->cell = NULL;
}
