/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass export: writes a recording as files that other programs read. */
#include "cli/export.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/filters.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "cli/recording.h"
#include "cli/suggest.h"
#include "cli/wrap.h"

struct request {
    const char *dir; /* NULL: the newest run */
    struct cli_count rank;
    const char *to, *output;
    struct tg_query *query; /* NULL: every record */
    uint64_t limit;
    bool force, json;
};

static int take_limit(void *request, const struct cli_option *option, const char *text)
{
    struct request *r = request;
    if (cli_parse_count(text, &r->limit) && r->limit > 0)
        return CLI_OK;
    return cli_error("--%s needs a whole number above 0 (from 1 to " CLI_MOST_COUNT "), not '%s'",
                     option->name, text);
}

static const char *format_name(unsigned number)
{
    struct tg_export_format_info format;
    return tg_export_format_get(number, &format) ? format.name : NULL;
}

static int unknown_format(const char *typed)
{
    struct cli_choices choices;
    struct cli_suggestion near;
    cli_suggest_start(&near, typed);
    for (unsigned i = 0; format_name(i); i++)
        cli_suggest_consider(&near, format_name(i));
    if (near.best)
        return cli_error("unknown format '%s'; did you mean %s?", typed, near.best);
    return cli_error("unknown format '%s'; formats are %s", typed,
                     cli_choices_format(format_name, "and", &choices));
}

static int take_format(void *request, const struct cli_option *option, const char *name)
{
    (void)option;
    for (unsigned i = 0; format_name(i); i++)
        if (strcmp(format_name(i), name) == 0) {
            ((struct request *)request)->to = format_name(i);
            return CLI_OK;
        }
    return unknown_format(name);
}

static int take_output(void *request, const struct cli_option *option, const char *path)
{
    ((struct request *)request)->output = path;
    return *path ? CLI_OK : cli_error("--%s needs the name of a file", option->name);
}

static const struct cli_option options[] = {
    CLI_FILTERS(struct request, query),
    CLI_FILTER(struct request, query, "index", "NUMBERS", "these records"),
    CLI_CALL("limit", "N", take_limit, "export at most N records",
             .range = "from 1 to " CLI_MOST_COUNT, .fallback = "all"),
    CLI_CHOICE("to", "FORMAT", format_name, take_format, "the format, of the table below",
               .fallback = "by the ending of --output"),
    CLI_CALL("output", "FILE", take_output, "the file to write; -: standard output", .letter = 'o',
             .fallback = "RUN.FORMAT", .expects = CLI_FILE),
    CLI_FLAG(struct request, force, "force", "overwrite existing files, and write giants"),
    CLI_RANK(struct request, rank),
    CLI_JSON(struct request, json, "print the result for programs"),
};

static int check(struct request *request)
{
    struct cli_choices choices;
    bool to_stdout = request->output && strcmp(request->output, "-") == 0;
    if (!request->to && request->output)
        request->to = tg_export_format_of(request->output);
    if (!request->to)
        return cli_error("export needs a format: --to %s",
                         cli_choices_format(format_name, "or", &choices));
    if (request->json && to_stdout)
        return cli_error("--json and --output - both write to standard output; leave one out");
    return CLI_OK;
}

static int open_and_export(const struct request *request)
{
    struct tg_recording *recording;
    struct tg_error error;
    struct tg_export_path path;
    if (cli_recording_open(request->dir, &recording, &error) != TG_OK)
        return cli_recording_fail(NULL, request->json, &error);
    const char *name = request->output;
    int code = cli_recording_check_index(recording, request->query);
    if (code == CLI_OK && !name) {
        tg_status status = tg_export_default_path(recording, request->to, &path, &error);
        code = status == TG_OK ? CLI_OK : cli_recording_fail(recording, request->json, &error);
        name = path.text;
    }
    if (code == CLI_OK)
        code = cli_export(&(struct cli_export){.recording = recording,
                                               .query = request->query,
                                               .format = request->to,
                                               .path = name,
                                               .limit = request->limit,
                                               .force = request->force,
                                               .json = request->json});
    tg_recording_close(recording);
    return code;
}

static int export_verb(struct cli *cli, void *request)
{
    (void)cli;
    int code = check(request);
    return code == CLI_OK ? open_and_export(request) : code;
}

/* One trace shows all ranks; other formats have a file for each. */
static bool export_whole(struct cli *cli, void *request, const struct tg_ranks *ranks, int *code)
{
    struct request *r = request;
    struct tg_ranks_info info;
    (void)cli;
    *code = check(r);
    if (*code != CLI_OK)
        return true;
    if (strcmp(r->to, "trace") != 0)
        return false;
    tg_ranks_get_info(ranks, &info);
    if (!tg_query_is_empty(r->query) || r->limit > 0)
        *code = cli_error("a trace of all ranks has all their tasks; leave the filters out, or "
                          "choose a rank with --rank R");
    else
        *code = cli_export_ranks(info.dir, r->output, r->force, r->json);
    return true;
}

static bool prints_data(const void *request)
{
    const char *output = ((const struct request *)request)->output;
    return output && strcmp(output, "-") == 0;
}

/* A narrower terminal has the text of a format below its name. */
enum { NARROW = 60 };

static void print_format(const struct tg_export_format_info *format)
{
    char text[300];
    bool is_narrow = cli_wrap_width() < NARROW;
    int used = printf(is_narrow ? "  %s %s" : "  %-14s%-14s", format->name, format->ending);
    if (is_narrow)
        used = printf("\n        ") - 1;
    (void)snprintf(text, sizeof text, "%s%s", format->summary,
                   format->available ? "" : " (not in this build)");
    cli_wrap_out(text, used, used);
}

static void print_formats(void)
{
    struct tg_export_format_info format;
    puts("\nFormats:");
    for (uint32_t i = 0; tg_export_format_get(i, &format); i++)
        print_format(&format);
}

static void end(void *request)
{
    tg_query_destroy(((struct request *)request)->query);
}

static const struct cli_example examples[] = {
    {"--to npz", "Write the newest recording as a file for NumPy."},
    {"outputs/RUN -o run.sqlite --kernel add", "Write the records of a kernel for SQL."},
    {"--to txt -o -", "Print all values."},
    {0},
};

static const struct cli_ranks_way ranks_way = {
    .rank = offsetof(struct request, rank),
    .newest = cli_recording_newest,
    .whole = export_whole,
    .outputs = {offsetof(struct request, output)},
};

const struct cli_verb cli_verb_export = {
    .name = "export",
    .rank = 100,
    .usage = "[DIR] --to FORMAT [--output FILE] [--force] [FILTERS] [--json]",
    .summary = "Write a recording as files for NumPy, SQLite, Perfetto and others.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .request_size = sizeof(struct request),
    .operand = cli_take_one,
    .noun = "directory",
    .member = offsetof(struct request, dir),
    .expects = CLI_RUN,
    .run = export_verb,
    .ranks = &ranks_way,
    .prints_data = prints_data,
    .end = end,
    .more_help = print_formats,
    .examples = examples,
};
