/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass run: runs one case of a workload and checks its outputs. */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/execute.h>
#include <taskglass/job.h>
#include <taskglass/json.h>
#include <taskglass/workload.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/guard.h"
#include "cli/interrupt.h"
#include "cli/module_output.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/recording.h"
#include "cli/run_races.h"
#include "cli/run_ranks.h"
#include "cli/run_summary.h"
#include "cli/term.h"
#include "cli/voice.h"
#include "cli/workload.h"

/* What the command line asks for. */
struct request {
    const char *workload;
    const char *case_name;
    const char *trace;
    struct cli_sets sets;
    bool json;
};

static const struct cli_option options[] = {
    CLI_TEXT(struct request, case_name, "case", "NAME",
             "the case to run; `taskglass list` shows the cases",
             .fallback = "the workload's first", .expects = CLI_CASE),
    CLI_SET(struct request, sets),
    CLI_TEXT(
        struct request, trace, "trace", "FILE",
        "write the times of all tasks there, for ui.perfetto.dev and `taskglass path`: Chrome's "
        "JSON if the name ends in .json, else Perfetto's protobuf",
        .expects = CLI_FILE),
    CLI_JSON(struct request, json, "print run.json instead of the report"),
};

struct watch {
    struct cli_progress progress;
    int phase; /* the last that --verbose named; -1: none */
};

static int on_progress(void *context, enum tg_phase phase, uint64_t finished, uint64_t total)
{
    static const char *const labels[] = {"prepare", "open the device", "build the graph", "run",
                                         "check"};
    struct watch *watch = context;
    if (watch->phase != (int)phase)
        cli_detail("%s", labels[phase]);
    watch->phase = (int)phase;
    cli_progress_next(&watch->progress, labels[phase]);
    cli_progress_show(&watch->progress, finished, total);
    return cli_interrupt_caught();
}

/* What a program gets where there is no run.json: its first members, as far as they are known. */
static void print_failure(const char *workload, const struct tg_error *error)
{
    struct tg_json json;
    cli_module_output_back();
    tg_json_start(&json, stdout);
    tg_json_begin_object(&json);
    tg_json_put_string(&json, "version", tg_version());
    tg_json_put_string(&json, "workload", workload);
    tg_json_key(&json, "result");
    tg_json_begin_line_object(&json);
    tg_json_put_string(&json, "status", tg_status_name(error->status));
    tg_json_key(&json, "exit_code");
    tg_json_int(&json, tg_status_exit_code(error->status));
    tg_json_end_object(&json);
    tg_json_key(&json, "error");
    tg_json_begin_object(&json);
    tg_json_put_string(&json, "name", tg_status_name(error->status));
    tg_json_put_string(&json, "text", error->text);
    tg_json_put_string(&json, "advice", tg_status_advice(error->status));
    tg_json_end_object(&json);
    tg_json_end_object(&json);
    (void)tg_json_finish(&json); /* main reports errors of stdout */
    fflush(stdout);
}

/* An input error has one line, so that what its files lack stands there too. */
static void explain_refusal(const struct tg_execution_info *info, const struct tg_error *error)
{
    char losses[CLI_LOSSES];
    cli_describe_losses(&info->run, losses);
    (void)cli_error("%s: %s%s%s", tg_status_name(error->status), error->text, *losses ? "; " : "",
                    losses);
}

static void explain(const char *trace, const struct tg_execution_info *info,
                    const struct tg_error *error)
{
    if (tg_status_exit_code(info->status) == CLI_USAGE) {
        explain_refusal(info, error);
        return;
    }
    cli_warn_losses(&info->run);
    cli_warn_note(info);
    cli_warn_orchestration(&info->run.orchestration);
    cli_warn_schedule(&info->run.schedule);
    if (info->status != TG_OK) {
        cli_fail(error);
        cli_report_failure(trace, info);
    }
}

/* Without the text of run.json, --json cannot tell how the run ended. */
static int report_no_json(const struct tg_workload *workload, const struct tg_execution_info *info,
                          const struct tg_error *error)
{
    struct tg_error no_memory = {TG_NO_MEMORY, "out of host memory for run.json"};
    if (info->status == TG_OK)
        error = &no_memory;
    print_failure(workload->name, error);
    return cli_fail(error);
}

/* Of one rank of several: the lowest that is alive prints for all, and another one only why it failed, if
 * no lower one has said the same. */
static int report_rank(const struct tg_workload *workload, const struct tg_settings *settings,
                       const struct request *request, const struct tg_execution_info *info,
                       const struct tg_error *error)
{
    const struct tg_execution_ranks *ranks = info->ranks;
    const char *trace = request->trace;
    bool has_result = info->status == TG_OK || info->status == TG_MISMATCH;
    if (ranks->reports && trace && info->run.trace.on && !cli_ranks_merge_trace(ranks, trace))
        trace = NULL;
    if (ranks->reports && request->json && cli_ranks_has_stdout())
        cli_ranks_print_json(ranks, info->run_json);
    else if (ranks->reports && has_result && !request->json)
        cli_summarize_run(workload->name, tg_settings_text(settings, "runtime"), trace, info);
    fflush(stdout);
    if (ranks->speaks)
        explain(trace, info, error);
    else
        cli_warn_losses(&info->run);
    if (ranks->reports && ranks->status != TG_OK && !(has_result && !request->json))
        cli_ranks_summarize(stderr, ranks);
    return tg_status_exit_code(ranks->status);
}

/* Returns the exit code. */
static int report(const struct tg_workload *workload, const struct tg_settings *settings,
                  const struct request *request, const struct tg_execution *execution,
                  const struct cli_run_races *races, const struct tg_error *error)
{
    const char *trace = request->trace;
    bool json = request->json;
    struct tg_execution_info info;
    tg_execution_get(execution, &info);
    cli_module_output_back();
    if (info.ranks)
        return report_rank(workload, settings, request, &info, error);
    if (json && !*info.run_json)
        return report_no_json(workload, &info, error);
    if (json)
        fputs(info.run_json, stdout);
    else if (info.status == TG_OK || info.status == TG_MISMATCH)
        cli_summarize_run(workload->name, tg_settings_text(settings, "runtime"), trace, &info);
    fflush(stdout); /* keeps the report before the warnings if both go to the same place */
    cli_run_races_end(races, tg_settings_text(settings, "races"), &info);
    explain(trace, &info, error);
    if (cli_interrupt_caught() && (info.status == TG_OK || info.status == TG_MISMATCH))
        cli_print_to(stderr,
                     "taskglass: stopped by %s after the run had ended; its files are in %s\n",
                     cli_interrupt_name(), info.output_dir);
    return tg_status_exit_code(info.status);
}

/* The run has no directory yet, and so no run.json. Of several ranks one says it. */
static int fail(const struct request *request, const struct tg_execute_rank *rank,
                const struct tg_error *error)
{
    if (rank->ranks > 0 && !rank->reports) {
        /* mpirun kills the others as soon as one fails: let the one that reports say its line. */
        (void)nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
        return tg_status_exit_code(error->status);
    }
    if (request->json && cli_ranks_has_stdout())
        print_failure(request->workload, error);
    return cli_fail(error);
}

static int execute(struct cli *cli, const struct request *request,
                   const struct tg_workload_file *file)
{
    struct watch watch = {.phase = -1};
    struct cli_run_races races = {.progress = &watch.progress};
    struct tg_execution *execution;
    struct tg_execute_rank rank;
    struct tg_error error;
    struct tg_execute_config config = {
        .case_name = request->case_name,
        .set = request->sets.text,
        .n_set = request->sets.count,
        .progress = on_progress,
        .progress_context = &watch,
        .argc = cli->argc,
        .argv = (const char *const *)cli->argv,
        .guard = cli_guard_call,
        .trace = request->trace,
        .race = cli_run_races_tell,
        .race_context = &races,
        .rank = &rank,
        .hold_ranks = true,
    };
    cli_progress_init(&watch.progress, "prepare", "task");
    (void)tg_execute(cli->settings, file, &config, &execution, &error);
    cli_progress_erase(&watch.progress);
    int code =
        execution ? report(tg_workload_get(file), cli->settings, request, execution, &races, &error)
                  : fail(request, &rank, &error);
    cli_guard_reported(code);
    tg_execution_destroy(execution);
    return code;
}

/* A workload that is not there, or is none, is so for all ranks of `--ranks`: rank 0 says it. */
static bool is_for_all(const struct tg_error *error)
{
    return error->status == TG_NOT_FOUND || error->status == TG_BAD_ARGUMENT ||
           error->status == TG_ABI_MISMATCH;
}

/* The module stays loaded, because its destructors might crash or hang. */
static int open_and_execute(struct cli *cli, const struct request *request)
{
    static struct tg_workload_file *file; /* static, so that a leak checker finds it */
    struct tg_error error;
    int code = CLI_OK;
    if (cli_workload_open(cli, request->workload, &file, &error) != TG_OK) {
        code = is_for_all(&error) && cli_ranks_is_another()
                   ? tg_status_exit_code(error.status)
                   : fail(request, &(struct tg_execute_rank){0}, &error);
        cli_guard_reported(code);
        return code;
    }
    return execute(cli, request, file);
}

static int launch(struct cli *cli, const struct request *request)
{
    struct tg_error unsaid;
    int code = cli_ranks_launch(cli, request->json, &unsaid);
    if (request->json && unsaid.status != TG_OK)
        print_failure(request->workload, &unsaid);
    cli_interrupt_pass_on();
    return code;
}

static int run(struct cli *cli, void *context)
{
    const struct request *request = context;
    struct tg_error error;
    if (!request->workload)
        return cli_error("run needs a workload; 'taskglass list' shows the workloads");
    if (request->trace && strcmp(request->trace, "-") == 0)
        return cli_error(
            "--trace writes no trace to standard output, where the report goes; './-' is a "
            "file of that name");
    if (cli_ranks_wanted(cli->settings))
        return launch(cli, request);
    if (tg_job_is_rank(cli->settings))
        cli_interrupt_catch_patiently();
    else
        cli_interrupt_catch();
    if (request->json)
        cli_module_output_away();
    int code;
    if (cli_guard_start(cli_guard_limit(cli->settings), &error) == TG_OK) {
        code = open_and_execute(cli, request);
    } else {
        cli_module_output_back();
        code = cli_recording_fail(NULL, request->json, &error); /* nothing was run or judged */
    }
    cli_guard_end();
    cli_interrupt_pass_on();
    return code;
}

static void end(void *request)
{
    free(((struct request *)request)->sets.text);
}

static const struct cli_example examples[] = {
    {"vector_add", "Run the first case of an example on a simulated device."},
    {"./mine.so --case large --dump-tensor", "Run a workload of your own and record everything."},
    {"vector_add --trace run.pftrace", "See what ran when, without a recording."},
    {"vector_add -p a5sim --cores 8 -o outputs/first", "Choose the device and the directory."},
    {"vector_add --ranks 4", "Run it as four processes, each with a device of its own."},
    {0},
};

const struct cli_verb cli_verb_run = {
    .name = "run",
    .rank = 10,
    .section = CLI_DO,
    .usage = "WORKLOAD [--case NAME] [--set KEY=VALUE]... [--trace FILE] [--json]",
    .summary = "Run one case of a workload and check its outputs.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .settings = CLI_ALL_SETTINGS,
    .request_size = sizeof(struct request),
    .operand = cli_take_one,
    .noun = "workload",
    .member = offsetof(struct request, workload),
    .expects = CLI_WORKLOAD,
    .run = run,
    .end = end,
    .examples = examples,
};
