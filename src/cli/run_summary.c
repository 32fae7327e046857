/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_summary.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <taskglass/recording.h>
#include <taskglass/text.h>

#include "cli/format.h"
#include "cli/print.h"
#include "cli/recording.h"
#include "cli/run_ranks.h"
#include "cli/table.h"
#include "cli/term.h"

/* At most this many rows of running tasks are printed; run.json has all of them. */
enum { MOST_ROWS = 16 };

static void put_padded(const char *text, int width)
{
    int padding = width - cli_format_width(text);
    cli_print("%s%*s", text, padding > 0 ? padding : 0, "");
}

static void put_row(const char *label, double seconds, const char *rest)
{
    struct cli_text time;
    cli_print("  %-9s", label);
    put_padded(cli_format_seconds(&time, seconds), 10);
    cli_print("%s\n", rest);
}

static void put_head(const char *workload, const char *runtime,
                     const struct tg_execution_info *info)
{
    struct cli_text cores, schedulers;
    cli_print("%s%s%s, case %s, on %s with %s", cli_color(stdout, CLI_BOLD), workload,
              cli_color(stdout, CLI_PLAIN), info->case_name, info->device.platform,
              cli_format_count(&cores, info->device.cores, "core"));
    if (info->device.schedulers > 0)
        cli_print(" and %s", cli_format_count(&schedulers, info->device.schedulers, "scheduler"));
    cli_print(", by %s", runtime);
    if (info->ranks)
        cli_print("; rank %" PRIu32 " of %" PRIu32, info->ranks->rank, info->ranks->ranks);
    cli_print("\n");
}

/* Where the files of all ranks are. */
static const char *directory_of(const struct tg_execution_info *info)
{
    return info->ranks ? info->ranks->info.dir : info->output_dir;
}

/* The graph was built on the host before the run, or on the device during it. */
static void put_build(const struct tg_execution_info *info)
{
    const struct tg_orchestration_result *o = &info->run.orchestration;
    struct cli_text tasks, edges, scopes;
    char rest[160];
    int used =
        snprintf(rest, sizeof rest, "%s, %s", cli_format_count(&tasks, info->run.tasks, "task"),
                 cli_format_count(&edges, info->edges, "edge"));
    if (o->on)
        used += snprintf(rest + used, sizeof rest - (size_t)used, ", %s; on the device",
                         cli_format_count(&scopes, o->scopes, "scope"));
    if (o->on && o->wait_seconds > 0.1 * o->seconds)
        snprintf(rest + used, sizeof rest - (size_t)used, ", %.0f %% of it waiting for room",
                 100 * o->wait_seconds / o->seconds);
    put_row("build", o->on ? o->seconds : info->build_seconds, rest);
}

static void put_times(const struct tg_execution_info *info)
{
    struct cli_text each;
    char rest[80] = "";
    put_build(info);
    if (info->run.finished > 0)
        snprintf(rest, sizeof rest, "%s a task",
                 cli_format_seconds(&each, info->run.execute_seconds / (double)info->run.finished));
    put_row("execute", info->run.execute_seconds, rest);
}

struct widths {
    int name, dtype, elements;
};

static int wider(int width, int other)
{
    return other > width ? other : width;
}

static struct widths measure(const struct tg_execution_info *info)
{
    struct widths widths = {0, 0, 0};
    struct cli_text count;
    for (uint32_t i = 0; i < info->n_outputs; i++) {
        const struct tg_output_check *check = &info->outputs[i];
        cli_format_count(&count, check->elements, "element");
        widths.name = wider(widths.name, cli_format_width(check->name));
        widths.dtype = wider(widths.dtype, (int)strlen(check->dtype));
        widths.elements = wider(widths.elements, (int)strlen(count.text));
    }
    /* A name is shortened where it would take the room of the verdict. */
    int most = cli_stream_width(stdout) / 3;
    widths.name = most > 0 && widths.name > most ? most : widths.name;
    return widths;
}

static void put_verdict(const struct tg_output_check *check)
{
    const char *plain = cli_color(stdout, CLI_PLAIN);
    if (check->mismatches > 0)
        cli_print("%sFAILED%s, %" PRIu64 " differ, first at %" PRIu64
                  ": %.9g, expected %.9g; max error %.3g\n",
                  cli_color(stdout, CLI_RED), plain, check->mismatches, check->first,
                  check->first_got, check->first_expected, check->max_error);
    else if (check->exact)
        cli_print("%sok%s, exact\n", cli_color(stdout, CLI_GREEN), plain);
    else
        cli_print("%sok%s, max error %.3g\n", cli_color(stdout, CLI_GREEN), plain,
                  check->max_error);
}

static void put_checks(const struct tg_execution_info *info)
{
    struct widths widths = measure(info);
    struct cli_text count;
    char name[256];
    for (uint32_t i = 0; i < info->n_outputs; i++) {
        const struct tg_output_check *check = &info->outputs[i];
        cli_print("  %-9s", i == 0 ? "check" : "");
        put_padded(cli_format_cut(name, sizeof name, check->name, widths.name, CLI_CUT_MIDDLE),
                   widths.name);
        cli_print("  %-*s  %*s  ", widths.dtype, check->dtype, widths.elements,
                  cli_format_count(&count, check->elements, "element"));
        put_verdict(check);
    }
}

static void put_recording(const struct tg_record_result *record)
{
    struct cli_text records, bytes;
    if (!record->on)
        return;
    cli_print("  %-9s%s, %s\n", "record",
              cli_format_count(&records, record->summary.recorded, "record"),
              cli_format_bytes(&bytes, record->stored_bytes));
}

static void put_scopes(const struct tg_scope_result *scopes)
{
    struct cli_text samples;
    if (scopes->no_rings)
        cli_print("  %-9sno rings: with host_build_graph the host builds the whole graph first\n",
                  "scopes");
    else if (scopes->on)
        cli_print("  %-9s%s; `taskglass scope` shows them\n", "scopes",
                  cli_format_count(&samples, scopes->samples, "sample"));
}

/* A trace that was written: where it is, and what to do with it. */
static void put_trace(FILE *to, const char *path, const struct tg_run_trace *trace)
{
    struct cli_text tasks, bytes;
    struct cli_shown shown;
    if (!trace->on || trace->status != TG_OK || path == NULL)
        return;
    cli_print_to(to, "  %-9s%s: %s, %s; open it at ui.perfetto.dev, or `taskglass path` it\n",
                 "trace", cli_show(&shown, path), cli_format_count(&tasks, trace->tasks, "slice"),
                 cli_format_bytes(&bytes, trace->bytes));
}

/* Parts of one line, with "; " between them. */
struct line {
    char text[CLI_LOSSES];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int length = vsnprintf(line->text + line->used, sizeof line->text - line->used, format, values);
    va_end(values);
    if (length > 0)
        line->used += (size_t)length;
    if (line->used >= sizeof line->text)
        line->used = sizeof line->text - 1;
}

static const char *separate(const struct line *line)
{
    return line->used > 0 ? "; " : "";
}

static void add_lost_records(struct line *line, const struct tg_record_summary *summary)
{
    const char *separator = ": ";
    if (cli_recording_lost(summary) > 0)
        add(line, "%s%" PRIu64 " of %" PRIu64 " records lost", separate(line),
            cli_recording_lost(summary), summary->attempted);
    for (unsigned cause = 0; cause < TG_LOSS_CAUSES; cause++) {
        if (summary->lost[cause] == 0)
            continue;
        add(line, "%s%" PRIu64 " %s", separator, summary->lost[cause], tg_loss_name(cause));
        separator = ", ";
    }
    if (summary->truncated + summary->overwritten > 0)
        add(line, "%s%" PRIu64 " payloads truncated, %" PRIu64 " overwritten", separate(line),
            summary->truncated, summary->overwritten);
}

static void add_scopes(struct line *line, const struct tg_scope_result *scopes)
{
    if (*scopes->text)
        add(line, "%sscope stats: %s", separate(line), scopes->text);
    if (scopes->dropped > 0)
        add(line, "%sscope stats: %" PRIu64 " of %" PRIu64 " samples dropped", separate(line),
            scopes->dropped, scopes->samples);
}

const char *cli_describe_losses(const struct tg_run_result *run, char text[CLI_LOSSES])
{
    struct line what = {.used = 0}, line = {.used = 0};
    add(&what, "%s", run->record.text);
    if (run->record.on)
        add_lost_records(&what, &run->record.summary);
    if (what.used > 0)
        add(&line, "%s%s", run->record.on ? "recording: " : "", what.text);
    add_scopes(&line, &run->scopes);
    if (*run->trace.text)
        add(&line, "%strace: %s", separate(&line), run->trace.text);
    tg_text_clean(line.text, text, CLI_LOSSES);
    return text;
}

void cli_warn_losses(const struct tg_run_result *run)
{
    char text[CLI_LOSSES];
    if (*cli_describe_losses(run, text))
        cli_print_to(stderr, "taskglass: warning: %s\n", text);
}

void cli_warn_note(const struct tg_execution_info *info)
{
    struct cli_shown shown;
    if (*info->not_noted)
        cli_print_to(stderr, "taskglass: warning: %s\n", cli_show(&shown, info->not_noted));
}

/* Warns if the orchestration spent most of its time waiting for room. */
void cli_warn_orchestration(const struct tg_orchestration_result *orchestration)
{
    struct cli_shown shown;
    if (orchestration->warning != TG_OK)
        cli_print_to(stderr, "taskglass: warning: %s: %s\n", tg_status_name(orchestration->warning),
                     cli_show(&shown, orchestration->text));
}

/* Warns if pairs of the schedule were not kept, or name tasks that there are not. */
void cli_warn_schedule(const struct tg_schedule_result *schedule)
{
    if (*schedule->text)
        cli_print_to(stderr, "taskglass: warning: %s\n", schedule->text);
}

void cli_summarize_run(const char *workload, const char *runtime, const char *trace,
                       const struct tg_execution_info *info)
{
    struct cli_shown files;
    put_head(workload, runtime, info);
    put_times(info);
    put_checks(info);
    put_recording(&info->run.record);
    put_scopes(&info->run.scopes);
    put_trace(stdout, trace, &info->run.trace);
    if (info->ranks)
        cli_ranks_summarize(stdout, info->ranks);
    cli_print("  %-9s%s\n", "files", cli_show(&files, directory_of(info)));
}

enum { LABEL, TASK, KERNEL, PART, CORE, STATE, LINE, COLUMNS };

static const struct cli_column running_columns[COLUMNS] = {
    [LABEL] = {.head = "running"},
    [TASK] = {.head = "task"},
    [KERNEL] = {"kernel", .least = 10, .cut = CLI_CUT_MIDDLE},
    [PART] = {"part", .rank = 3},
    [CORE] = {"core", .rank = 2, .right = true},
    [STATE] = {"state", .rank = 1, .may_lack = true},
    [LINE] = {"line", .rank = 1, .least = 16, .cut = CLI_CUT_BEGIN, .fills = true,
              .may_lack = true},
};

/* "model.c:42" */
static const char *short_line(const struct tg_run_task *task, struct cli_shown *shown)
{
    struct tg_source_site site = task->site;
    char text[400];
    site.at.function[0] = '\0';
    site.called_at.line = 0;
    tg_source_text(&site, text, sizeof text);
    return cli_show(shown, text + strlen("at "));
}

static void put_running(const struct tg_run_result *run)
{
    static const char *const parts[TG_PARTS] = {"aic", "aiv0", "aiv1"};
    struct cli_shown line;
    uint32_t rows = run->n_running < MOST_ROWS ? run->n_running : MOST_ROWS;
    struct cli_table table;
    struct cli_words id;
    cli_table_begin(&table, stderr, running_columns, COLUMNS, 2);
    table.more = "run.json";
    for (uint32_t i = 0; i < rows; i++) {
        const struct tg_run_task *task = &run->running[i];
        cli_table_cell(&table, TASK, "%s", cli_record_task(&id, task->task));
        cli_table_cell(&table, KERNEL, "%s", task->kernel);
        cli_table_cell(&table, PART, "%s", task->part < TG_PARTS ? parts[task->part] : "?");
        cli_table_cell(&table, CORE, "%" PRIu32, task->core);
        if (task->faulted)
            cli_table_cell(&table, STATE, "crashed");
        if (task->site.at.line != 0)
            cli_table_cell(&table, LINE, "%s", short_line(task, &line));
        cli_table_end_row(&table);
    }
    cli_table_end(&table);
    if (rows < run->n_running)
        cli_print_to(stderr, "  %-9sand %" PRIu32 " more\n", "", run->n_running - rows);
}

/* Prints one unmet dependency; run.json has more of them. */
static void put_unmet(const struct tg_run_result *run)
{
    struct cli_words id, before;
    cli_print_to(stderr, "  %-9stask %s waits for %s", "unmet",
                 cli_record_task(&id, run->unmet[0].task),
                 cli_record_task(&before, run->unmet[0].waits_for));
    if (run->n_unmet > 1)
        cli_print_to(stderr, ", and %" PRIu32 " more", run->n_unmet - 1);
    cli_print_to(stderr, "\n");
}

void cli_report_failure(const char *trace, const struct tg_execution_info *info)
{
    struct cli_shown shown;
    if (tg_status_exit_code(info->status) == 2)
        return;
    if (info->run.n_running > 0)
        put_running(&info->run);
    if (info->run.n_unmet > 0)
        put_unmet(&info->run);
    if (info->run.tasks > 0 && info->status != TG_MISMATCH)
        cli_print_to(stderr,
                     "  %-9s%" PRIu64 " of %" PRIu64 " tasks finished, %" PRIu64
                     " wait for others\n",
                     "progress", info->run.finished, info->run.tasks, info->run.waiting);
    if (info->run.tasks > 0 && info->status != TG_MISMATCH)
        cli_print_to(stderr, "  %-9staskglass explain %s\n", "why",
                     cli_show_word(&shown, directory_of(info)));
    if (*info->advice)
        cli_print_to(stderr, "  %-9s%s\n", "advice", cli_show(&shown, info->advice));
    if (info->status != TG_MISMATCH)
        put_trace(stderr, trace, &info->run.trace);
    if (info->status != TG_MISMATCH)
        cli_print_to(stderr, "  %-9s%s\n", "files", cli_show(&shown, directory_of(info)));
}
