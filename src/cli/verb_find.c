/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass find: where NaN, infinities, overflow, stray writes and the like come from. */
#include "cli/find.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/filters.h"
#include "cli/options.h"
#include "cli/suggest.h"

enum { PAGE = 10, FOUND = 1 };

/* The first ones are those of a selection, by their names. */
enum { OPTION_LIMIT = 7, OPTION_ALL, OPTION_JSON };
static const struct cli_option options[] = {
    CLI_FILTERS,
    {"index", "NUMBERS", "these records"},
    [OPTION_LIMIT] = {"limit", "N", "show N findings at most; default: 10, with --json all"},
    [OPTION_ALL] = {"all", NULL, "show all findings"},
    [OPTION_JSON] = {"json", NULL, "the findings for programs"},
};

static int take_option(struct cli_find *find, const struct cli_parser *parser)
{
    switch (parser->option) {
    case OPTION_LIMIT:
        find->limited = true;
        return cli_take_limit(parser->value, &find->limit) ? CLI_OK : CLI_USAGE;
    case OPTION_ALL:
        find->all = true;
        return CLI_OK;
    case OPTION_JSON:
        find->json = true;
        return CLI_OK;
    default:
        return cli_take_filter(&find->query, parser);
    }
}

static int unknown_find_kind(const char *what)
{
    struct cli_suggestion near;
    cli_suggest_start(&near, what);
    for (unsigned i = 0; i < TG_FIND_KINDS; i++)
        cli_suggest_consider(&near, tg_find_kind_name(i));
    if (near.best)
        return cli_error("find knows no '%s'; did you mean '%s'?", what, near.best);
    return cli_error("find knows nan, inf, overflow, constant, unwritten and stomp, not '%s'",
                     what);
}

static int take_operand(struct cli_find *find, const char *value)
{
    if (find->what && find->dir)
        return cli_error("find takes one directory; '%s' is one too many", value);
    if (find->what) {
        find->dir = value;
        return CLI_OK;
    }
    find->what = value;
    for (unsigned i = 0; i < TG_FIND_KINDS; i++)
        if (strcmp(value, tg_find_kind_name(i)) == 0) {
            find->find_kind = i;
            return CLI_OK;
        }
    return unknown_find_kind(value);
}

static int check(struct cli_find *find)
{
    if (!find->what)
        return cli_error("find what? nan, inf, overflow, constant, unwritten or stomp");
    if (find->all && find->limited)
        return cli_error("--all and --limit contradict each other");
    if (find->all || (find->json && !find->limited))
        find->limit = UINT64_MAX;
    return CLI_OK;
}

/* *help: the help was wanted, and printed. */
static int read_options(struct cli *cli, struct cli_find *find, bool *help)
{
    struct cli_parser parser;
    enum cli_token token;
    int code = CLI_OK;
    cli_parser_init(&parser, cli, &cli_verb_find);
    while (code == CLI_OK && (token = cli_parser_next(&parser)) != CLI_END) {
        if (token == CLI_BAD)
            return cli_error("%s", parser.error);
        if (token == CLI_HELP) {
            *help = true;
            return cli_help_verb(&cli_verb_find, cli->settings);
        }
        code = token == CLI_OPTION ? take_option(find, &parser) : take_operand(find, parser.value);
    }
    return code == CLI_OK ? check(find) : code;
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

static int find_verb(struct cli *cli)
{
    struct cli_find find = {.limit = PAGE};
    bool help = false;
    int code = read_options(cli, &find, &help);
    if (code == CLI_OK && !help)
        code = open_and_find(&find);
    tg_find_close(find.find);
    tg_recording_close(find.recording);
    tg_query_destroy(find.query);
    return code;
}

const struct cli_verb cli_verb_find = {
    .name = "find",
    .usage = "nan|inf|overflow|constant|unwritten|stomp [DIR] [FILTERS] [--json]",
    .summary = "Find NaN, overflow, stray writes, and the task that began it.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = find_verb,
};
