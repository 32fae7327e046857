/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass find: shows which task caused NaN, infinities, overflow, stray writes and the like. */
#include "cli/find.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/filters.h"
#include "cli/options.h"
#include "cli/suggest.h"

enum { PAGE = 10, FOUND = 1 };

static const struct cli_option options[] = {
    CLI_FILTERS(struct cli_find, query),
    CLI_FILTER(struct cli_find, query, "index", "NUMBERS", "these records"),
    CLI_COUNT(struct cli_find, limit, "limit", "N",
              "show N findings at most; default: 10, with --json all"),
    CLI_FLAG(struct cli_find, all, "all", "show all findings"),
    CLI_FLAG(struct cli_find, json, "json", "print the findings for programs"),
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

bool cli_find_next(const struct cli_find *find, uint64_t *number, struct tg_find_finding *finding,
                   struct tg_entry *entry)
{
    for (; tg_find_get_finding(find->find, *number, finding); ++*number)
        if (tg_recording_get(find->recording, finding->record, entry) &&
            tg_query_matches(find->query, finding->record, entry))
            return true;
    return false;
}

static void count_findings(struct cli_find *find)
{
    struct tg_find_finding finding;
    struct tg_entry entry;
    for (uint64_t i = 0; cli_find_next(find, &i, &finding, &entry); i++)
        find->found++;
}

static int open_and_find(struct cli_find *find)
{
    struct cli_ticker ticker;
    struct tg_error error;
    cli_ticker_start(&ticker, "find");
    if (cli_recording_open(find->dir, &find->recording, &error) != TG_OK)
        return cli_fail(&error);
    tg_status status = tg_find_open(find->recording, find->find_kind, cli_ticker_show, &ticker,
                                    &find->find, &error);
    cli_progress_erase(&ticker.progress);
    if (status != TG_OK)
        return cli_fail(&error);
    tg_find_get_info(find->find, &find->info);
    count_findings(find);
    if (find->json)
        cli_find_print_json(find);
    else
        cli_find_print(find);
    return find->found > 0 ? FOUND : CLI_OK;
}

static int find_verb(struct cli *cli, void *request)
{
    (void)cli;
    int code = check(request);
    return code == CLI_OK ? open_and_find(request) : code;
}

static void end(void *request)
{
    struct cli_find *find = request;
    tg_find_close(find->find);
    tg_recording_close(find->recording);
    tg_query_destroy(find->query);
}

const struct cli_verb cli_verb_find = {
    .name = "find",
    .rank = 60,
    .usage = "nan|inf|overflow|constant|unwritten|stomp [DIR] [FILTERS] [--json]",
    .summary = "Find NaN, overflow, stray writes, and the task that caused them.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .request_size = sizeof(struct cli_find),
    .operand = take_operand,
    .noun = "directory",
    .member = offsetof(struct cli_find, dir),
    .run = find_verb,
    .end = end,
};
