/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass check: compares every recorded task with the reference of its kernel. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/check.h"
#include "cli/filters.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "cli/recording.h"

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

static const struct cli_option options[] = {
    CLI_FILTERS(struct check_request, query),
    CLI_FILTER(struct check_request, query, "index", "NUMBERS", "these records"),
    CLI_TEXT(struct check_request, module, "module", "FILE", "the workload's module",
             .fallback = "the one in run.json", .expects = CLI_FILE),
    CLI_TEXT(struct check_request, against, "against", "FILE",
             "compare with golden values from NumPy (.npy, .npz) instead of references; the "
             "filters select what is compared",
             .expects = CLI_FILE),
    CLI_CALL("atol", "X", take_atol, "with --against: absolute tolerance",
             .range = "from 0 to 1.7e308", .fallback = "that of diff for the type"),
    CLI_CALL("rtol", "X", take_rtol, "with --against: relative tolerance",
             .range = "from 0 to 1.7e308", .fallback = "that of diff for the type"),
    CLI_COUNT(struct check_request, limit, "limit", "N", "show N wrong tasks at most",
              .fallback = "20, with --json all"),
    CLI_FLAG(struct check_request, all, "all", "show every wrong task"),
    CLI_RANK(struct check_request, rank),
    CLI_JSON(struct check_request, json, "print the result for programs"),
};

static int check_options(const struct check_request *request)
{
    if (!request->against && !tg_query_is_empty(request->query))
        return cli_error("filters need --against; without it every task is checked");
    if (!request->against && (request->has_atol || request->has_rtol))
        return cli_error(
            "--%s needs --against; a reference has the tolerance that its workload gives",
            request->has_atol ? "atol" : "rtol");
    if (request->all && request->limit.given)
        return cli_error("--all and --limit contradict each other; leave one out");
    if (request->against && request->json)
        return cli_error("--against prints no JSON; leave out --json");
    return CLI_OK;
}

static int check(struct cli *cli, void *context)
{
    const struct check_request *request = context;
    struct tg_recording *recording;
    struct tg_error error;
    int code = check_options(request);
    if (code != CLI_OK)
        return code;
    if (cli_recording_open(request->dir, &recording, &error) != TG_OK)
        return cli_recording_fail(NULL, request->json, &error);
    code = request->against ? check_against(request, recording)
                            : check_references(cli, request, recording);
    tg_recording_close(recording);
    cli_interrupt_pass_on();
    return code;
}

static void end(void *request)
{
    tg_query_destroy(((struct check_request *)request)->query);
}

static const struct cli_example examples[] = {
    {"", "Compare every task of the newest recording with the reference of its kernel."},
    {"outputs/RUN --all", "Show every wrong task of a run."},
    {"--against golden.npy --task 12 --stage after --arg 2", "Compare an output with NumPy's."},
    {0},
};

static const struct cli_ranks_way ranks_way = {
    .rank = offsetof(struct check_request, rank),
    .newest = cli_recording_newest,
};

const struct cli_verb cli_verb_check = {
    .name = "check",
    .rank = 50,
    .section = CLI_ANSWER,
    .usage = "[DIR] [--against FILE [FILTERS] [--atol X] [--rtol X]] [--json]",
    .summary = "Compare recorded tasks with their references, or with golden values.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .settings = "timeout sandbox",
    .request_size = sizeof(struct check_request),
    .operand = cli_take_one,
    .noun = "directory",
    .member = offsetof(struct check_request, dir),
    .expects = CLI_RUN,
    .run = check,
    .ranks = &ranks_way,
    .end = end,
    .examples = examples,
};
