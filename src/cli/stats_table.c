/* SPDX-License-Identifier: Apache-2.0 */
/* Prints rows in blocks; a column is as wide as its widest cell in the blocks so far. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/array.h>
#include <taskglass/dtype.h>

#include "cli/format.h"
#include "cli/stats.h"
#include "cli/term.h"

enum { BLOCK = 256, GAP = 2, CELL = 48 };

enum column {
    INDEX,
    TASK,
    KERNEL,
    STAGE,
    ROLE,
    ARG,
    DTYPE,
    COUNT,
    LEAST,
    MOST,
    MEAN,
    DEVIATION,
    NANS,
    INFS,
    ZEROS,
    DENORMALS,
    COLUMNS
};

static const struct {
    const char *head;
    bool right;
} columns[COLUMNS] = {
    [INDEX] = {"index", true},        [TASK] = {"task", true},   [KERNEL] = {"kernel", false},
    [STAGE] = {"stage", false},       [ROLE] = {"role", false},  [ARG] = {"arg", true},
    [DTYPE] = {"dtype", false},       [COUNT] = {"count", true}, [LEAST] = {"min", true},
    [MOST] = {"max", true},           [MEAN] = {"mean", true},   [DEVIATION] = {"std", true},
    [NANS] = {"nan", true},           [INFS] = {"inf", true},    [ZEROS] = {"zero", true},
    [DENORMALS] = {"denormal", true},
};

struct row {
    char cell[COLUMNS][CELL];
    bool loud; /* has NaN or infinities, which are printed in red */
};

struct table {
    const struct tg_recording *recording;
    struct row *row;
    size_t rows;
    int width[COLUMNS];
    bool has_head;
    uint64_t not_stored; /* rows without values */
};

static void put_count(char *cell, uint64_t count)
{
    snprintf(cell, CELL, "%" PRIu64, count);
}

static void put_number(char *cell, double number)
{
    snprintf(cell, CELL, "%.5g", number);
}

static void put_value(char *cell, unsigned dtype, uint64_t bits, double value)
{
    struct tg_value_text text;
    if (tg_dtype_is_float((int)dtype))
        put_number(cell, value);
    else
        snprintf(cell, CELL, "%s", tg_value_format(dtype, bits, &text));
}

static void fill_who(struct row *row, uint64_t index, const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    struct cli_words words;
    put_count(row->cell[INDEX], index);
    snprintf(row->cell[TASK], CELL, "%s", cli_record_task(&words, record->task_id));
    const char *kernels = cli_record_kernels(&words, entry);
    snprintf(row->cell[KERNEL], CELL, "%.*s", cli_format_fit(kernels, 40), kernels);
    snprintf(row->cell[STAGE], CELL, "%s", cli_record_stage(record->stage));
    snprintf(row->cell[ROLE], CELL, "%s", cli_record_role(record->role));
    snprintf(row->cell[ARG], CELL, "%u", record->arg_index);
    snprintf(row->cell[DTYPE], CELL, "%s", tg_dtype_name(record->dtype));
}

static void fill_numbers(struct row *row, unsigned dtype, const struct tg_tensor_stats *stats)
{
    bool is_float = tg_dtype_is_float((int)dtype);
    put_count(row->cell[COUNT], stats->elements);
    if (stats->has_range) {
        put_value(row->cell[LEAST], dtype, stats->least,
                  tg_dtype_load((int)dtype, &stats->least, 0));
        put_value(row->cell[MOST], dtype, stats->most, tg_dtype_load((int)dtype, &stats->most, 0));
    }
    if (stats->finite > 0) {
        put_number(row->cell[MEAN], stats->mean);
        put_number(row->cell[DEVIATION], stats->deviation);
    }
    if (is_float) {
        put_count(row->cell[NANS], stats->nan);
        put_count(row->cell[INFS], stats->infinite);
        put_count(row->cell[DENORMALS], stats->denormal);
    }
    put_count(row->cell[ZEROS], stats->zero);
    row->loud = stats->nan + stats->infinite > 0;
}

/* Prints spaces only when text follows them, so that lines have none at their ends. */
static void put_line(const struct table *table, const struct row *row)
{
    int owed = 0;
    for (int c = 0; c < COLUMNS; c++) {
        const char *text = row ? row->cell[c] : columns[c].head;
        int padding = table->width[c] - cli_format_width(text);
        bool loud = row && row->loud && (c == NANS || c == INFS) && strcmp(text, "0") != 0;
        owed += columns[c].right ? padding : 0;
        if (*text) {
            printf("%*s%s%s%s", owed, "", loud ? cli_color(stdout, CLI_RED) : "", text,
                   loud ? cli_color(stdout, CLI_PLAIN) : "");
            owed = 0;
        }
        owed += (columns[c].right ? 0 : padding) + GAP;
    }
    putchar('\n');
}

/* Prints the rows, unless their numbers were computed from bytes that the file had lost by then. */
static void put_block(struct table *table)
{
    if (tg_recording_check_files(table->recording, NULL) != TG_OK)
        table->rows = 0;
    for (int c = 0; c < COLUMNS; c++) {
        int width = (int)strlen(columns[c].head);
        for (size_t i = 0; i < table->rows; i++) {
            int cell = cli_format_width(table->row[i].cell[c]);
            width = cell > width ? cell : width;
        }
        table->width[c] = width > table->width[c] ? width : table->width[c];
    }
    if (!table->has_head && table->rows > 0) {
        fputs(cli_color(stdout, CLI_BOLD), stdout);
        put_line(table, NULL);
        fputs(cli_color(stdout, CLI_PLAIN), stdout);
        table->has_head = true;
    }
    for (size_t i = 0; i < table->rows; i++)
        put_line(table, &table->row[i]);
    table->rows = 0;
}

static void add_row(struct table *table, const struct cli_stats *stats, uint64_t index,
                    const struct tg_entry *entry)
{
    struct row *row = &table->row[table->rows++];
    struct tg_tensor_stats numbers;
    memset(row, 0, sizeof *row);
    fill_who(row, index, entry);
    if (tg_entry_measure(stats->recording, entry, &numbers)) {
        fill_numbers(row, entry->record.dtype, &numbers);
    } else {
        bool is_stored = entry->record.flags & TG_RECORD_EXCESS;
        snprintf(row->cell[COUNT], CELL, is_stored ? "not read" : "not stored");
        table->not_stored += !is_stored;
    }
    if (table->rows == BLOCK)
        put_block(table);
}

bool cli_stats_print_table(const struct cli_stats *stats)
{
    struct table table = {.recording = stats->recording, .row = calloc(BLOCK, sizeof *table.row)};
    struct tg_recording_info info;
    struct tg_entry entry;
    struct cli_text count;
    uint64_t shown = 0, rest = 0, i = 0, used = 0;
    if (!table.row)
        return false;
    tg_recording_get_info(stats->recording, &info);
    for (; shown < stats->limit.number && cli_stats_next(stats, &i, &entry); i++, shown++) {
        cli_entry_allow(&info, &used, &entry);
        add_row(&table, stats, i, &entry);
    }
    put_block(&table);
    free(table.row);
    for (; shown == stats->limit.number && cli_stats_next(stats, &i, &entry); i++)
        rest++;
    if (shown == 0 && rest == 0)
        puts(info.records == 0 ? "The recording has no records." : "No record matches.");
    if (rest > 0)
        printf("and %" PRIu64 " more; --all shows them\n", rest);
    if (table.not_stored > 0)
        printf("  note: %s without values; record with --dump-tensor=full to have them\n",
               cli_format_count(&count, table.not_stored, "record"));
    cli_recording_print_notes(&info);
    return true;
}
