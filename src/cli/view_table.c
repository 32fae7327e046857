/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of records. It prints rows in blocks; a column is as wide as its widest cell in the blocks
 * so far, and the values get the rest of the line. It leaves out a column that is empty in all blocks
 * so far.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/array.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/term.h"
#include "cli/view.h"

enum { BLOCK = 256, GAP = 2, LEAST_VALUES = 12, WIDEST = 200 };

enum column { INDEX, TASK, KERNEL, STAGE, ROLE, ARG, DTYPE, SHAPE, BYTES, VALUES, HASH, COLUMNS };

static const struct {
    const char *head;
    bool right;
    int most; /* longer cells are cut */
} columns[COLUMNS] = {
    [INDEX] = {"index", true, 20},    [TASK] = {"task", true, 21},
    [KERNEL] = {"kernel", false, 16}, [STAGE] = {"stage", false, 6},
    [ROLE] = {"role", false, 5},      [ARG] = {"arg", true, 3},
    [DTYPE] = {"dtype", false, 14},   [SHAPE] = {"shape", false, 16},
    [BYTES] = {"bytes", true, 6},     [VALUES] = {"values", false, WIDEST},
    [HASH] = {"hash", false, 8},
};

struct row {
    uint64_t index;
    struct tg_entry entry;
    char cell[COLUMNS][72];
};

struct table {
    const struct view *view;
    struct row *row;
    size_t rows;
    int width[COLUMNS]; /* 0: the column is left out */
    int line;
    bool has_head;
};

/* "512", "4.0K", "152M": four digits at most. */
static void put_bytes(char *cell, size_t room, uint64_t bytes)
{
    static const char units[] = "KMGTPE";
    double value = (double)bytes / 1024;
    size_t unit = 0;
    if (bytes < 10000) {
        snprintf(cell, room, "%" PRIu64, bytes);
        return;
    }
    for (; value >= 1000 && unit + 2 < sizeof units; unit++)
        value /= 1024;
    snprintf(cell, room, "%.*f%c", value < 9.95 ? 1 : 0, value, units[unit]);
}

/* Copies as much as fits in `most` columns, with "…" for the rest. */
static void put_cut(char *cell, size_t room, const char *text, int most)
{
    size_t at = 0, keep = 0;
    int width = 0;
    for (; text[at] && width <= most && at + 4 < room; at++) {
        if (((unsigned char)text[at] & 0xc0) != 0x80) {
            if (width < most)
                keep = at;
            width++;
        }
        cell[at] = text[at];
    }
    cell[at] = '\0';
    if (width > most || text[at])
        memcpy(cell + keep, "…", sizeof "…");
}

static void fill_row(struct row *row)
{
    const struct tg_record *record = &row->entry.record;
    struct cli_words words;
    const size_t room = sizeof row->cell[0];
    snprintf(row->cell[INDEX], room, "%" PRIu64, row->index);
    snprintf(row->cell[TASK], room, "%s", cli_record_task(&words, record->task_id));
    put_cut(row->cell[KERNEL], room, cli_record_kernels(&words, &row->entry), columns[KERNEL].most);
    snprintf(row->cell[STAGE], room, "%s", cli_record_stage(record->stage));
    snprintf(row->cell[ROLE], room, "%s",
             record->flags & TG_RECORD_READ ? "read" : cli_record_role(record->role));
    snprintf(row->cell[ARG], room, record->arg_index == TG_ARG_UNKNOWN ? "?" : "%u",
             record->arg_index);
    snprintf(row->cell[DTYPE], room, "%s", tg_dtype_name(record->dtype));
    put_cut(row->cell[SHAPE], room, cli_record_shape(&words, record), columns[SHAPE].most);
    row->cell[BYTES][0] = row->cell[HASH][0] = '\0';
    if (record->kind == TG_KIND_TENSOR)
        put_bytes(row->cell[BYTES], room, record->bytes);
    if (record->flags & TG_RECORD_HASHED)
        snprintf(row->cell[HASH], room, "%08" PRIx64, record->hash >> 32);
}

/* Sets the widths of all columns but the values; returns the width that remains for the values. */
static int measure(struct table *table)
{
    int used = 0;
    for (int c = 0; c < COLUMNS; c++) {
        bool is_empty = true;
        int width = (int)strlen(columns[c].head);
        for (size_t i = 0; c != VALUES && i < table->rows; i++) {
            int cell = cli_format_width(table->row[i].cell[c]);
            is_empty = is_empty && cell == 0;
            width = cell > width ? cell : width;
        }
        if (c == VALUES || (is_empty && table->width[c] == 0))
            continue;
        table->width[c] = width > table->width[c] ? width : table->width[c];
        used += table->width[c] + GAP;
    }
    int left = table->line - used;
    return left > LEAST_VALUES ? left : LEAST_VALUES;
}

/* Four digits, so that odd values stand out; --index shows all digits. */
static void format_short(struct tg_value_text *text, unsigned dtype, uint64_t bits)
{
    if (tg_dtype_is_float((int)dtype))
        snprintf(text->text, sizeof text->text, "%.4g", tg_decode(dtype, bits));
    else
        tg_value_format(dtype, bits, text);
}

/* Prints as many values as fit, and "…" for the others. */
static void put_values(char *cell, int room, const struct tg_array *array)
{
    struct tg_value_text text;
    int at = 0;
    for (int64_t i = 0; i < array->elements; i++) {
        format_short(&text, array->dtype, tg_load_bits(array->dtype, array->bytes, i));
        int length = (int)strlen(text.text) + (at > 0);
        bool is_last = i + 1 == array->elements;
        if (at + length + (is_last ? 0 : 2) > room) {
            sprintf(cell + at, at > 0 ? " …" : "…");
            return;
        }
        at += sprintf(cell + at, "%s%s", at > 0 ? " " : "", text.text);
    }
}

static void fill_values(const struct table *table, struct row *row, int width)
{
    const struct tg_record *record = &row->entry.record;
    const char *mark = cli_record_mark(record);
    char *cell = row->cell[VALUES];
    struct tg_value_text value;
    struct tg_array array;
    int most = (int)sizeof row->cell[0] - 8; /* leaves room for one "…", which has 3 bytes */
    width = width < most ? width : most;
    int at = sprintf(cell, "%s", mark);
    bool is_scalar = record->kind == TG_KIND_SCALAR;
    if (!is_scalar && !tg_array_of(table->view->recording, &row->entry, &array))
        return;
    if (at > 0)
        at += sprintf(cell + at, " ");
    if (is_scalar)
        sprintf(cell + at, "%s", tg_scalar_format(record, &value));
    else
        put_values(cell + at, width - at, &array);
}

/* Prints spaces only when text follows them, so that lines have none at their ends. */
static void put_cell(const struct table *table, int column, const char *text, bool loud, int *owed)
{
    int padding = table->width[column] - cli_format_width(text);
    padding = padding > 0 ? padding : 0;
    if (columns[column].right)
        *owed += padding;
    if (*text) {
        printf("%*s%s%s%s", *owed, "", loud ? cli_color(stdout, CLI_RED) : "", text,
               loud ? cli_color(stdout, CLI_PLAIN) : "");
        *owed = 0;
    }
    *owed += (columns[column].right ? 0 : padding) + GAP;
}

/* Prints a row, or the heads if `row` is NULL. */
static void put_line(const struct table *table, const struct row *row)
{
    int owed = 0;
    for (int c = 0; c < COLUMNS; c++) {
        bool loud = row && c == VALUES && *cli_record_mark(&row->entry.record);
        if (table->width[c] > 0)
            put_cell(table, c, row ? row->cell[c] : columns[c].head, loud, &owed);
    }
    putchar('\n');
}

static void put_block(struct table *table)
{
    if (table->rows == 0)
        return;
    int values = measure(table);
    table->width[VALUES] = 0;
    for (size_t i = 0; i < table->rows; i++) {
        fill_values(table, &table->row[i], values);
        int width = cli_format_width(table->row[i].cell[VALUES]);
        table->width[VALUES] = width > table->width[VALUES] ? width : table->width[VALUES];
    }
    if (table->width[VALUES] > 0 && table->width[VALUES] < (int)strlen("values"))
        table->width[VALUES] = (int)strlen("values");
    if (!table->has_head) {
        fputs(cli_color(stdout, CLI_BOLD), stdout);
        put_line(table, NULL);
        fputs(cli_color(stdout, CLI_PLAIN), stdout);
    }
    table->has_head = true;
    for (size_t i = 0; i < table->rows; i++)
        put_line(table, &table->row[i]);
    table->rows = 0;
}

static void add_row(struct table *table, uint64_t index, const struct tg_entry *entry)
{
    struct row *row = &table->row[table->rows++];
    row->index = index;
    row->entry = *entry;
    row->entry.record.flags &= (uint16_t)~TG_RECORD_EXCESS; /* a few values are read of each */
    fill_row(row);
    if (table->rows == BLOCK)
        put_block(table);
}

/* How many records from `from` on are selected. */
static uint64_t count_rest(const struct view *view, uint64_t from)
{
    struct tg_entry entry;
    uint64_t count = 0;
    if (tg_query_is_empty(view->query))
        return view->info.records - from;
    for (uint64_t i = from; tg_query_next(view->query, view->recording, &i, &entry); i++)
        count++;
    return count;
}

void view_print_table(const struct view *view)
{
    struct table table = {.view = view, .line = cli_term_width()};
    struct tg_entry entry;
    uint64_t shown = 0, i = 0;
    table.row = calloc(BLOCK, sizeof *table.row);
    if (!table.row) {
        cli_fault("show the table", ENOMEM);
        return;
    }
    for (; shown < view->limit.number; i++, shown++) {
        if (!tg_query_next(view->query, view->recording, &i, &entry))
            break;
        add_row(&table, i, &entry);
    }
    put_block(&table);
    free(table.row);
    uint64_t rest = shown == view->limit.number && i < view->info.records ? count_rest(view, i) : 0;
    if (shown == 0 && rest == 0)
        puts(view->info.records == 0 ? "The recording has no records." : "No record matches.");
    else if (rest > 0)
        printf("and %" PRIu64 " more; --all shows them, --index NUMBER one in full\n", rest);
}
