/* SPDX-License-Identifier: Apache-2.0 */
/* The table of `taskglass stats`: a row for each record. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <taskglass/array.h>
#include <taskglass/dtype.h>

#include "cli/format.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/stats.h"
#include "cli/table.h"

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

static const struct cli_column columns[COLUMNS] = {
    [INDEX] = {"index", .right = true},
    [TASK] = {"task", .rank = 1, .right = true},
    [KERNEL] = {"kernel", .rank = 2, .least = 10, .most = 60, .cut = CLI_CUT_MIDDLE},
    [STAGE] = {"stage", .rank = 10},
    [ROLE] = {"role", .rank = 9},
    [ARG] = {"arg", .rank = 3, .right = true},
    [DTYPE] = {"dtype", .rank = 11},
    [COUNT] = {"count", .rank = 8, .right = true},
    [LEAST] = {"min", .rank = 4, .right = true},
    [MOST] = {"max", .rank = 4, .right = true},
    [MEAN] = {"mean", .rank = 7, .right = true},
    [DEVIATION] = {"std", .rank = 12, .right = true},
    [NANS] = {"nan", .rank = 2, .right = true},
    [INFS] = {"inf", .rank = 2, .right = true},
    [ZEROS] = {"zero", .rank = 6, .right = true},
    [DENORMALS] = {"denormal", .rank = 13, .right = true},
};

/* What is printed besides the rows. */
struct report {
    struct cli_table table;
    const struct cli_stats *stats;
    uint64_t not_stored; /* rows without values */
    uint32_t unchecked;  /* rows since the files were last looked at */
    struct cli_progress progress;
    uint64_t done; /* bytes of payloads */
};

static void put_count(struct cli_table *table, int column, uint64_t count)
{
    cli_table_cell(table, column, "%" PRIu64, count);
}

static void put_number(struct cli_table *table, int column, double number)
{
    cli_table_cell(table, column, "%.5g", number);
}

static void put_value(struct cli_table *table, int column, unsigned dtype, const uint64_t *bits)
{
    struct tg_value_text text;
    if (tg_dtype_is_float((int)dtype))
        put_number(table, column, tg_dtype_load((int)dtype, bits, 0));
    else
        cli_table_cell(table, column, "%s", tg_value_format(dtype, *bits, &text));
}

static void put_who(struct cli_table *table, uint64_t index, const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    struct cli_words words;
    put_count(table, INDEX, index);
    cli_table_cell(table, TASK, "%s", cli_record_task(&words, record->task_id));
    cli_table_cell(table, KERNEL, "%s", cli_record_kernels(&words, entry));
    cli_table_cell(table, STAGE, "%s", cli_record_stage(record->stage));
    cli_table_cell(table, ROLE, "%s", cli_record_role(record->role));
    put_count(table, ARG, record->arg_index);
    cli_table_cell(table, DTYPE, "%s", tg_dtype_name(record->dtype));
}

/* NaN and infinities are red. */
static void put_odd(struct cli_table *table, int column, uint64_t count)
{
    put_count(table, column, count);
    if (count > 0)
        cli_table_color(table, column, CLI_RED);
}

static void put_numbers(struct cli_table *table, unsigned dtype,
                        const struct tg_tensor_stats *stats)
{
    bool is_float = tg_dtype_is_float((int)dtype);
    put_count(table, COUNT, stats->elements);
    if (stats->has_range) {
        put_value(table, LEAST, dtype, &stats->least);
        put_value(table, MOST, dtype, &stats->most);
    }
    if (stats->finite > 0) {
        put_number(table, MEAN, stats->mean);
        put_number(table, DEVIATION, stats->deviation);
    }
    if (is_float) {
        put_odd(table, NANS, stats->nan);
        put_odd(table, INFS, stats->infinite);
    }
    put_count(table, ZEROS, stats->zero);
    if (is_float)
        put_count(table, DENORMALS, stats->denormal);
}

/* Prints the rows, unless their numbers were computed from bytes that the file had lost by then. */
static void put_rows(struct report *report)
{
    cli_progress_erase(&report->progress);
    if (tg_recording_check_files(report->stats->recording, NULL) == TG_OK)
        cli_table_flush(&report->table);
    else
        cli_table_drop(&report->table);
    report->unchecked = 0;
}

static void add_row(struct report *report, uint64_t index, const struct tg_entry *entry)
{
    enum { ROWS = 200 }; /* fewer than the table keeps back */
    struct cli_table *table = &report->table;
    struct tg_tensor_stats numbers;
    put_who(table, index, entry);
    if (tg_entry_measure(report->stats->recording, entry, &numbers)) {
        put_numbers(table, entry->record.dtype, &numbers);
    } else {
        bool is_stored = entry->record.flags & TG_RECORD_EXCESS;
        cli_table_cell(table, COUNT, is_stored ? "not read" : "not stored");
        report->not_stored += !is_stored;
    }
    cli_table_end_row(table);
    report->done += entry->record.stored;
    if (++report->unchecked == ROWS)
        put_rows(report);
}

bool cli_stats_print_table(struct cli_stats *stats)
{
    struct report report = {.stats = stats};
    struct tg_recording_info info;
    struct tg_entry entry;
    struct cli_text count;
    uint64_t shown = 0, rest = 0, index;
    cli_table_begin(&report.table, stdout, columns, COLUMNS, 0);
    tg_recording_get_info(stats->recording, &info);
    cli_progress_init(&report.progress, "stats", NULL);
    for (; shown < stats->limit.number && tg_stats_walk_next(&stats->walk, &index, &entry);
         shown++) {
        /* How much the limit and the filters leave is not known. */
        cli_progress_show(&report.progress, report.done,
                          stats->all && tg_query_is_empty(stats->query) ? info.payload_bytes : 0);
        add_row(&report, index, &entry);
    }
    put_rows(&report);
    cli_table_end(&report.table);
    while (shown == stats->limit.number && tg_stats_walk_next(&stats->walk, &index, &entry))
        rest++;
    if (shown == 0 && rest == 0)
        cli_print(info.records == 0 ? "The recording has no records.\n" : "No record matches.\n");
    if (rest > 0)
        cli_print("and %" PRIu64 " more; --all shows them\n", rest);
    if (report.not_stored > 0)
        cli_print("  note: %s without values; record with --dump-tensor=full to have them\n",
                  cli_format_count(&count, report.not_stored, "record"));
    cli_legend_print();
    cli_recording_print_notes(&info);
    return true;
}
