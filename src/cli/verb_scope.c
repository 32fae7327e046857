/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass scope: what the scopes of a run used of the rings. */
#define _GNU_SOURCE 1
#include "cli/scope.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/term.h"

enum { PROGRESS_EVERY = 1 << 17 };

enum { OPTION_TOP, OPTION_HTML, OPTION_JSON };
static const struct cli_option options[] = {
    [OPTION_TOP] = {"top", "N", "show the N peaks nearest to full; default: as many as fit"},
    [OPTION_HTML] = {"html", "FILE", "write a page with charts, which needs nothing but a browser"},
    [OPTION_JSON] = {"json", NULL, "peaks and advice for programs"},
};

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

static int take_top(struct scope *scope, const char *text)
{
    char *end;
    errno = 0;
    scope->top = strtoull(text, &end, 10);
    scope->has_top = true;
    if (*text >= '0' && *text <= '9' && *end == '\0' && errno == 0)
        return CLI_OK;
    return cli_error("--top wants a whole number, not '%s'", text);
}

static int take_option(struct scope *scope, const struct cli_parser *parser)
{
    switch (parser->option) {
    case OPTION_TOP:
        return take_top(scope, parser->value);
    case OPTION_HTML:
        scope->html = parser->value;
        return *scope->html ? CLI_OK : cli_error("--html wants the name of a file");
    default:
        scope->json = true;
        return CLI_OK;
    }
}

static int take_operand(struct scope *scope, const char *value)
{
    if (scope->dir)
        return cli_error("scope takes one directory; '%s' is one too many", value);
    scope->dir = value;
    return CLI_OK;
}

static int check(const struct scope *scope)
{
    if (scope->html && (scope->json || scope->has_top))
        return cli_error("--html goes with neither --json nor --top");
    return CLI_OK;
}

/* *help: the help was wanted, and printed. */
static int read_options(struct cli *cli, struct scope *scope, bool *help)
{
    struct cli_parser parser;
    enum cli_token token;
    int code = CLI_OK;
    cli_parser_init(&parser, cli, &cli_verb_scope);
    while (code == CLI_OK && (token = cli_parser_next(&parser)) != CLI_END) {
        if (token == CLI_BAD)
            return cli_error("%s", parser.error);
        if (token == CLI_HELP) {
            *help = true;
            return cli_help_verb(&cli_verb_scope, cli->settings);
        }
        code =
            token == CLI_OPTION ? take_option(scope, &parser) : take_operand(scope, parser.value);
    }
    return code == CLI_OK ? check(scope) : code;
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
    char label[60];
    if (index % PROGRESS_EVERY == PROGRESS_EVERY - 1) {
        snprintf(label, sizeof label, "read  %" PRIu64 " samples", index + 1);
        cli_progress_draw(&watch->progress, label, 0, 0);
    }
    return !watch->scope->html || scope_stream_add(&watch->scope->stream, site, sample);
}

/* The name of the run: of the directory that the folder of the file is in. A directory may be called
 * anything, and this goes to a terminal. */
static void find_name(struct scope *scope)
{
    char path[PATH_MAX];
    if (!realpath(scope->info.file, path))
        return;
    char *slash = strrchr(path, '/');
    *slash = '\0';
    slash = strrchr(path, '/');
    if (slash && strcmp(slash + 1, TG_SCOPE_FOLDER) == 0) {
        *slash = '\0';
        slash = strrchr(path, '/');
    }
    snprintf(scope->name, sizeof scope->name, "%.255s", slash ? slash + 1 : path);
    for (char *at = scope->name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
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
    cli_progress_init(&watch.progress);
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
    if (read_stats(scope, &error) != TG_OK)
        return cli_fail(&error);
    if (scope->html)
        return scope_write_page(scope);
    if (scope->json)
        scope_print_json(scope);
    else
        scope_print_report(scope);
    return CLI_OK;
}

static int scope_verb(struct cli *cli)
{
    struct scope scope = {0};
    bool help = false;
    int code = read_options(cli, &scope, &help);
    if (code == CLI_OK && !help)
        code = read_and_show(&scope);
    tg_scope_stats_close(scope.stats);
    scope_stream_free(&scope.stream);
    return code;
}

const struct cli_verb cli_verb_scope = {
    .name = "scope",
    .usage = "[DIR] [--top N] [--html FILE] [--json]",
    .summary = "Show what scopes used of the rings, and what to set those to.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = scope_verb,
};
