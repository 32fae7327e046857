/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass scope: shows how much of the rings the scopes of a run used. */
#define _GNU_SOURCE 1
#include "cli/progress.h"
#include "cli/scope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "cli/outputs.h"
#include "cli/print.h"
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
    CLI_RANK(struct scope, rank),
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

static bool on_sample(void *context, uint64_t index, uint32_t site,
                      const struct tg_scope_sample *sample)
{
    (void)site;
    (void)sample;
    if (index % PROGRESS_EVERY == PROGRESS_EVERY - 1)
        cli_progress_show(context, index + 1, 0);
    return true;
}

static tg_status newest_stats(char **path, struct tg_error *error)
{
    return cli_outputs_newest(&scope_stats, path, error);
}

static tg_status find_stats(const struct scope *scope, char **path, struct tg_error *error)
{
    if (!scope->dir)
        return newest_stats(path, error);
    *path = strdup(scope->dir);
    if (*path)
        return TG_OK;
    *error = (struct tg_error){TG_NO_MEMORY, "out of memory"};
    return TG_NO_MEMORY;
}

static tg_status read_stats(struct scope *scope, const char *path, struct tg_error *error)
{
    struct cli_progress progress;
    cli_progress_init(&progress, "read", "sample");
    tg_status status = tg_scope_stats_open(path, on_sample, &progress, &scope->stats, error);
    cli_progress_erase(&progress);
    tg_scope_stats_get_info(scope->stats, &scope->info);
    return status;
}

static int fail(const struct scope *scope, const struct tg_error *error)
{
    /* A run that is there, but took no scope stats: a program still gets a document. */
    if (error->status == TG_NOT_FOUND && scope->json && scope->dir && access(scope->dir, F_OK) == 0)
        return cli_not_known(NULL, true, error->text);
    return cli_recording_fail(NULL, scope->json, error);
}

/* --- the page ------------------------------------------------------------------------------ */

static int on_page(void *context, uint64_t samples)
{
    cli_progress_show(context, samples, 0);
    return 0;
}

/* A signal waits until the page is complete, which takes a moment: nobody opens half a page. */
static int write_page(const struct scope *scope, const char *path)
{
    struct cli_progress progress;
    struct tg_scope_page page;
    struct cli_text scopes, size;
    struct cli_shown shown;
    struct tg_error error;
    cli_progress_init(&progress, "read", "sample");
    cli_interrupt_catch_writing();
    tg_status status = tg_scope_stats_write_page(path, scope->html, scope->force, on_page,
                                                 &progress, &page, &error);
    cli_progress_erase(&progress);
    cli_interrupt_pass_on(); /* a signal may also show as a write that failed */
    if (status == TG_BAD_ARGUMENT)
        return cli_error("%s", error.text);
    if (status != TG_OK)
        return fail(scope, &error);
    cli_print("%s: %s, %s\n", cli_show(&shown, scope->html),
              cli_format_count(&scopes, page.scopes, "scope"), cli_format_bytes(&size, page.bytes));
    return CLI_OK;
}

static int show(struct scope *scope, const char *path)
{
    struct tg_error error;
    if (scope->html)
        return write_page(scope, path);
    if (read_stats(scope, path, &error) != TG_OK)
        return fail(scope, &error);
    if (scope->json)
        scope_print_json(scope);
    else
        scope_print_report(scope);
    return CLI_OK;
}

static int read_and_show(struct scope *scope)
{
    struct tg_error error;
    char *path;
    if (find_stats(scope, &path, &error) != TG_OK)
        return fail(scope, &error);
    cli_detail("reads the scope stats in '%s'", path);
    int code = show(scope, path);
    free(path);
    return code;
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
}

static const struct cli_example examples[] = {
    {"", "Show how full the rings of the newest run became, and which sizes to set."},
    {"outputs/RUN -o rings.html", "Write a page with charts of one run."},
    {0},
};

static const struct cli_ranks_way ranks_way = {
    .rank = offsetof(struct scope, rank),
    .newest = newest_stats,
    .outputs = {offsetof(struct scope, html)},
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
    .ranks = &ranks_way,
    .end = end,
    .examples = examples,
};
