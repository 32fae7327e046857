/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass explain: why a run failed, hung, or does not go on. */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/explain.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "cli/ranks_answers.h"
#include "cli/print.h"
#include "cli/recording.h"
#include "cli/top.h"

/* At most this many busy cores are printed, so that all fits on one screen; --json has more. */
enum { MOST_CORES = 6, EXIT_FAILED = 1 };

struct request {
    const char *dir;
    struct cli_count rank;
    bool json;
};

static const struct cli_option options[] = {
    CLI_RANK(struct request, rank),
    CLI_JSON(struct request, json, "print one document, for programs"),
};

/* ── texts ─────────────────────────────────────────────────────────────────────────────── */

/* ", at model.c:42 in add" of the core with this number; "" if that is not known. */
static const char *site_of(const struct tg_explanation *e, uint32_t core, char text[400])
{
    char words[390] = "";
    for (uint32_t i = 0; i < e->n_cores && core != TG_EXPLAIN_NO_CORE; i++)
        if (e->core[i].core == core)
            tg_source_text(&e->core[i].at, words, sizeof words);
    snprintf(text, 400, "%s%s", *words ? ", " : "", words);
    return text;
}

static void print_root(const struct tg_explanation *e, const char *dir)
{
    struct cli_shown shown;
    char site[400];
    bool says_site = e->root_kind == TG_ROOT_CRASH; /* its text has the line already */
    if (e->state == TG_EXPLAIN_ENDED_WELL)
        cli_print("the run in %s ended well: all %" PRIu64 " tasks finished\n",
                  cli_show(&shown, dir), e->tasks);
    else if (e->root[0] != '\0')
        cli_print("%s%s\n", e->root, says_site ? "" : site_of(e, e->root_core, site));
    else
        cli_print("why the run in %s failed is not known\n", cli_show(&shown, dir));
}

static void print_run(const struct tg_explanation *e, const char *dir)
{
    struct cli_shown shown;
    struct cli_text idle, limit;
    cli_print("  %-9s%s: ", "run", cli_show(&shown, dir));
    if (e->workload[0])
        cli_print("%s %s on %s, %s, ", e->workload, e->case_name, e->platform, e->runtime);
    if (e->state == TG_EXPLAIN_GOES_ON)
        cli_print("goes on, ");
    else
        cli_print("%s, ", e->status);
    cli_print("%" PRIu64 " of %" PRIu64 " tasks finished", e->finished, e->tasks);
    if (e->state == TG_EXPLAIN_GOES_ON && e->limit > 0)
        cli_print(", none for %s (a hang after %s)", cli_format_seconds(&idle, e->idle),
                  cli_format_seconds(&limit, e->limit));
    cli_print("\n");
}

static void print_chain(const struct tg_explanation *e)
{
    for (uint32_t i = 0; i < e->n_links; i++)
        cli_print("  %-6s%s%s\n", i == 0 ? "chain" : "", i == 0 ? "   " : "<- ", e->link[i].text);
}

/* ", at model.c:42": the file without its folder, and no function, so that a core takes one line. */
static const char *short_site(const struct tg_explain_core *core, char text[400])
{
    const struct tg_source_line *line =
        core->at.called_at.line ? &core->at.called_at : &core->at.at;
    const char *slash = strrchr(line->file, '/');
    text[0] = '\0';
    if (line->line != 0)
        snprintf(text, 400, ", at %s:%" PRIu32, slash ? slash + 1 : line->file, line->line);
    return text;
}

static void print_core(const struct tg_explanation *e, uint32_t i)
{
    const struct tg_explain_core *core = &e->core[i];
    struct cli_words id;
    char site[400], since[64] = "";
    if (core->seconds >= 0.05)
        snprintf(since, sizeof since, " for at least %.1f s", core->seconds);
    cli_print("  %-9s", i == 0 ? "cores" : "");
    if (core->task == UINT64_MAX)
        cli_print("the orchestration has not returned, nor moved on%s", since);
    else
        cli_print("core %" PRIu32 " (%s) %s task %s (%s)%s", core->core, core->kind,
                  core->crashed                    ? "crashed in"
                  : e->state == TG_EXPLAIN_GOES_ON ? "runs"
                                                   : "ran",
                  cli_record_task(&id, core->task), core->kernel, since);
    cli_print("%s\n", short_site(core, site));
}

static void print_cores(const struct tg_explanation *e)
{
    uint32_t rows = e->n_cores < MOST_CORES ? e->n_cores : MOST_CORES;
    uint32_t more = e->n_cores - rows + e->more_cores;
    if (!e->looked)
        return;
    for (uint32_t i = 0; i < rows; i++)
        print_core(e, i);
    if (more > 0)
        cli_print("  %-9sand %" PRIu32 " more that run something\n", "", more);
    if (e->idle_cores > 0)
        cli_print("  %-9s%" PRIu32 " core%s idle\n", rows == 0 ? "cores" : "", e->idle_cores,
                  e->state == TG_EXPLAIN_GOES_ON ? (e->idle_cores == 1 ? " is" : "s are")
                                                 : (e->idle_cores == 1 ? " was" : "s were"));
}

static void print_text(const struct tg_explanation *e, const char *dir)
{
    print_root(e, dir);
    print_run(e, dir);
    print_chain(e);
    print_cores(e);
    for (uint32_t i = 0; i < e->n_also; i++)
        cli_print("  %-9s%s\n", i == 0 ? "also" : "", e->also[i]);
    for (uint32_t i = 0; i < e->n_unknown; i++)
        cli_print("  %-9s%s\n", i == 0 ? "unknown" : "", e->unknown[i]);
    if (e->state == TG_EXPLAIN_FAILED && e->looked && e->root_kind == TG_ROOT_UNKNOWN)
        cli_print("  %-9s%s\n", "error", e->error);
}

/* ── the verb ──────────────────────────────────────────────────────────────────────────── */

static int explain(struct cli *cli, void *request)
{
    const struct request *r = request;
    struct tg_explanation *e;
    struct tg_error error;
    struct tg_json json;
    char *dir;
    int code;
    (void)cli;
    if (cli_top_find(r->dir, &dir, &error) != TG_OK)
        return cli_recording_fail(NULL, r->json, &error);
    if (tg_explain(dir, &e, &error) != TG_OK) {
        error.status = error.status == TG_TIMED_OUT ? TG_IO_ERROR : error.status;
        free(dir);
        return cli_recording_fail(NULL, r->json, &error);
    }
    if (r->json) {
        tg_json_start(&json, stdout);
        tg_explanation_write(e, &json);
        (void)tg_json_finish(&json);
    } else {
        print_text(e, dir);
    }
    code = e->state == TG_EXPLAIN_FAILED ? EXIT_FAILED : CLI_OK;
    tg_explanation_free(e);
    free(dir);
    return code;
}

static const struct cli_example examples[] = {
    {"", "Explain the newest run under outputs/: one that goes on, or else the last one."},
    {"outputs/RUN", "Explain why that run failed, or what it waits for right now."},
    {"outputs/RUN --json", "The same, for programs."},
    {0},
};

static const struct cli_ranks_way ranks_way = {
    .rank = offsetof(struct request, rank),
    .newest = cli_top_newest,
    .together = cli_ranks_explain,
    .lacks = cli_ranks_explain_lacks,
    .key = "together",
    .is_first = true,
};

const struct cli_verb cli_verb_explain = {
    .name = "explain",
    .rank = 26,
    .section = CLI_ANSWER,
    .usage = "[DIR] [--json]",
    .summary = "Why a run failed or hangs: the chain of waits and its root.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .request_size = sizeof(struct request),
    .operand = cli_take_one,
    .noun = "directory",
    .member = offsetof(struct request, dir),
    .expects = CLI_RUN,
    .run = explain,
    .ranks = &ranks_way,
    .examples = examples,
};
