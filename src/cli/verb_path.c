/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass path: shows where the time of a run went, and what would make it faster. */
#define _GNU_SOURCE 1
#include "cli/path.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/options.h"
#include "cli/voice.h"

/* PAGE: rows of each table. KERNELS: how many kernels are changed, each by running the whole model again. */
enum { PAGE = 5, KERNELS = 20 };

static const struct cli_option options[] = {
    CLI_COUNT(struct path, limit, "limit", "N", "show N rows of each table at most",
              .fallback = "5, with --json all"),
    CLI_COUNT(struct path, limit, "top", "N", "the same as --limit", .is_hidden = true),
    CLI_JSON(struct path, json, "print everything for programs"),
};

/* --- notes ------------------------------------------------------------------------------------ */

typedef bool (*note_fn)(struct cli_words *words, const struct tg_timing_info *info);

__attribute__((format(printf, 2, 3))) static bool say(struct cli_words *words, const char *format,
                                                      ...)
{
    va_list values;
    va_start(values, format);
    (void)vsnprintf(words->text, sizeof words->text, format, values);
    va_end(values);
    return true;
}

/* What a recording lacks, cli_recording_note says. */
static bool note_result(struct cli_words *words, const struct tg_timing_info *info)
{
    return strcmp(info->source, "recording") != 0 && *info->result &&
           strcmp(info->result, "OK") != 0 &&
           say(words, "the run ended with %s; this is the time up to the last end of a task",
               info->result);
}

static bool note_unfinished(struct cli_words *words, const struct tg_timing_info *info)
{
    struct cli_text count;
    return info->unfinished > 0 && say(words, "%s had begun and not ended",
                                       cli_format_count(&count, info->unfinished, "task"));
}

static bool note_recording(struct cli_words *words, const struct tg_timing_info *info)
{
    return strcmp(info->source, "recording") == 0 &&
           say(words, "a task's time includes the time that recording it took; a trace has none "
                      "(run --trace)");
}

static bool note_untimed(struct cli_words *words, const struct tg_timing_info *info)
{
    uint64_t untimed = info->tasks - info->timed - info->half_timed;
    if (untimed > info->unfinished)
        return say(words,
                   "%" PRIu64 " of %" PRIu64 " tasks have no times: they did not run, or were not "
                   "recorded",
                   untimed - info->unfinished, info->tasks);
    return false;
}

static bool note_half(struct cli_words *words, const struct tg_timing_info *info)
{
    struct cli_text count;
    return info->half_timed > 0 &&
           say(words,
               "of %s only the begin or only the end is known: kernels that only write or only "
               "read are recorded once",
               cli_format_count(&count, info->half_timed, "task"));
}

static bool note_submits(struct cli_words *words, const struct tg_timing_info *info)
{
    return !info->has_submits && !*info->wait_unknown && !info->has_ready &&
           say(words, "when tasks were submitted is not known: what looks like waiting for a core "
                      "may be waiting for the orchestrator");
}

static bool note_edges(struct cli_words *words, const struct tg_timing_info *info)
{
    struct cli_text unknown, early;
    if (info->unknown_edges + info->early_edges == 0)
        return false;
    return say(words, "left out: %s to unknown tasks, %s whose second task began too early",
               cli_format_count(&unknown, info->unknown_edges, "edge"),
               cli_format_count(&early, info->early_edges, "edge"));
}

static bool note_lost(struct cli_words *words, const struct tg_timing_info *info)
{
    return strcmp(info->source, "recording") != 0 && info->lost > 0 &&
           say(words, "LOST %" PRIu64 " events or records: tasks and edges may be missing",
               info->lost);
}

static bool note_odd(struct cli_words *words, const struct tg_timing_info *info)
{
    return info->twins + info->backward > 0 &&
           say(words,
               "the file has %" PRIu64 " entries that came twice, and %" PRIu64
               " that end before they begin",
               info->twins, info->backward);
}

const char *path_note(struct cli_words *words, const struct tg_timing_info *info, unsigned number)
{
    static const note_fn notes[] = {note_result,  note_unfinished, note_lost,
                                    note_untimed, note_half,       note_submits,
                                    note_edges,   note_odd,        note_recording};
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
        if (notes[i](words, info) && number-- == 0)
            return words->text;
    return NULL;
}

/* --- what would be gained --------------------------------------------------------------------- */

static void add_gain(struct path *path, struct path_gain gain)
{
    path->gain[path->n_gains++] = gain;
}

static uint64_t estimate(const struct path *path, struct tg_timing_change change)
{
    struct tg_error error;
    uint64_t span = TG_NONE;
    if (*path->info.path_unknown)
        return TG_NONE;
    if (tg_timing_what_if(path->timing, &change, &span, &error) != TG_OK)
        cli_fault_of(&error);
    return span;
}

static void add_bounds(struct path *path)
{
    const struct tg_timing_info *info = &path->info;
    uint64_t both = info->bound_chain == TG_NONE           ? TG_NONE
                    : info->bound_chain > info->bound_work ? info->bound_chain
                                                           : info->bound_work;
    add_gain(path, (struct path_gain){.word = "unlimited_cores_no_waiting",
                                      .text = "unlimited cores, and no waiting at all",
                                      .basis = PATH_BOUND,
                                      .span = info->bound_chain,
                                      .kernel = TG_NONE});
    add_gain(path, (struct path_gain){.word = "no_waiting",
                                      .text = "these cores, and no waiting at all",
                                      .basis = PATH_BOUND,
                                      .span = both,
                                      .kernel = TG_NONE});
}

static void add_estimates(struct path *path)
{
    const struct tg_timing_info *info = &path->info;
    struct tg_timing_change none = {.kernel = TG_NONE, .percent = 100}, change = none;
    change.unlimited_cores = true;
    add_gain(path, (struct path_gain){.word = "unlimited_cores",
                                      .text = "unlimited cores",
                                      .basis = PATH_ESTIMATE,
                                      .span = estimate(path, change),
                                      .kernel = TG_NONE});
    change = none;
    change.no_latency = true;
    add_gain(path,
             (struct path_gain){.word = "no_latency",
                                .text = "no scheduling latency",
                                .basis = PATH_ESTIMATE,
                                .span = *info->wait_unknown ? TG_NONE : estimate(path, change),
                                .kernel = TG_NONE});
    change = none;
    change.no_orchestrator = true;
    add_gain(path, (struct path_gain){.word = "no_orchestrator",
                                      .text = "an orchestrator that takes no time",
                                      .basis = PATH_ESTIMATE,
                                      .span = info->has_submits ? estimate(path, change) : TG_NONE,
                                      .kernel = TG_NONE});
}

static void add_kernel(struct path *path, uint64_t kernel)
{
    static const uint32_t percents[] = {0, 50};
    for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++) {
        struct tg_timing_change change = {.kernel = kernel, .percent = percents[i]};
        add_gain(path, (struct path_gain){.basis = PATH_ESTIMATE,
                                          .span = estimate(path, change),
                                          .kernel = kernel,
                                          .percent = percents[i]});
    }
}

static int compute_gains(struct path *path)
{
    uint64_t most = path->json && !path->limit.given ? KERNELS : path->limit.number;
    uint64_t kernels = path->info.kernels < most ? path->info.kernels : most;
    path->gain = calloc(2 * kernels + 5, sizeof *path->gain);
    if (!path->gain)
        return cli_error("out of memory");
    add_bounds(path);
    add_estimates(path);
    for (uint64_t i = 0; i < kernels; i++)
        add_kernel(path, i);
    return CLI_OK;
}

/* --- the verb --------------------------------------------------------------------------------- */

static tg_status open_timing(struct path *path, struct tg_error *error)
{
    char *found = NULL;
    tg_status status = TG_OK;
    if (!path->dir)
        status = cli_recording_find(NULL, &found, error);
    if (status == TG_OK) {
        cli_detail("reads the times in '%s'", found ? found : path->dir);
        status = tg_timing_open(found ? found : path->dir, &path->timing, error);
    }
    free(found);
    return status;
}

/* Nothing is known: the document still has the recording, if there is one. */
static int not_known(const struct path *path, const char *reason)
{
    struct tg_recording *recording = NULL;
    if (path->json)
        (void)cli_recording_open(path->dir, &recording, NULL);
    int code = cli_not_known(recording, path->json, reason);
    tg_recording_close(recording);
    return code;
}

static int path_verb(struct cli *cli, void *request)
{
    struct path *path = request;
    struct tg_error error;
    (void)cli;
    if (!path->limit.given)
        path->limit.number = path->json ? UINT64_MAX : PAGE;
    tg_status status = open_timing(path, &error);
    if (status == TG_UNSUPPORTED)
        return not_known(path, error.text);
    if (status != TG_OK)
        return cli_recording_fail(NULL, path->json, &error);
    tg_timing_get_info(path->timing, &path->info);
    int code = compute_gains(path);
    if (code != CLI_OK)
        return code;
    if (path->json)
        path_print_json(path);
    else
        path_print_text(path);
    return CLI_OK;
}

static void end(void *request)
{
    struct path *path = request;
    tg_timing_close(path->timing);
    free(path->gain);
}

static const struct cli_example examples[] = {
    {"", "Show where the time of the newest recorded run went."},
    {"outputs/RUN --limit 20", "Show the 20 longest tasks and the 20 kernels with most time."},
    {0},
};

const struct cli_verb cli_verb_path = {
    .name = "path",
    .rank = 85,
    .section = CLI_LOOK,
    .usage = "[DIR | FILE] [--limit N] [--json]",
    .summary = "Show where the time of a run went, and what would make it faster.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .request_size = sizeof(struct path),
    .operand = cli_take_one,
    .noun = "directory or file",
    .member = offsetof(struct path, dir),
    .expects = CLI_RUN,
    .run = path_verb,
    .end = end,
    .examples = examples,
};
