/* SPDX-License-Identifier: Apache-2.0 */
/* `taskglass path` for people: one screen. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/path.h"
#include "cli/print.h"
#include "cli/table.h"
#include "cli/term.h"

/* --- numbers ---------------------------------------------------------------------------------- */

static const char *format_time(struct cli_text *text, uint64_t ns)
{
    return cli_format_seconds(text, (double)ns / 1e9);
}

static void put_time(struct cli_table *table, int column, uint64_t ns)
{
    struct cli_text text;
    cli_table_cell(table, column, "%s", ns == TG_NONE ? "?" : format_time(&text, ns));
}

static void put_share(struct cli_table *table, int column, uint64_t part, uint64_t whole)
{
    if (part != TG_NONE && whole > 0)
        cli_table_cell(table, column, "%.1f %%", 100.0 * (double)part / (double)whole);
}

static void put_count(struct cli_table *table, int column, uint64_t count)
{
    cli_table_cell(table, column, "%" PRIu64, count);
}

static uint64_t span_of(const struct path *path)
{
    return path->info.end - path->info.start;
}

static void print_title(const char *title)
{
    cli_print("\n%s%s%s", cli_color(stdout, CLI_BOLD), title, cli_color(stdout, CLI_PLAIN));
}

static const char *kernel_of(const struct path *path, uint64_t number)
{
    struct tg_timing_kernel kernel;
    return tg_timing_get_kernel(path->timing, number, &kernel) ? kernel.name : "?";
}

/* --- the head --------------------------------------------------------------------------------- */

static void print_head(const struct path *path)
{
    const struct tg_timing_info *info = &path->info;
    const struct tg_recording *recording = tg_timing_recording(path->timing);
    struct tg_recording_info lacks;
    struct cli_text span, tasks, cores;
    struct cli_shown file;
    struct tg_note note;
    cli_print("%s: %s", cli_show(&file, info->file), info->source);
    if (*info->workload)
        cli_print(" of %s%s%s", info->workload, *info->case_name ? ", case " : "", info->case_name);
    if (*info->platform)
        cli_print(", %s", info->platform);
    if (*info->runtime)
        cli_print(", %s", info->runtime);
    cli_print("\nspan  %s, %s on %s\n", format_time(&span, span_of(path)),
              cli_format_count(&tasks, info->tasks, "task"),
              cli_format_count(&cores, info->cores, "core"));
    for (unsigned i = 0; tg_timing_note(path->timing, i, &note); i++)
        cli_print("  note: %s\n", note.text);
    if (recording) {
        tg_recording_get_info(recording, &lacks);
        cli_recording_print_notes(&lacks);
    }
}

/* --- the path --------------------------------------------------------------------------------- */

static void print_spent(const struct path *path)
{
    enum { SPENT, TIME, SHARE, MEANING, COLUMNS };
    static const struct cli_column columns[COLUMNS] = {
        [SPENT] = {"spent", .rank = 0},
        [TIME] = {"time", .right = true},
        [SHARE] = {"share", .right = true},
        [MEANING] = {"meaning", .rank = 1, .least = 20, .fills = true},
    };
    struct cli_table table;
    cli_table_begin(&table, stdout, columns, COLUMNS, 2);
    for (unsigned i = 0; i < TG_SPENT_KINDS; i++) {
        if (path->info.spent[i] == 0)
            continue;
        cli_table_cell(&table, SPENT, "%s", tg_spent_name(i));
        put_time(&table, TIME, path->info.spent[i]);
        put_share(&table, SHARE, path->info.spent[i], span_of(path));
        cli_table_cell(&table, MEANING, "%s", tg_spent_text(i));
        cli_table_end_row(&table);
    }
    cli_table_end(&table);
}

/* Fills `number` with at most as many tasks as the user wants to see. The caller frees it. */
static uint64_t rank(const struct path *path, enum tg_timing_order order, uint64_t **number)
{
    uint64_t most = path->limit.number < path->info.tasks ? path->limit.number : path->info.tasks;
    *number = malloc((most + 1) * sizeof **number);
    if (!*number)
        cli_fault("list the tasks", ENOMEM);
    return tg_timing_rank(path->timing, order, most, *number);
}

static void print_tasks(const struct path *path, enum tg_timing_order order)
{
    enum { TASK, KERNEL, CORE, RUN, WAIT, SCOPE, COLUMNS };
    static const struct cli_column columns[COLUMNS] = {
        [TASK] = {"task", .right = true},
        [KERNEL] = {"kernel", .rank = 1, .least = 10, .most = 40, .cut = CLI_CUT_MIDDLE},
        [CORE] = {"core", .rank = 4, .right = true},
        [RUN] = {"ran", .right = true},
        [WAIT] = {"waited", .right = true},
        [SCOPE] = {"scope", .rank = 3, .least = 12, .cut = CLI_CUT_BEGIN, .fills = true,
                   .may_lack = true},
    };
    struct cli_table table;
    struct tg_timing_task task;
    struct cli_words words;
    uint64_t *number, count = rank(path, order, &number);
    cli_table_begin(&table, stdout, columns, COLUMNS, 2);
    for (uint64_t i = 0; i < count && tg_timing_get_task(path->timing, number[i], &task); i++) {
        bool is_whole = task.begin != TG_NONE && task.end != TG_NONE;
        cli_table_cell(&table, TASK, "%s", cli_record_task(&words, task.id));
        cli_table_cell(&table, KERNEL, "%s", kernel_of(path, task.kernel));
        if (task.core != TG_NO_KERNEL)
            put_count(&table, CORE, task.core);
        put_time(&table, RUN, is_whole ? task.end - task.begin : TG_NONE);
        put_time(&table, WAIT, task.ready == TG_NONE ? TG_NONE : task.busy + task.latency);
        cli_table_cell(&table, SCOPE, "%s", task.scope);
        cli_table_end_row(&table);
    }
    cli_table_end(&table);
    free(number);
}

/* What the run would gain if the kernel took this much of its time; nothing if that is not known. */
static void put_gain(struct cli_table *table, int column, const struct path *path, uint64_t kernel,
                     uint32_t percent)
{
    for (uint64_t i = 0; i < path->n_gains; i++) {
        const struct tg_timing_gain *gain = &path->gain[i];
        if (gain->kernel == kernel && gain->percent == percent && gain->span != TG_NONE)
            put_time(table, column, span_of(path) - gain->span);
    }
}

static void print_kernels(const struct path *path)
{
    enum { KERNEL, TASKS, RUN, WAIT, ON_PATH, PATH_RUN, HALF, NONE, COLUMNS };
    static const struct cli_column columns[COLUMNS] = {
        [KERNEL] = {"kernel", .least = 10, .most = 40, .cut = CLI_CUT_MIDDLE, .fills = true},
        [TASKS] = {"tasks", .rank = 4, .right = true},
        [RUN] = {"ran", .rank = 2, .right = true},
        [WAIT] = {"waited", .rank = 5, .right = true},
        [ON_PATH] = {"on path", .rank = 3, .right = true},
        [PATH_RUN] = {"ran there", .right = true},
        [HALF] = {"gain at half", .rank = 1, .right = true, .may_lack = true},
        [NONE] = {"without it", .rank = 1, .right = true, .may_lack = true},
    };
    struct cli_table table;
    struct tg_timing_kernel kernel;
    uint64_t i = 0;
    cli_table_begin(&table, stdout, columns, COLUMNS, 2);
    for (; i < path->limit.number && tg_timing_get_kernel(path->timing, i, &kernel); i++) {
        cli_table_cell(&table, KERNEL, "%s", kernel.name);
        put_count(&table, TASKS, kernel.tasks);
        put_time(&table, RUN, kernel.run);
        put_time(&table, WAIT, kernel.wait);
        put_count(&table, ON_PATH, kernel.path_tasks);
        put_time(&table, PATH_RUN, kernel.path_run);
        put_gain(&table, HALF, path, i, 50);
        put_gain(&table, NONE, path, i, 0);
        cli_table_end_row(&table);
    }
    cli_table_end(&table);
    if (path->info.kernels > i)
        cli_print("  and %" PRIu64 " more; --limit shows them\n", path->info.kernels - i);
}

static void print_path(const struct path *path)
{
    struct cli_text tasks;
    print_title("critical path");
    if (*path->info.path_unknown) {
        cli_print("  not known: %s\n", path->info.path_unknown);
    } else {
        cli_print("  %s, from the last end back to the start\n",
                  cli_format_count(&tasks, path->info.steps, "task"));
        print_spent(path);
        print_title("longest tasks on the path");
        cli_print("\n");
        print_tasks(path, TG_TIMING_BY_PATH_RUN);
    }
    print_title("kernels");
    cli_print("\n");
    print_kernels(path);
}

/* --- waiting ---------------------------------------------------------------------------------- */

static void print_waiting(const struct path *path)
{
    const struct tg_timing_info *info = &path->info;
    struct cli_text all, busy, latency, given;
    print_title("ready but not running");
    if (*info->wait_unknown) {
        cli_print("  not known: %s\n", info->wait_unknown);
        return;
    }
    cli_print("  %s in all, %" PRIu64 " of %" PRIu64 " tasks: %s while every core that could run "
              "them was busy, %s while one was idle",
              format_time(&all, info->wait), info->waited, info->timed,
              format_time(&busy, info->wait_busy),
              format_time(&latency, info->wait - info->wait_busy));
    if (info->dispatched != TG_NONE)
        cli_print("; for %s of it a scheduler had given them to a core",
                  format_time(&given, info->dispatched));
    cli_print("\n");
    if (info->waited > 0)
        print_tasks(path, TG_TIMING_BY_WAIT);
}

/* --- cores ------------------------------------------------------------------------------------ */

enum { CORE, RAN, IDLE, SHARE, NOTHING, OTHER, LATENCY, CORE_COLUMNS };

static void put_core(struct cli_table *table, const struct path *path,
                     const struct tg_timing_core *core)
{
    struct cli_text count;
    if (core->cores == 1 && *core->name && core->number != TG_NO_KERNEL)
        cli_table_cell(table, CORE, "%s", core->name);
    else
        cli_table_cell(table, CORE, "%s: %s", core->name,
                       cli_format_count(&count, core->cores, "core"));
    put_time(table, RAN, core->run);
    put_time(table, IDLE, core->idle);
    put_share(table, SHARE, core->idle, span_of(path) * core->cores);
    put_time(table, NOTHING, core->nothing);
    put_time(table, OTHER, core->other);
    put_time(table, LATENCY, core->latency);
    cli_table_end_row(table);
}

struct idle_core {
    uint64_t idle, number;
};

static int by_idle(const void *a, const void *b)
{
    const struct idle_core *left = a, *right = b;
    if (left->idle != right->idle)
        return left->idle > right->idle ? -1 : 1;
    return (left->number > right->number) - (left->number < right->number);
}

/* The cores that were idle longest, if they are too many to show all. */
static void put_idlest(struct cli_table *table, const struct path *path)
{
    struct tg_timing_core core;
    struct idle_core *list = malloc((path->info.cores + 1) * sizeof *list);
    if (!list) {
        cli_fault("list the cores", ENOMEM);
        return;
    }
    for (uint64_t i = 0; tg_timing_get_core(path->timing, i, &core); i++)
        list[i] = (struct idle_core){core.idle, i};
    if (path->info.cores > path->limit.number)
        qsort(list, path->info.cores, sizeof *list, by_idle);
    for (uint64_t i = 0; i < path->info.cores && i < path->limit.number; i++)
        if (tg_timing_get_core(path->timing, list[i].number, &core))
            put_core(table, path, &core);
    free(list);
}

static void print_cores(const struct path *path)
{
    static const struct cli_column columns[CORE_COLUMNS] = {
        [CORE] = {"core", .least = 8, .cut = CLI_CUT_END},
        [RAN] = {"ran", .rank = 2, .right = true},
        [IDLE] = {"idle", .right = true},
        [SHARE] = {"share", .rank = 3, .right = true},
        [NOTHING] = {"none ready", .rank = 1, .right = true},
        [OTHER] = {"none for it", .rank = 1, .right = true},
        [LATENCY] = {"latency", .rank = 1, .right = true},
    };
    struct cli_table table;
    struct tg_timing_core kind;
    print_title("idle cores");
    cli_print(path->info.cores > path->limit.number ? "  by kind, and the idlest\n" : "\n");
    cli_table_begin(&table, stdout, columns, CORE_COLUMNS, 2);
    for (uint64_t i = 0; tg_timing_get_kind(path->timing, i, &kind); i++)
        put_core(&table, path, &kind);
    put_idlest(&table, path);
    cli_table_end(&table);
}

/* --- gains ------------------------------------------------------------------------------------ */

static void print_gains(const struct path *path)
{
    enum { CHANGE, SPAN, GAINED, GAIN_SHARE, BASIS, COLUMNS };
    static const struct cli_column columns[COLUMNS] = {
        [CHANGE] = {"with", .least = 20, .cut = CLI_CUT_MIDDLE, .fills = true},
        [SPAN] = {"span", .right = true},
        [GAINED] = {"gained", .rank = 1, .right = true},
        [GAIN_SHARE] = {"share", .rank = 3, .right = true},
        [BASIS] = {"that is", .rank = 2},
    };
    struct cli_table table;
    print_title("what would be gained");
    cli_print("\n");
    cli_table_begin(&table, stdout, columns, COLUMNS, 2);
    for (uint64_t i = 0; i < path->n_gains; i++) {
        const struct tg_timing_gain *gain = &path->gain[i];
        if (gain->span == TG_NONE || gain->kernel != TG_NONE)
            continue;
        cli_table_cell(&table, CHANGE, "%s", gain->text);
        put_time(&table, SPAN, gain->span);
        put_time(&table, GAINED, span_of(path) - gain->span);
        put_share(&table, GAIN_SHARE, span_of(path) - gain->span, span_of(path));
        cli_table_cell(&table, BASIS, "%s", gain->is_bound ? "a lower bound" : "an estimate");
        cli_table_end_row(&table);
    }
    cli_table_end(&table);
    cli_print("  An estimate, also of a kernel, keeps tasks on their cores in their order; see "
              "taskglass-path(1).\n");
}

void path_print_text(const struct path *path)
{
    print_head(path);
    print_path(path);
    print_waiting(path);
    print_cores(path);
    if (!*path->info.path_unknown)
        print_gains(path);
    cli_legend_print();
}
