/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass replay: runs one recorded task again, alone, or all of them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/json.h>
#include <taskglass/query.h>
#include <taskglass/replay.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/filters.h"
#include "cli/guard.h"
#include "cli/interrupt.h"
#include "cli/module_output.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "cli/print.h"
#include "cli/recording.h"
#include "cli/replay.h"
#include "cli/term.h"
#include "cli/trust.h"

enum { DIFFERS = 1, MOST_RUNS = 1000000, MOST_WORKERS = 64 };

void replay_coordinates(const struct tg_replay_output *output, uint64_t index, char *text,
                        size_t size)
{
    int64_t at[TG_MAX_DIMS];
    size_t used = 0;
    for (int d = output->ndim - 1; d >= 0; d--) {
        int64_t extent = output->shape[d] > 0 ? output->shape[d] : 1;
        at[d] = (int64_t)(index % (uint64_t)extent);
        index /= (uint64_t)extent;
    }
    text[0] = '\0';
    for (int d = 0; d < output->ndim && used < size; d++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, d ? ", " : "", at[d]);
}

static void print_output(const struct tg_replay_output *output, uint32_t runs)
{
    const struct tg_output_check *check = &output->check;
    char at[200];
    cli_print("  argument %-3" PRIu32 " %-14s %" PRIu64 " elements  ", output->argument,
              check->dtype, check->elements);
    if (!output->recorded) {
        cli_print("not recorded");
    } else if (check->mismatches == 0) {
        cli_print("%sas recorded%s", cli_color(stdout, CLI_GREEN), cli_color(stdout, CLI_PLAIN));
    } else {
        replay_coordinates(output, check->first, at, sizeof at);
        cli_print("%sDIFFERS%s in %" PRIu64 ", first at (%s): %.9g, recorded %.9g; max error %.3g",
                  cli_color(stdout, CLI_RED), cli_color(stdout, CLI_PLAIN), check->mismatches, at,
                  check->first_got, check->first_expected, check->max_error);
    }
    if (output->varied > 0)
        cli_print("; %" PRIu64 " of %" PRIu32 " runs gave a result other than that of the first",
                  output->varied, runs);
    cli_print("\n");
}

static void print_result(const struct tg_replay_result *result)
{
    struct cli_words task;
    cli_print("task %s, kernel %s, on %s", cli_record_task(&task, result->task), result->kernel,
              result->platform);
    if (result->runs > 1)
        cli_print(", %" PRIu32 " runs, %s", result->runs,
                  result->deterministic ? "all with the same result" : "NOT DETERMINISTIC");
    cli_print("\n");
    for (uint32_t i = 0; i < result->n_outputs; i++)
        print_output(&result->output[i], result->runs);
}

void replay_put_output(struct tg_json *json, const struct tg_replay_output *output)
{
    tg_json_put_uint(json, "arg_index", output->argument);
    tg_json_put_string(json, "dtype", output->check.dtype);
    tg_json_put_uint(json, "elements", output->check.elements);
    tg_json_put_bool(json, "recorded", output->recorded);
    tg_json_put_uint(json, "mismatches", output->check.mismatches);
    tg_json_put_real(json, "max_error", output->check.max_error);
    if (output->check.mismatches > 0) {
        tg_json_put_uint(json, "first", output->check.first);
        tg_json_put_real(json, "got", output->check.first_got);
        tg_json_put_real(json, "recorded_value", output->check.first_expected);
    }
    tg_json_put_uint(json, "runs_that_varied", output->varied);
}

static void print_json(const struct tg_replay_result *result)
{
    struct tg_json json;
    const char *reason, *word = tg_replay_word(result, &reason);
    tg_json_start(&json, stdout);
    tg_json_begin_object(&json);
    tg_json_put_hex(&json, "task_id", result->task);
    tg_json_put_string(&json, "kernel", result->kernel);
    tg_json_put_string(&json, "platform", result->platform);
    tg_json_put_uint(&json, "runs", result->runs);
    tg_json_put_string(&json, "result", word);
    tg_json_put_string(&json, "reason", *reason ? reason : NULL);
    tg_json_key(&json, "same");
    if (*reason)
        tg_json_null(&json);
    else
        tg_json_bool(&json, result->same);
    tg_json_put_bool(&json, "deterministic", result->deterministic);
    tg_json_key(&json, "outputs");
    tg_json_begin_array(&json);
    for (uint32_t i = 0; i < result->n_outputs; i++) {
        tg_json_begin_object(&json);
        replay_put_output(&json, &result->output[i]);
        tg_json_end_object(&json);
    }
    tg_json_end_array(&json);
    tg_json_end_object(&json);
    (void)tg_json_finish(&json); /* main reports errors of stdout */
}

static int on_piece(void *unused)
{
    (void)unused;
    return cli_interrupt_caught();
}

static int write_bundle(const struct tg_recording *recording, const struct replay_request *request)
{
    struct tg_replay_config config = request->config;
    struct cli_shown bundle;
    struct tg_error error;
    config.stop = on_piece;
    cli_interrupt_catch_writing();
    tg_status status = tg_replay_bundle(recording, request->task, &config, request->bundle, &error);
    cli_interrupt_pass_on();
    if (status != TG_OK)
        return cli_recording_fail(recording, request->json, &error);
    cli_print("%s: build it with cmake as its README.md says\n",
              cli_show(&bundle, request->bundle));
    return CLI_OK;
}

static int replay_recording(const struct cli *cli, const struct tg_recording *recording,
                            const struct replay_request *request)
{
    struct tg_replay_result result;
    struct tg_error error;
    const char *reason;
    if (request->all)
        return replay_all(cli, recording, request);
    if (request->bundle)
        return write_bundle(recording, request);
    if (request->json)
        cli_module_output_away();
    tg_status status =
        tg_replay_task(cli->settings, recording, request->task, &request->config, &result, &error);
    cli_module_output_back();
    if (request->json && (status == TG_UNSUPPORTED || status == TG_NOT_FOUND))
        return cli_not_known(recording, true, error.text);
    if (status != TG_OK)
        return cli_recording_fail(recording, request->json, &error);
    if (request->json)
        print_json(&result);
    else
        print_result(&result);
    (void)tg_replay_word(&result, &reason);
    if (*reason)
        return request->json ? CLI_USAGE : cli_error("not known: %s", reason);
    return result.same && result.deterministic ? CLI_OK : DIFFERS;
}

static int take_repeat(void *request, const struct cli_option *option, const char *text)
{
    uint64_t runs;
    if (!cli_parse_count(text, &runs) || runs < 1 || runs > MOST_RUNS)
        return cli_error("--%s: '%s' is not a number from 1 to %d", option->name, text, MOST_RUNS);
    ((struct replay_request *)request)->config.repeat = (uint32_t)runs;
    return CLI_OK;
}

static int take_workers(void *request, const struct cli_option *option, const char *text)
{
    uint64_t workers;
    if (!cli_parse_count(text, &workers) || workers < 1 || workers > MOST_WORKERS)
        return cli_error("--%s: '%s' is not a number from 1 to %d", option->name, text,
                         MOST_WORKERS);
    ((struct replay_request *)request)->workers = (uint32_t)workers;
    return CLI_OK;
}

static const struct cli_option options[] = {
    CLI_TEXT(struct replay_request, task_text, "task", "ID",
             "the task: 12, 1:12 (ring:index) or 0x10000000c; with --all also 1:0-1:99, or several "
             "with commas"),
    CLI_FLAG(struct replay_request, all, "all",
             "replay every recorded task, or those that --task and --kernel select, and say which "
             "do not reproduce"),
    CLI_FILTER(struct replay_request, query, "kernel", "NAMES",
               "with --all: tasks with these kernels; * stands for any characters"),
    CLI_FLAG(struct replay_request, guard, "guard",
             "also run each task between guards, which show reads and writes outside its "
             "arguments, elements that it never writes, and use of old contents"),
    CLI_CALL("workers", "N", take_workers, "with --all: devices that work at the same time",
             .range = "from 1 to 64", .fallback = "one per CPU, on cuda one"),
    CLI_CALL("repeat", "N", take_repeat,
             "run the task N times and say whether all results are the same",
             .range = "from 1 to 1000000", .fallback = "1"),
    CLI_TEXT(struct replay_request, config.module, "module", "FILE", "the workload's module",
             .fallback = "the one in run.json", .expects = CLI_FILE),
    CLI_TEXT(struct replay_request, bundle, "bundle", "FOLDER",
             "instead of running the task, write it as a folder that builds on its own",
             .expects = CLI_FOLDER),
    CLI_RANK(struct replay_request, rank),
    CLI_JSON(struct replay_request, json, "print the result for programs"),
};

/* Adds --task to the selection of --all. */
static int select_tasks(struct replay_request *request)
{
    struct tg_error error;
    if (request->bundle)
        return cli_error("--bundle writes one task; leave out %s",
                         request->guard ? "--guard" : "--all");
    request->all = true;
    if (request->task_text &&
        cli_query_add(&request->query, "task", request->task_text, &error) != TG_OK)
        return cli_fail(&error);
    return CLI_OK;
}

static int find_task(struct replay_request *request)
{
    struct tg_query *query = NULL;
    struct tg_error error;
    uint64_t last, more;
    int code = CLI_OK;
    if (request->all || (request->guard && request->task_text))
        return select_tasks(request);
    if (!request->task_text)
        return cli_error(
            "replay needs --task ID, or --all for every task; `taskglass view` lists the tasks");
    if (request->query || request->workers > 0)
        return cli_error("--%s needs --all", request->query ? "kernel" : "workers");
    if (cli_query_add(&query, "task", request->task_text, &error) != TG_OK)
        code = cli_fail(&error);
    else if (tg_query_get_range(query, "task", 1, &more, &more) ||
             !tg_query_get_range(query, "task", 0, &request->task, &last) || request->task != last)
        code = cli_error(
            "--task: '%s' selects more than one task; replay runs one, with --all several",
            request->task_text);
    tg_query_destroy(query);
    return code;
}

static int replay(struct cli *cli, void *context)
{
    struct replay_request *request = context;
    struct tg_recording *recording;
    struct tg_error error;
    int code = find_task(request);
    if (code != CLI_OK)
        return code;
    if (cli_recording_open(request->dir, &recording, &error) != TG_OK)
        return cli_recording_fail(NULL, request->json, &error);
    request->config.ask = cli_trust_ask();
    request->config.guard = cli_guard_call;
    if (cli_guard_start(cli_guard_limit(cli->settings), &error) == TG_OK) {
        code = replay_recording(cli, recording, request);
        cli_guard_reported(code);
    } else {
        code = cli_recording_fail(recording, request->json, &error);
    }
    cli_guard_end();
    tg_recording_close(recording);
    cli_interrupt_pass_on();
    return code;
}

static void end(void *request)
{
    tg_query_destroy(((struct replay_request *)request)->query);
}

static const struct cli_example examples[] = {
    {"--task 12", "Run task 12 of the newest recording alone, and compare its outputs."},
    {"outputs/RUN --task 1:7 --repeat 100", "See whether a task of ring 1 is deterministic."},
    {"--task 12 --bundle bug", "Write the task as a folder that a colleague can build."},
    {"--all", "Run every task of the newest recording alone: which do not reproduce?"},
    {"--all --guard --kernel 'mat*'", "Look for misuse of memory in some kernels."},
    {0},
};

static const struct cli_ranks_way ranks_way = {
    .rank = offsetof(struct replay_request, rank),
    .newest = cli_recording_newest,
    .outputs = {offsetof(struct replay_request, bundle)},
};

const struct cli_verb cli_verb_replay = {
    .name = "replay",
    .rank = 80,
    .section = CLI_ANSWER,
    .usage = "[DIR] --task ID | --all [options]",
    .summary = "Run recorded tasks alone and compare their outputs with the recording.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .settings = "platform cores schedulers device-memory timeout load-timeout poison "
                "device-program sandbox",
    .request_size = sizeof(struct replay_request),
    .operand = cli_take_one,
    .noun = "directory",
    .member = offsetof(struct replay_request, dir),
    .expects = CLI_RUN,
    .run = replay,
    .ranks = &ranks_way,
    .end = end,
    .examples = examples,
};
