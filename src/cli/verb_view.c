/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass view: shows what a run recorded. */
#include "cli/view.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/filters.h"
#include "cli/options.h"
#include "cli/ranks.h"

enum { PAGE = 20 };

static const char *format_name(unsigned number)
{
    static const char *const formats[] = {"txt", "npy", "npz"};
    return number < sizeof formats / sizeof formats[0] ? formats[number] : NULL;
}

static int take_export(void *request, const struct cli_option *option, const char *text)
{
    struct view *view = request;
    for (unsigned i = 0; format_name(i); i++)
        if (strcmp(text, format_name(i)) == 0) {
            view->export = format_name(i);
            view->export_option = option->name;
            return CLI_OK;
        }
    return cli_error("--%s: unknown format '%s'; formats are txt, npy and npz", option->name, text);
}

static int take_output(void *request, const struct cli_option *option, const char *path)
{
    struct view *view = request;
    view->out = path;
    view->out_option = option->name;
    return CLI_OK;
}

static int take_html(void *request, const struct cli_option *option, const char *path)
{
    ((struct view *)request)->html = path;
    return *path ? CLI_OK : cli_error("--%s needs the name of a file", option->name);
}

static const struct cli_option options[] = {
    CLI_FILTERS(struct view, query),
    CLI_FILTER(struct view, query, "index", "NUMBERS", "these records, each with all its details"),
    CLI_COUNT(struct view, limit, "limit", "N", "show N records at most",
              .fallback = "20, with --json all"),
    CLI_FLAG(struct view, all, "all", "show all records; with --index, all values"),
    CLI_FLAG(struct view, summary, "summary", "show only the summary"),
    CLI_CHOICE("to", "FORMAT", format_name, take_export, "write the records instead, as a file"),
    CLI_CHOICE("export", "FORMAT", format_name, take_export, "the same as --to", .is_hidden = true),
    CLI_CALL("output", "PATH", take_output, "with --to: the file or folder to write", .letter = 'o',
             .fallback = "RUN.FORMAT, for txt standard output", .expects = CLI_FILE),
    CLI_CALL("out", "PATH", take_output, "the same as --output", .expects = CLI_FILE,
             .is_hidden = true),
    CLI_CALL("html", "FILE", take_html,
             "write a page that shows the run in any browser, for small recordings",
             .expects = CLI_FILE),
    CLI_FLAG(struct view, force, "force", "with --to and --html: overwrite existing files"),
    CLI_RANK(struct view, rank),
    CLI_JSON(struct view, json, "print summary and records for programs"),
};

/* The page shows the whole run. */
static int check_html(const struct view *view)
{
    if (view->export || view->json || view->summary || view->all || view->limit.given)
        return cli_error(
            "--html cannot be combined with --to, --json, --summary, --all or --limit");
    if (!tg_query_is_empty(view->query))
        return cli_error("--html shows all records; leave the filters out");
    return CLI_OK;
}

static int check(const struct view *view)
{
    if (view->html)
        return check_html(view);
    if (view->out && !view->export)
        return cli_error("--%s needs --to", view->out_option);
    if (view->force && !view->export)
        return cli_error("--force needs --to or --html");
    if (view->export && (view->json || view->summary))
        return cli_error("--%s cannot be combined with --json or --summary", view->export_option);
    if (view->all && view->limit.given)
        return cli_error("--all and --limit contradict each other; leave one out");
    return CLI_OK;
}

static int show(const struct view *view)
{
    if (view->export)
        return view_export(view);
    if (view->json)
        return view_print_json(view);
    if (cli_query_has_index(view->query) && !view->summary)
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
        return cli_recording_fail(NULL, view->json, &error);
    view->recording = recording;
    tg_recording_get_info(recording, &view->info);
    if (!view->limit.given)
        view->limit.number = view->all || view->json || view->export ? UINT64_MAX : PAGE;
    int code = cli_recording_check_index(view->recording, view->query);
    if (code == CLI_OK)
        code = show(view);
    if (code == CLI_OK && !view->json && !view->export &&
        tg_recording_check_files(recording, &error) != TG_OK)
        code = cli_fail(&error);
    tg_recording_close(recording);
    return code;
}

static int view_verb(struct cli *cli, void *request)
{
    (void)cli;
    struct view *view = request;
    int code = check(view);
    if (code != CLI_OK)
        return code;
    return view->html ? view_page(view) : open_and_show(view);
}

static bool prints_data(const void *request)
{
    const struct view *view = request;
    return view->export &&
           (view->out ? strcmp(view->out, "-") == 0 : strcmp(view->export, "txt") == 0);
}

static void end(void *request)
{
    tg_query_destroy(((struct view *)request)->query);
}

static const struct cli_example examples[] = {
    {"", "Show what the newest run recorded."},
    {"outputs/RUN --task 12 --stage after", "Show what task 12 had written when it ended."},
    {"--index 3 --all", "Show every value of record 3."},
    {"outputs/RUN --html run.html", "Write a page to look at, or to send to a colleague."},
    {0},
};

static const struct cli_ranks_way ranks_way = {
    .rank = offsetof(struct view, rank),
    .newest = cli_recording_newest,
    .outputs = {offsetof(struct view, out), offsetof(struct view, html)},
};

const struct cli_verb cli_verb_view = {
    .name = "view",
    .rank = 30,
    .section = CLI_LOOK,
    .usage =
        "[DIR] [FILTERS] [--index NUMBERS] [--to FORMAT [--output PATH]] [--html FILE] [--json]",
    .summary = "Show what a run recorded, inspect records, export them.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .request_size = sizeof(struct view),
    .operand = cli_take_one,
    .noun = "directory",
    .member = offsetof(struct view, dir),
    .expects = CLI_RUN,
    .run = view_verb,
    .ranks = &ranks_way,
    .prints_data = prints_data,
    .end = end,
    .examples = examples,
};
