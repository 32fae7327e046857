/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass find: shows which task caused NaN, infinities, overflow, stray writes and the like. */
#include "cli/find.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/filters.h"
#include "cli/format.h"
#include "cli/guard.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "cli/progress.h"
#include "cli/suggest.h"
#include "cli/trust.h"
#include "cli/wrap.h"

enum { PAGE = 10 };

static const struct cli_option options[] = {
    CLI_FILTERS(struct cli_find, query),
    CLI_FILTER(struct cli_find, query, "index", "NUMBERS", "these records"),
    CLI_COUNT(struct cli_find, limit, "limit", "N", "show N findings at most",
              .fallback = "10, with --json all"),
    CLI_FLAG(struct cli_find, all, "all", "show all findings"),
    CLI_TEXT(struct cli_find, module, "module", "FILE",
             "unwritten, stomp: the workload's module, for its references and for replays",
             .fallback = "the one in run.json", .expects = CLI_FILE),
    CLI_FLAG(struct cli_find, no_replay, "no-replay", "stomp: do not replay the suspects"),
    CLI_RANK(struct cli_find, rank),
    CLI_JSON(struct cli_find, json, "print the findings for programs"),
};

static const char *kind_name(unsigned number)
{
    return number < TG_FIND_KINDS ? tg_find_kind_name(number) : NULL;
}

static int unknown_find_kind(const char *what)
{
    struct cli_choices choices;
    struct cli_suggestion near;
    cli_suggest_start(&near, what);
    for (unsigned i = 0; kind_name(i); i++)
        cli_suggest_consider(&near, kind_name(i));
    if (near.best)
        return cli_error("find: unknown kind '%s'; did you mean '%s'?", what, near.best);
    return cli_error("find: unknown kind '%s'; kinds are %s", what,
                     cli_choices_format(kind_name, "and", &choices));
}

/* The first operand is the kind, the second one the directory. */
static int take_operand(const struct cli_verb *verb, void *request, const char *value)
{
    struct cli_find *find = request;
    if (find->what)
        return cli_take_one(verb, request, value);
    find->what = value;
    for (unsigned i = 0; kind_name(i); i++)
        if (strcmp(value, kind_name(i)) == 0) {
            find->find_kind = i;
            return CLI_OK;
        }
    return unknown_find_kind(value);
}

static int check(struct cli_find *find)
{
    struct cli_choices choices;
    if (!find->what)
        return cli_error("find needs a kind: %s", cli_choices_format(kind_name, "or", &choices));
    if (find->all && find->limit.given)
        return cli_error("--all and --limit contradict each other; leave one out");
    if (!find->limit.given)
        find->limit.number = find->all || find->json ? UINT64_MAX : PAGE;
    return CLI_OK;
}

/* --- the verb --------------------------------------------------------------------------------- */

static tg_status search(struct cli_find *find, struct tg_error *error)
{
    struct cli_progress progress;
    cli_progress_init(&progress, "find", NULL);
    tg_status status = tg_find_open(find->recording, find->find_kind, cli_progress_show, &progress,
                                    &find->find, error);
    cli_progress_erase(&progress);
    return status;
}

static int print(const struct cli_find *find)
{
    if (find->json)
        cli_find_print_json(find);
    else if (strcmp(find->is.result, "not known") == 0)
        return cli_error("not known: %s", find->is.reason);
    else
        cli_find_print(find);
    return find->trouble->status == TG_OK ? find->is.exit_code : cli_fail(find->trouble);
}

static tg_status answer(struct cli_find *find, struct tg_error *error)
{
    const struct tg_reference_config references = {
        .module = find->module,
        .limit = tg_settings_seconds(find->settings, "timeout"),
        .sandbox = tg_settings_choice(find->settings, "sandbox"),
        .ask = cli_trust_ask()};
    tg_status status =
        tg_find_answer_open(find->find, find->query, &references, &find->answer, error);
    if (status != TG_OK)
        return status;
    tg_find_answer_get(find->answer, &find->is);
    tg_find_get_info(find->find, &find->info);
    if (*find->is.no_reference)
        (void)cli_error("no reference was asked: %s", find->is.no_reference);
    return TG_OK;
}

static int open_and_find(struct cli_find *find)
{
    struct tg_error error;
    if (cli_recording_open(find->dir, &find->recording, &error) != TG_OK)
        return cli_recording_fail(NULL, find->json, &error);
    if (find->find_kind == TG_FIND_RACE)
        return cli_find_races(find);
    tg_status status = search(find, &error);
    if (status == TG_UNSUPPORTED)
        return cli_not_known(find->recording, find->json, error.text);
    if (status == TG_OK) {
        status = answer(find, &error);
        if (status == TG_NOT_FOUND)
            return cli_not_known(find->recording, find->json, error.text);
    }
    if (status == TG_OK)
        status = cli_find_replay(find, &error);
    if (status != TG_OK)
        return cli_recording_fail(find->recording, find->json, &error);
    return print(find);
}

static int find_verb(struct cli *cli, void *request)
{
    struct cli_find *find = request;
    find->settings = cli->settings;
    struct tg_error trouble = {TG_OK, ""};
    find->trouble = &trouble;
    int code = check(request);
    if (code == CLI_OK)
        code = open_and_find(request);
    if (find->is_guarded) {
        cli_guard_reported(code);
        cli_guard_end();
    }
    find->trouble = NULL;
    return code;
}

static void end(void *request)
{
    struct cli_find *find = request;
    tg_find_answer_close(find->answer);
    tg_find_close(find->find);
    tg_recording_close(find->recording);
    tg_query_destroy(find->query);
}

static void print_kinds(void)
{
    puts("\nKinds:");
    for (unsigned i = 0; kind_name(i); i++)
        cli_wrap_out(tg_find_kind_text(i), printf("  %-14s", kind_name(i)), 16);
}

static const struct cli_example examples[] = {
    {"nan", "Find the first task of the newest recording that made a NaN."},
    {"stomp outputs/RUN --kernel 'add*'", "Find tensors of some kernels that changed unseen."},
    {"race", "Find tasks of the newest recording that need an edge between them."},
    {"unwritten --json", "List outputs that their tasks did not write, for a program."},
    {0},
};

static const struct cli_ranks_way ranks_way = {
    .rank = offsetof(struct cli_find, rank),
    .newest = cli_recording_newest,
};

const struct cli_verb cli_verb_find = {
    .name = "find",
    .rank = 60,
    .section = CLI_ANSWER,
    .usage = "nan|inf|overflow|constant|unwritten|stomp|race [DIR] [FILTERS] [--json]",
    .summary = "Find NaN, overflow, stray writes, races, and the tasks that caused them.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .settings = "platform device-memory timeout load-timeout device-program sandbox",
    .request_size = sizeof(struct cli_find),
    .operand = take_operand,
    .noun = "directory",
    .member = offsetof(struct cli_find, dir),
    .expects = CLI_RUN,
    .choice = kind_name,
    .run = find_verb,
    .ranks = &ranks_way,
    .end = end,
    .more_help = print_kinds,
    .examples = examples,
};
