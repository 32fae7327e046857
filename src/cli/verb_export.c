/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass export: a recording as files that other programs read. */
#include "cli/export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/filters.h"
#include "cli/options.h"
#include "cli/recording.h"
#include "cli/suggest.h"

/* The first ones are those of a selection, by their names. */
enum {
    OPTION_INDEX = 6,
    OPTION_LIMIT,
    OPTION_TO,
    OPTION_OUTPUT,
    OPTION_FORCE,
    OPTION_JSON,
};
static const struct cli_option options[] = {
    CLI_FILTERS,
    [OPTION_INDEX] = {"index", "NUMBERS", "these records"},
    [OPTION_LIMIT] = {"limit", "N", "N records at most"},
    [OPTION_TO] = {"to", "FORMAT",
                   "npy, npz, safetensors, sqlite, csv, trace or txt; default: what "
                   "--output ends in"},
    [OPTION_OUTPUT] = {"output", "FILE", "where to; -: standard output; default: RUN.FORMAT, here"},
    [OPTION_FORCE] = {"force", NULL, "overwrite what is there"},
    [OPTION_JSON] = {"json", NULL, "what came of it, for programs"},
};

struct request {
    const char *dir; /* NULL: the newest */
    const char *to, *output;
    struct tg_query *query; /* NULL: every record */
    uint64_t limit;
    bool force, json;
};

static int take_limit(struct request *request, const char *text)
{
    char *end;
    errno = 0;
    request->limit = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && request->limit > 0)
        return CLI_OK;
    return cli_error("--limit wants a whole number above 0, not '%s'", text);
}

static int unknown_format(const char *typed)
{
    struct tg_export_format_info format;
    struct cli_suggestion near;
    cli_suggest_start(&near, typed);
    for (uint32_t i = 0; tg_export_format_get(i, &format); i++)
        cli_suggest_consider(&near, format.name);
    if (near.best)
        return cli_error("no format '%s'; did you mean %s?", typed, near.best);
    return cli_error("no format '%s'; there are npy, npz, safetensors, sqlite, csv, trace and txt",
                     typed);
}

static int take_format(struct request *request, const char *name)
{
    struct tg_export_format_info format;
    for (uint32_t i = 0; tg_export_format_get(i, &format); i++)
        if (strcmp(format.name, name) == 0) {
            request->to = format.name;
            return CLI_OK;
        }
    return unknown_format(name);
}

static int take_option(struct request *request, const struct cli_parser *parser)
{
    switch (parser->option) {
    case OPTION_LIMIT:
        return take_limit(request, parser->value);
    case OPTION_TO:
        return take_format(request, parser->value);
    case OPTION_OUTPUT:
        request->output = parser->value;
        return *request->output ? CLI_OK : cli_error("--output wants a file");
    case OPTION_FORCE:
        request->force = true;
        return CLI_OK;
    case OPTION_JSON:
        request->json = true;
        return CLI_OK;
    default:
        return cli_take_filter(&request->query, parser);
    }
}

static int take_operand(struct request *request, const char *value)
{
    if (request->dir)
        return cli_error("export takes one directory; '%s' is one too many", value);
    request->dir = value;
    return CLI_OK;
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static const char *format_of(const char *path)
{
    struct tg_export_format_info format;
    for (uint32_t i = 0; tg_export_format_get(i, &format); i++)
        if (ends_in(path, format.ending))
            return format.name;
    return ends_in(path, ".db") ? "sqlite" : NULL;
}

static int check(struct request *request)
{
    bool to_stdout = request->output && strcmp(request->output, "-") == 0;
    if (!request->to && request->output)
        request->to = format_of(request->output);
    if (!request->to)
        return cli_error("export wants a format: --to npy, npz, safetensors, sqlite, csv, trace or "
                         "txt");
    if (request->json && to_stdout)
        return cli_error("--json and --output - both want the standard output");
    return CLI_OK;
}

/* *help: the help was wanted, and printed. */
static int read_options(struct cli *cli, struct request *request, bool *help)
{
    struct cli_parser parser;
    enum cli_token token;
    int code = CLI_OK;
    cli_parser_init(&parser, cli, &cli_verb_export);
    while (code == CLI_OK && (token = cli_parser_next(&parser)) != CLI_END) {
        if (token == CLI_BAD)
            return cli_error("%s", parser.error);
        if (token == CLI_HELP) {
            *help = true;
            return cli_help_verb(&cli_verb_export, cli->settings);
        }
        code = token == CLI_OPTION ? take_option(request, &parser)
                                   : take_operand(request, parser.value);
    }
    return code == CLI_OK ? check(request) : code;
}

static int open_and_export(const struct request *request)
{
    struct tg_recording_info info;
    struct tg_recording *recording;
    struct tg_error error;
    char path[300];
    if (cli_recording_open(request->dir, &recording, &error) != TG_OK)
        return cli_fail(&error);
    tg_recording_get_info(recording, &info);
    cli_export_path(&info, request->to, path, sizeof path);
    int code = cli_recording_check_index(&info, request->query);
    if (code == CLI_OK)
        code = cli_export(&(struct cli_export){.recording = recording,
                                               .query = request->query,
                                               .format = request->to,
                                               .path = request->output ? request->output : path,
                                               .limit = request->limit,
                                               .overwrite = request->force,
                                               .json = request->json});
    tg_recording_close(recording);
    return code;
}

static int export_verb(struct cli *cli)
{
    struct request request = {0};
    bool help = false;
    int code = read_options(cli, &request, &help);
    if (code == CLI_OK && !help)
        code = open_and_export(&request);
    tg_query_destroy(request.query);
    return code;
}

const struct cli_verb cli_verb_export = {
    .name = "export",
    .usage = "[DIR] --to FORMAT [--output FILE] [--force] [FILTERS] [--json]",
    .summary = "Write a recording as files for NumPy, SQLite, Perfetto and others.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = export_verb,
};
