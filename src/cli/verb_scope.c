/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass scope: shows how much of the rings the scopes of a run used. */
#define _GNU_SOURCE 1
#include "cli/progress.h"
#include "cli/scope.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/text.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/recording.h"
#include "cli/term.h"
#include "cli/voice.h"

enum { PROGRESS_EVERY = 1 << 17 };

static const struct cli_outputs_want scope_stats = {
    .folders = {TG_SCOPE_FOLDER},
    .missing = "no scope stats under outputs/; name a run, or make one: taskglass run WORKLOAD "
               "--enable-scope-stats"};

const char *scope_resource_label(unsigned resource)
{
    static const char *const labels[] = {"task window", "heap", "dep pool", "tensor map"};
    return resource < TG_SCOPE_RESOURCES ? labels[resource] : "?";
}

/* --- the command line ---------------------------------------------------------------------- */

static int take_html(void *request, const struct cli_option *option, const char *path)
{
    ((struct scope *)request)->html = path;
    ((struct scope *)request)->html_option = option->name;
    return *path ? CLI_OK : cli_error("--%s needs the name of a file", option->name);
}

static const struct cli_option options[] = {
    CLI_COUNT(struct scope, top, "limit", "N", "show the N peaks nearest to full",
              .fallback = "as many as fit"),
    CLI_COUNT(struct scope, top, "top", "N", "the same as --limit", .is_hidden = true),
    CLI_CALL("output", "FILE", take_html,
             "write a page with charts (HTML), which any browser shows", .letter = 'o',
             .expects = CLI_FILE),
    CLI_CALL("html", "FILE", take_html, "the same as --output", .expects = CLI_FILE,
             .is_hidden = true),
    CLI_FLAG(struct scope, force, "force", "overwrite an existing page"),
    CLI_JSON(struct scope, json, "print peaks and advice for programs"),
};

static int check(const struct scope *scope)
{
    if (scope->html && (scope->json || scope->top.given))
        return cli_error("--%s cannot be combined with --json or --limit", scope->html_option);
    if (scope->force && !scope->html)
        return cli_error("--force needs --output");
    return CLI_OK;
}

/* --- reading ------------------------------------------------------------------------------- */

struct watch {
    struct scope *scope;
    struct cli_progress progress;
};

static bool on_sample(void *context, uint64_t index, uint32_t site,
                      const struct tg_scope_sample *sample)
{
    struct watch *watch = context;
    if (index % PROGRESS_EVERY == PROGRESS_EVERY - 1)
        cli_progress_show(&watch->progress, index + 1, 0);
    return !watch->scope->html || scope_stream_add(&watch->scope->stream, site, sample);
}

/* Sets the name of the run: that of the directory around the file's folder, without control
 * characters, because it goes to a terminal. */
static void find_name(struct scope *scope)
{
    char path[PATH_MAX];
    if (!realpath(scope->info.file, path)) {
        cli_fault("find the run's directory", errno);
        return;
    }
    char *slash = strrchr(path, '/');
    *slash = '\0';
    slash = strrchr(path, '/');
    if (slash && strcmp(slash + 1, TG_SCOPE_FOLDER) == 0) {
        *slash = '\0';
        slash = strrchr(path, '/');
    }
    tg_text_clean(slash ? slash + 1 : path, scope->name, sizeof scope->name);
}

static tg_status read_stats(struct scope *scope, struct tg_error *error)
{
    struct watch watch = {.scope = scope};
    char *path = NULL;
    if (!scope->dir) {
        tg_status status = cli_outputs_newest(&scope_stats, &path, error);
        if (status != TG_OK)
            return status;
    }
    cli_detail("reads the scope stats in '%s'", path ? path : scope->dir);
    cli_progress_init(&watch.progress, "read", "sample");
    tg_status status =
        tg_scope_stats_open(path ? path : scope->dir, on_sample, &watch, &scope->stats, error);
    cli_progress_erase(&watch.progress);
    free(path);
    if (status != TG_OK)
        return status;
    tg_scope_stats_get_info(scope->stats, &scope->info);
    find_name(scope);
    return TG_OK;
}

static int read_and_show(struct scope *scope)
{
    struct tg_error error;
    tg_status status = read_stats(scope, &error);
    /* A run that is there, but took no scope stats: a program still gets a document. */
    if (status == TG_NOT_FOUND && scope->json && scope->dir && access(scope->dir, F_OK) == 0)
        return cli_not_known(NULL, true, error.text);
    if (status != TG_OK)
        return cli_recording_fail(NULL, scope->json, &error);
    if (scope->html)
        return scope_write_page(scope);
    if (scope->json)
        scope_print_json(scope);
    else
        scope_print_report(scope);
    return CLI_OK;
}

static int scope_verb(struct cli *cli, void *request)
{
    (void)cli;
    int code = check(request);
    return code == CLI_OK ? read_and_show(request) : code;
}

static void end(void *request)
{
    struct scope *scope = request;
    tg_scope_stats_close(scope->stats);
    scope_stream_free(&scope->stream);
}

static const struct cli_example examples[] = {
    {"", "Show how full the rings of the newest run became, and which sizes to set."},
    {"outputs/RUN -o rings.html", "Write a page with charts of one run."},
    {0},
};

const struct cli_verb cli_verb_scope = {
    .name = "scope",
    .rank = 90,
    .section = CLI_LOOK,
    .usage = "[DIR] [--limit N] [--output FILE [--force]] [--json]",
    .summary = "Show how much of the rings scopes used, and which sizes to set.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .request_size = sizeof(struct scope),
    .operand = cli_take_one,
    .noun = "directory",
    .member = offsetof(struct scope, dir),
    .expects = CLI_RUN,
    .run = scope_verb,
    .end = end,
    .examples = examples,
};
