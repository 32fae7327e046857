/* SPDX-License-Identifier: Apache-2.0 */
/* The table of `taskglass runs`, and a run as JSON. */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "cli/format.h"
#include "cli/print.h"
#include "cli/runs.h"
#include "cli/table.h"

enum column {
    WHEN,
    RUN,
    WORKLOAD,
    CASE,
    RANKS,
    PLATFORM,
    RUNTIME,
    RESULT,
    TASKS,
    RECORDS,
    LOST,
    SIZE,
    TOOK,
    COLUMNS
};

/* The name of a run's directory has its workload, its case and the second in which it began. */
static const struct cli_column columns[COLUMNS] = {
    [WHEN] = {.head = "when", .rank = 4},
    [RUN] = {.head = "run", .least = 32, .cut = CLI_CUT_MIDDLE},
    [WORKLOAD] = {.head = "workload", .rank = 6, .least = 10, .cut = CLI_CUT_MIDDLE},
    [CASE] = {.head = "case", .rank = 7, .least = 8, .cut = CLI_CUT_MIDDLE},
    [RANKS] = {.head = "ranks", .rank = 3, .right = true, .may_lack = true},
    [PLATFORM] = {.head = "platform", .rank = 8},
    [RUNTIME] = {.head = "runtime", .rank = 9, .least = 12, .cut = CLI_CUT_END},
    [RESULT] = {.head = "result", .least = 11, .cut = CLI_CUT_END},
    [TASKS] = {.head = "tasks", .rank = 5, .right = true},
    [RECORDS] = {.head = "records", .rank = 3, .right = true},
    [LOST] = {.head = "lost", .rank = 2, .right = true, .may_lack = true},
    [SIZE] = {.head = "size", .rank = 1, .right = true},
    [TOOK] = {.head = "took", .rank = 10, .right = true},
};

const char *runs_result(const struct tg_runs_entry *run, char *text, size_t room)
{
    const char *state = tg_recording_state_name(run->state);
    bool is_plain = !run->has_status || run->status == TG_OK || run->status == TG_CANCELLED ||
                    run->state == TG_RECORDING_RUNNING;
    snprintf(text, room, "%s%s%s", state, is_plain ? "" : ", ",
             is_plain ? "" : tg_status_name(run->status));
    return text;
}

static enum cli_color color_of(const struct tg_runs_entry *run)
{
    if (run->state == TG_RECORDING_FINISHED && run->status == TG_OK)
        return CLI_GREEN;
    return run->state == TG_RECORDING_FINISHED || run->state == TG_RECORDING_FAILED ||
                   run->state == TG_RECORDING_INTERRUPTED
               ? CLI_RED
               : CLI_BOLD;
}

/* In local time and as `ls -l` writes it: "Jan 02 12:00" for the last half year, else "2025-01-02". */
static void put_when(struct cli_table *table, int64_t began)
{
    enum { HALF_A_YEAR = 180 * 86400 };
    time_t seconds = (time_t)began, now = time(NULL);
    bool is_new = seconds > now - HALF_A_YEAR && seconds <= now + 86400;
    char text[40];
    struct tm local;
    if (localtime_r(&seconds, &local) &&
        strftime(text, sizeof text, is_new ? "%b %d %H:%M" : "%Y-%m-%d", &local) > 0)
        cli_table_cell(table, WHEN, "%s", text);
}

static void add_row(struct cli_table *table, const struct tg_runs_entry *run)
{
    struct cli_text text;
    char result[64];
    put_when(table, run->began);
    cli_table_cell(table, RUN, "%s", run->name);
    cli_table_cell(table, WORKLOAD, "%s", run->workload);
    cli_table_cell(table, CASE, "%s", run->case_name);
    if (run->ranks > 0)
        cli_table_cell(table, RANKS, "%" PRIu32, run->ranks);
    cli_table_cell(table, PLATFORM, "%s", run->platform);
    cli_table_cell(table, RUNTIME, "%s", run->runtime);
    cli_table_cell(table, RESULT, "%s", runs_result(run, result, sizeof result));
    cli_table_color(table, RESULT, color_of(run));
    if (run->has_counts)
        cli_table_cell(table, TASKS, "%" PRIu64, run->tasks);
    if (run->recorded)
        cli_table_cell(table, RECORDS, "%" PRIu64, run->records);
    if (run->lost > 0) {
        cli_table_cell(table, LOST, "%" PRIu64, run->lost);
        cli_table_color(table, LOST, CLI_RED);
    }
    cli_table_cell(table, SIZE, "%s", cli_format_bytes(&text, run->bytes));
    if (run->seconds > 0)
        cli_table_cell(table, TOOK, "%s", cli_format_seconds(&text, run->seconds));
    cli_table_end_row(table);
}

void runs_print_table(const struct runs *runs, size_t most)
{
    struct cli_table table;
    cli_table_begin(&table, stdout, columns, COLUMNS, 0);
    for (size_t i = 0; i < runs->count && i < most; i++)
        add_row(&table, &runs->run[i]);
    cli_table_end(&table);
    if (runs->count > most)
        cli_print("and %zu more; --all shows them\n", runs->count - most);
}

static void put_time(struct tg_json *json, int64_t began)
{
    time_t seconds = (time_t)began;
    char text[40];
    struct tm local;
    bool good = localtime_r(&seconds, &local) &&
                strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", &local) > 0;
    tg_json_put_string(json, "began", good ? text : NULL);
}

static void put_known(struct tg_json *json, const char *key, const char *text)
{
    tg_json_put_string(json, key, *text ? text : NULL);
}

static void put_count(struct tg_json *json, const char *key, bool is_known, uint64_t count)
{
    if (is_known) {
        tg_json_put_uint(json, key, count);
        return;
    }
    tg_json_key(json, key);
    tg_json_null(json);
}

void runs_put_run(struct tg_json *json, const struct tg_runs_entry *run)
{
    tg_json_put_string(json, "name", run->name);
    tg_json_put_string(json, "path", run->path);
    put_time(json, run->began);
    put_known(json, "workload", run->workload);
    put_known(json, "case", run->case_name);
    put_known(json, "platform", run->platform);
    put_known(json, "runtime", run->runtime);
    tg_json_put_string(json, "result", tg_recording_state_name(run->state));
    tg_json_put_string(json, "status", run->has_status ? tg_status_name(run->status) : NULL);
    tg_json_put_real(json, "seconds", run->seconds);
    put_count(json, "tasks", run->has_counts, run->tasks);
    put_count(json, "finished", run->has_counts, run->finished);
    put_count(json, "records", run->recorded, run->records);
    put_count(json, "lost", run->recorded, run->lost);
    put_count(json, "ranks", run->ranks > 0, run->ranks);
    tg_json_put_uint(json, "bytes", run->bytes);
    tg_json_put_uint(json, "other_files", run->others);
}
