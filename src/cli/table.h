/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables. A verb declares the columns and gives the cells row by row; the table prints them in blocks, so
 * that a table of a million rows needs no more memory than one of a few hundred.
 *
 * A column is as wide as its widest cell so far. Where the columns are wider together than the terminal, the
 * table, in this order,
 *
 *     1. shortens cells with "…", down to the `least` width of their column;
 *     2. leaves out columns, those of the highest `rank` first, and names them in a line below the table;
 *     3. shortens every cell, on a terminal too narrow for the columns of rank 0.
 *
 * So no line is longer than the terminal, and a wider terminal shows more. In a pipe and in a file all
 * columns are shown, and only the column that `fills` is shortened to keep lines at 100 columns; the variable
 * COLUMNS makes the table fit that many columns instead.
 */
#ifndef TG_CLI_TABLE_H
#define TG_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/format.h"
#include "cli/term.h"

enum { CLI_TABLE_COLUMNS = 20 };

struct cli_column {
    const char *head;
    int rank;  /* 0: always shown */
    int least; /* 0: cells are numbers or words that are shown whole */
    int most;  /* a longer cell is shortened on every terminal; 0: no limit */
    enum cli_cut cut;
    bool right;
    bool fills;    /* gives way before other columns do */
    bool may_lack; /* is left out while all of its cells are empty */
};

struct cli_cell {
    size_t at; /* in the text of the block */
    enum cli_color color;
};

struct cli_table {
    FILE *stream;
    const struct cli_column *column;
    int columns, indent;
    bool has_no_heads; /* set after cli_table_begin: rows alone */
    const char *more;  /* what else shows all columns; --json */
    /* private */
    int line;
    bool is_fixed, has_failed;
    char *text;
    size_t used, room;
    struct cli_cell *cell;
    int rows;
    int widest[CLI_TABLE_COLUMNS]; /* cell so far; 0: all are empty */
    int width[CLI_TABLE_COLUMNS];  /* as printed; 0: not printed */
    unsigned printed,
        dropped; /* sets of columns: below the last heads, ever left out for want of room */
};

/* `columns` stays the caller's and must live as long as the table. `indent` spaces begin each line. */
void cli_table_begin(struct cli_table *table, FILE *stream, const struct cli_column *column,
                     int columns, int indent);
/* Sets a cell of the row. The cells of a row are set from left to right; those left out are empty. */
__attribute__((format(printf, 3, 4))) void cli_table_cell(struct cli_table *table, int column,
                                                          const char *format, ...);
/* Colours the cell that was set. */
void cli_table_color(struct cli_table *table, int column, enum cli_color color);
/* A sentence below the row, which is broken between words. */
__attribute__((format(printf, 2, 3))) void cli_table_note(struct cli_table *table,
                                                          const char *format, ...);
void cli_table_end_row(struct cli_table *table);
/* Prints the rows that were not printed yet. A verb whose rows may have become wrong meanwhile drops them
 * instead. */
void cli_table_flush(struct cli_table *table);
void cli_table_drop(struct cli_table *table);
/* How many columns a row may have at most, for a verb that makes a cell as long as it can be shown. */
int cli_table_room(const struct cli_table *table);
/* Prints the rest, names the columns that were left out, and frees the table's memory. */
void cli_table_end(struct cli_table *table);

#endif
