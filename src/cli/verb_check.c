/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass check: compares every recorded task with the reference of its kernel. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/json.h>
#include <taskglass/replay.h>

#include "cli/check.h"
#include "cli/filters.h"
#include "cli/format.h"
#include "cli/options.h"
#include "cli/recording.h"
#include "cli/term.h"

enum { DIFFERS = 1, MOST_ROWS = 20 };

struct tally {
    struct tg_json json;
    bool as_json, all;
    struct cli_progress progress;
    uint64_t tasks, good, wrong, without, incomplete;
};

static void print_wrong(const struct tg_reference_task *task)
{
    const struct tg_output_check *check = &task->check;
    struct cli_words id;
    printf("  %swrong%s  task %s  %s  argument %" PRIu32 ": %" PRIu64 " of %" PRIu64
           " elements, first at %" PRIu64 ": %.9g, reference %.9g; max error %.3g\n",
           cli_color(stdout, CLI_RED), cli_color(stdout, CLI_PLAIN),
           cli_record_task(&id, task->task), task->kernel, task->argument, check->mismatches,
           check->elements, check->first, check->first_got, check->first_expected,
           check->max_error);
}

static void put_wrong(struct tg_json *json, const struct tg_reference_task *task)
{
    tg_json_begin_line_object(json);
    tg_json_put_hex(json, "task_id", task->task);
    tg_json_put_string(json, "kernel", task->kernel);
    tg_json_put_uint(json, "arg_index", task->argument);
    tg_json_put_uint(json, "mismatches", task->check.mismatches);
    tg_json_put_uint(json, "elements", task->check.elements);
    tg_json_put_real(json, "max_error", task->check.max_error);
    tg_json_put_uint(json, "first", task->check.first);
    tg_json_put_real(json, "got", task->check.first_got);
    tg_json_put_real(json, "reference", task->check.first_expected);
    tg_json_end_object(json);
}

static void take_wrong(struct tally *tally, const struct tg_reference_task *task)
{
    tally->wrong++;
    if (tally->as_json)
        put_wrong(&tally->json, task);
    else if (tally->all || tally->wrong <= MOST_ROWS) {
        cli_progress_erase(&tally->progress);
        print_wrong(task);
    }
}

static int tell(void *context, const struct tg_reference_task *task)
{
    struct tally *tally = context;
    char label[60];
    tally->tasks++;
    switch (task->is) {
    case TG_REFERENCE_AGREES:
        tally->good++;
        break;
    case TG_REFERENCE_DIFFERS:
        take_wrong(tally, task);
        break;
    case TG_REFERENCE_NONE:
        tally->without++;
        break;
    case TG_REFERENCE_INCOMPLETE:
        tally->incomplete++;
    }
    if (tally->tasks % 256 == 0 && !tally->as_json) {
        snprintf(label, sizeof label, "check  %" PRIu64 " tasks", tally->tasks);
        cli_progress_draw(&tally->progress, label, 0, 0);
    }
    return 0;
}

static void print_sum(const struct tally *tally)
{
    struct cli_text tasks;
    if (!tally->all && tally->wrong > MOST_ROWS)
        printf("  and %" PRIu64 " more; --all lists them\n", tally->wrong - MOST_ROWS);
    printf("%s: %" PRIu64 " agree with their reference, %" PRIu64 " wrong",
           cli_format_count(&tasks, tally->tasks, "task"), tally->good, tally->wrong);
    if (tally->without > 0)
        printf(", %" PRIu64 " with kernels that have no reference", tally->without);
    if (tally->incomplete > 0)
        printf(", %" PRIu64 " not recorded in full", tally->incomplete);
    putchar('\n');
}

static void end_json(struct tally *tally)
{
    struct tg_json *json = &tally->json;
    tg_json_end_array(json);
    tg_json_put_uint(json, "tasks", tally->tasks);
    tg_json_put_uint(json, "good", tally->good);
    tg_json_put_uint(json, "wrong_count", tally->wrong);
    tg_json_put_uint(json, "without_reference", tally->without);
    tg_json_put_uint(json, "incomplete", tally->incomplete);
    tg_json_end_object(json);
    (void)tg_json_finish(json); /* main reports errors of stdout */
}

static int check_recording(const struct tg_recording *recording, const char *module,
                           struct tally *tally)
{
    struct tg_error error;
    tg_status status;
    cli_progress_init(&tally->progress);
    if (tally->as_json) {
        tg_json_start(&tally->json, stdout);
        tg_json_begin_object(&tally->json);
        tg_json_key(&tally->json, "wrong");
        tg_json_begin_array(&tally->json);
    }
    status = tg_reference_check(recording, module, tell, tally, &error);
    cli_progress_erase(&tally->progress);
    if (status != TG_OK)
        return cli_fail(&error);
    if (tally->as_json)
        end_json(tally);
    else
        print_sum(tally);
    return tally->wrong > 0 ? DIFFERS : CLI_OK;
}

/* strtod alone would accept white space, a sign, hexadecimal digits, "inf" and "nan"; with an infinite
 * tolerance every value would pass. */
static int take_tolerance(const char *option, const char *text, bool *has, double *value)
{
    char *end;
    bool plain = text[strspn(text, "0123456789.eE+-")] == '\0' && *text != '+' && *text != '-';
    *value = strtod(text, &end);
    if (!plain || end == text || *end || !isfinite(*value))
        return cli_error("--%s: '%s' is not a number from 0 to 1.7e308, such as 0.001 or 1e-3",
                         option, text);
    *has = true;
    return CLI_OK;
}

static int take_atol(void *request, const struct cli_option *option, const char *text)
{
    struct check_request *r = request;
    return take_tolerance(option->name, text, &r->has_atol, &r->atol);
}

static int take_rtol(void *request, const struct cli_option *option, const char *text)
{
    struct check_request *r = request;
    return take_tolerance(option->name, text, &r->has_rtol, &r->rtol);
}

static int take_filter(void *request, const struct cli_option *option, const char *text)
{
    struct check_request *r = request;
    struct tg_error error;
    if (cli_query_add(&r->query, option->name, text, &error) != TG_OK)
        return cli_fail(&error);
    return CLI_OK;
}

static const struct cli_option options[] = {
    CLI_CALL("task", "LIST", "with --against FILE.npy: these tasks: 12, 1:12, 1:0-1:99",
             take_filter),
    CLI_CALL("index", "LIST", "likewise: these records", take_filter),
    CLI_CALL("arg", "LIST", "likewise: these arguments: 0, 0-2, 0,3", take_filter),
    CLI_CALL("stage", "LIST", "likewise: before, after", take_filter),
    CLI_CALL("role", "LIST", "likewise: in, out, inout", take_filter),
    CLI_CALL("kernel", "LIST", "likewise: tasks with these kernels; * stands for any characters",
             take_filter),
    CLI_TEXT(struct check_request, module, "module", "FILE",
             "the workload's module; default: the one in run.json"),
    CLI_TEXT(struct check_request, against, "against", "FILE",
             "compare with golden values from NumPy (.npy, .npz) instead of references"),
    CLI_CALL("atol", "X", "with --against: absolute tolerance; default: that of diff for the type",
             take_atol),
    CLI_CALL("rtol", "X", "with --against: relative tolerance", take_rtol),
    CLI_FLAG(struct check_request, all, "all", "show every wrong task, not only the first 20"),
    CLI_FLAG(struct check_request, json, "json", "print the result for programs"),
};

static int check_options(const struct check_request *request)
{
    if (!request->against && !tg_query_is_empty(request->query))
        return cli_error("filters need --against; without it every task is checked");
    if (!request->against && (request->has_atol || request->has_rtol))
        return cli_error(
            "--%s needs --against; a reference has the tolerance that its workload gives",
            request->has_atol ? "atol" : "rtol");
    if (request->against && request->json)
        return cli_error("--against prints no JSON; leave out --json");
    return CLI_OK;
}

static int check(struct cli *cli, void *context)
{
    const struct check_request *request = context;
    struct tally tally = {.as_json = request->json, .all = request->all};
    struct tg_recording *recording;
    struct tg_error error;
    (void)cli;
    int code = check_options(request);
    if (code != CLI_OK)
        return code;
    if (cli_recording_open(request->dir, &recording, &error) != TG_OK)
        return cli_fail(&error);
    code = request->against ? check_against(request, recording)
                            : check_recording(recording, request->module, &tally);
    tg_recording_close(recording);
    return code;
}

static void end(void *request)
{
    tg_query_destroy(((struct check_request *)request)->query);
}

const struct cli_verb cli_verb_check = {
    .name = "check",
    .rank = 50,
    .usage = "[DIR] [--against FILE] [options]",
    .summary = "Compare recorded tasks with their references, or with golden values.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .request_size = sizeof(struct check_request),
    .operand = cli_take_one,
    .noun = "directory",
    .member = offsetof(struct check_request, dir),
    .run = check,
    .end = end,
};
