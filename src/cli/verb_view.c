/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass view: what was recorded. */
#include "cli/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/filters.h"
#include "cli/options.h"

enum { PAGE = 20 };

/* The first ones are those of a selection, by their names. */
enum {
    OPTION_INDEX = 6,
    OPTION_LIMIT,
    OPTION_ALL,
    OPTION_SUMMARY,
    OPTION_EXPORT,
    OPTION_OUT,
    OPTION_JSON
};
static const struct cli_option options[] = {
    CLI_FILTERS,
    [OPTION_INDEX] = {"index", "NUMBERS", "these records, with all that is known of each"},
    [OPTION_LIMIT] = {"limit", "N", "show N records at most; default: 20, with --json all"},
    [OPTION_ALL] = {"all", NULL, "show all records, and of records all values"},
    [OPTION_SUMMARY] = {"summary", NULL, "show the summary alone"},
    [OPTION_EXPORT] = {"export", "FORMAT", "write the records as txt, npy or npz"},
    [OPTION_OUT] = {"out", "PATH", "where --export writes"},
    [OPTION_JSON] = {"json", NULL, "summary and records for programs"},
};

static int take_limit(struct view *view, const char *text)
{
    char *end;
    errno = 0;
    view->limit = strtoull(text, &end, 10);
    view->limited = true;
    if (*text >= '0' && *text <= '9' && *end == '\0' && errno == 0)
        return CLI_OK;
    return cli_error("--limit wants a whole number, not '%s'", text);
}

static int take_export(struct view *view, const char *text)
{
    static const char *const formats[] = {"txt", "npy", "npz"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(text, formats[i]) == 0) {
            view->export = formats[i];
            return CLI_OK;
        }
    return cli_error("--export knows txt, npy and npz, not '%s'", text);
}

static int take_option(struct view *view, const struct cli_parser *parser)
{
    switch (parser->option) {
    case OPTION_LIMIT:
        return take_limit(view, parser->value);
    case OPTION_ALL:
        view->all = true;
        return CLI_OK;
    case OPTION_SUMMARY:
        view->summary = true;
        return CLI_OK;
    case OPTION_EXPORT:
        return take_export(view, parser->value);
    case OPTION_OUT:
        view->out = parser->value;
        return CLI_OK;
    case OPTION_JSON:
        view->json = true;
        return CLI_OK;
    default:
        return cli_take_filter(&view->query, parser);
    }
}

static int take_operand(struct view *view, const char *value)
{
    if (view->dir)
        return cli_error("view takes one directory; '%s' is one too many", value);
    view->dir = value;
    return CLI_OK;
}

static int check(const struct view *view)
{
    if (view->out && !view->export)
        return cli_error("--out goes with --export");
    if (view->export && (view->json || view->summary))
        return cli_error("--export goes with neither --json nor --summary");
    if (view->all && view->limited)
        return cli_error("--all and --limit contradict each other");
    return CLI_OK;
}

/* *help: the help was wanted, and printed. */
static int read_options(struct cli *cli, struct view *view, bool *help)
{
    struct cli_parser parser;
    enum cli_token token;
    int code = CLI_OK;
    cli_parser_init(&parser, cli, &cli_verb_view);
    while (code == CLI_OK && (token = cli_parser_next(&parser)) != CLI_END) {
        if (token == CLI_BAD)
            return cli_error("%s", parser.error);
        if (token == CLI_HELP) {
            *help = true;
            return cli_help_verb(&cli_verb_view, cli->settings);
        }
        code = token == CLI_OPTION ? take_option(view, &parser) : take_operand(view, parser.value);
    }
    return code == CLI_OK ? check(view) : code;
}

static int show(const struct view *view)
{
    if (view->export)
        return view_export(view);
    if (view->json)
        view_print_json(view);
    else if (cli_query_has_index(view->query) && !view->summary)
        view_print_records(view);
    else {
        if (view->summary || tg_query_is_empty(view->query)) {
            view_print_summary(view);
            fputs(view->summary ? "" : "\n", stdout);
        }
        if (!view->summary)
            view_print_table(view);
    }
    return CLI_OK;
}

static int open_and_show(struct view *view)
{
    struct tg_recording *recording;
    struct tg_error error;
    if (cli_recording_open(view->dir, &recording, &error) != TG_OK)
        return cli_fail(&error);
    view->recording = recording;
    tg_recording_get_info(recording, &view->info);
    if (view->all || (view->json && !view->limited) || view->export)
        view->limit = view->limited ? view->limit : UINT64_MAX;
    int code = cli_recording_check_index(&view->info, view->query);
    if (code == CLI_OK)
        code = show(view);
    tg_recording_close(recording);
    return code;
}

static int view_verb(struct cli *cli)
{
    struct view view = {.limit = PAGE};
    bool help = false;
    int code = read_options(cli, &view, &help);
    if (code == CLI_OK && !help)
        code = open_and_show(&view);
    tg_query_destroy(view.query);
    return code;
}

const struct cli_verb cli_verb_view = {
    .name = "view",
    .usage = "[DIR] [FILTERS] [--index NUMBERS] [--export FORMAT] [--json]",
    .summary = "Show what a run recorded, look into records, export them.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = view_verb,
};
