/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass shake: runs a case under many schedules, and names the order of tasks that breaks it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/format.h"
#include "cli/guard.h"
#include "cli/interrupt.h"
#include "cli/module_output.h"
#include "cli/option_table.h"
#include "cli/progress.h"
#include "cli/recording.h"
#include "cli/shake.h"
#include "cli/voice.h"

#define MOST_RUNS "1000000"

static int take_runs(void *request, const struct cli_option *option, const char *text)
{
    struct cli_shake *shake = request;
    bool reduces = strcmp(option->name, "reduce-runs") == 0;
    uint64_t number, least = reduces ? 1 : 2;
    if (!cli_parse_count(text, &number) || number < least || number > 1000000)
        return cli_error("--%s: '%s' is not a whole number from %llu to " MOST_RUNS, option->name,
                         text, (unsigned long long)least);
    *(reduces ? &shake->reduce_runs : &shake->runs) = (uint32_t)number;
    return CLI_OK;
}

static int take_seed(void *request, const struct cli_option *option, const char *text)
{
    struct cli_shake *shake = request;
    (void)option;
    if (!cli_parse_count(text, &shake->seed) || shake->seed == 0 || shake->seed > INT64_MAX)
        return cli_error("--seed: '%s' is not a whole number from 1 to 9223372036854775807", text);
    return CLI_OK;
}

static const struct cli_option options[] = {
    CLI_TEXT(struct cli_shake, case_name, "case", "NAME",
             "the case to run; `taskglass list` shows the cases",
             .fallback = "the workload's first", .expects = CLI_CASE),
    CLI_SET(struct cli_shake, sets),
    CLI_CALL("runs", "N", take_runs, "try this many schedules, the first is fifo",
             .range = "from 2 to " MOST_RUNS, .fallback = "200"),
    CLI_CALL("seed", "N", take_seed, "the first seed of random and adversarial schedules",
             .range = "from 1 to 9223372036854775807", .fallback = "1"),
    CLI_CALL("reduce-runs", "N", take_runs, "reduce a failing schedule with at most N further runs",
             .range = "from 1 to " MOST_RUNS, .fallback = "300"),
    CLI_FLAG(
        struct cli_shake, strict, "strict",
        "count a task that leaves other bytes as a failure, although all outputs are the same"),
    CLI_TEXT(struct cli_shake, output, "output", "DIR",
             "keep the recordings of the baseline, the failing run and the reduced one there",
             .letter = 'o', .fallback = "they are removed", .expects = CLI_FOLDER),
    CLI_JSON(struct cli_shake, json, "print the answer for programs"),
};

/* --- while it goes on --------------------------------------------------------------------------- */

static int show(void *context, enum tg_shake_phase phase, uint64_t done, uint64_t total)
{
    static const char *const labels[] = {"shake", "repeat", "reduce", "confirm"};
    struct cli_progress *progress = context;
    cli_progress_next(progress, labels[phase]);
    cli_progress_show(progress, done, total);
    return cli_interrupt_caught();
}

static void tell(void *context, const struct tg_shake_trial *trial)
{
    struct cli_text time;
    struct cli_shown schedule;
    (void)context;
    if (cli_is_verbose())
        cli_detail("%s: %s, %s", cli_show(&schedule, trial->schedule),
                   tg_shake_change_text(trial->difference->change),
                   cli_format_seconds(&time, trial->seconds));
}

/* --- the answer --------------------------------------------------------------------------------- */

static int report(const struct cli *cli, const struct cli_shake *request,
                  const struct tg_shake *shake)
{
    struct tg_shake_info info;
    tg_shake_get(shake, &info);
    const char *schedule = *info.reduced ? info.reduced : info.schedule;
    char *command = *schedule ? cli_shake_command(cli, request, &info, schedule) : NULL;
    cli_module_output_back();
    if (request->json)
        cli_shake_json(cli, request, shake, command ? command : "");
    else
        cli_shake_text(cli, request, &info, command ? command : "");
    fflush(stdout);
    free(command);
    return tg_shake_exit_code(shake);
}

static int fail(const struct cli_shake *request, const struct tg_error *error)
{
    cli_module_output_back();
    return cli_recording_fail(NULL, request->json, error); /* nothing was judged */
}

static int shake_case(const struct cli *cli, const struct cli_shake *request,
                      const struct tg_workload_file *file)
{
    struct cli_progress progress;
    struct tg_shake *shake = NULL;
    struct tg_error error;
    struct tg_shake_config config = {
        .case_name = request->case_name,
        .set = request->sets.text,
        .n_set = request->sets.count,
        .runs = request->runs,
        .reduce_runs = request->reduce_runs,
        .seed = request->seed,
        .strict = request->strict,
        .output = request->output,
        .progress = show,
        .tell = tell,
        .context = &progress,
        .guard = cli_guard_call,
    };
    cli_progress_init(&progress, "shake", "run");
    tg_status status = tg_shake_run(cli->settings, file, &config, &shake, &error);
    cli_progress_erase(&progress);
    int code = status == TG_OK ? report(cli, request, shake) : fail(request, &error);
    cli_guard_reported(code);
    tg_shake_destroy(shake);
    return code;
}

/* The module stays loaded, because its destructors might crash or hang. */
static int open_and_shake(struct cli *cli, const struct cli_shake *request)
{
    static struct tg_workload_file *file; /* static, so that a leak checker finds it */
    struct tg_error error;
    if (cli_workload_open(cli, request->workload, &file, &error) == TG_OK)
        return shake_case(cli, request, file);
    int code = fail(request, &error);
    cli_guard_reported(code);
    return code;
}

static int run(struct cli *cli, void *context)
{
    const struct cli_shake *request = context;
    struct tg_error error;
    if (!request->workload)
        return cli_error("shake needs a workload; 'taskglass list' shows the workloads");
    cli_interrupt_catch();
    if (request->json)
        cli_module_output_away();
    int code = cli_guard_start(cli_guard_limit(cli->settings), &error) == TG_OK
                   ? open_and_shake(cli, request)
                   : fail(request, &error);
    cli_guard_end();
    cli_interrupt_pass_on();
    return code;
}

static void end(void *request)
{
    free(((struct cli_shake *)request)->sets.text);
}

static const struct cli_example examples[] = {
    {"vector_add", "See whether the order of tasks changes a result."},
    {"./mine.so --case large --runs 1000", "Try more schedules."},
    {"./mine.so --seed 500 -o broken", "Try other schedules, and keep what failed for diff."},
    {0},
};

const struct cli_verb cli_verb_shake = {
    .name = "shake",
    .rank = 12,
    .section = CLI_DO,
    .usage = "WORKLOAD [--case NAME] [--set KEY=VALUE]... [--runs N] [options]",
    .summary = "Run a case under many schedules and name the order of tasks that breaks it.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .settings = "platform runtime schedulers device-memory timeout load-timeout shared poison "
                "ring-task-window ring-heap ring-dep-pool tensormap device-program sandbox "
                "workload-path",
    .request_size = sizeof(struct cli_shake),
    .operand = cli_take_one,
    .noun = "workload",
    .member = offsetof(struct cli_shake, workload),
    .expects = CLI_WORKLOAD,
    .run = run,
    .end = end,
    .examples = examples,
};
