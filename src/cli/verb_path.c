/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass path: shows where the time of a run went, and what would make it faster. */
#define _GNU_SOURCE 1
#include "cli/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "cli/voice.h"

/* PAGE: rows of each table. KERNELS: how many kernels are changed, each by running the whole model again. */
enum { PAGE = 5, KERNELS = 20 };

static const struct cli_option options[] = {
    CLI_COUNT(struct path, limit, "limit", "N", "show N rows of each table at most",
              .fallback = "5, with --json all"),
    CLI_COUNT(struct path, limit, "top", "N", "the same as --limit", .is_hidden = true),
    CLI_RANK(struct path, rank),
    CLI_JSON(struct path, json, "print everything for programs"),
};

/* --- what would be gained --------------------------------------------------------------------- */

static int compute_gains(struct path *path)
{
    uint64_t most = path->json && !path->limit.given ? KERNELS : path->limit.number;
    uint64_t kernels = path->info.kernels < most ? path->info.kernels : most;
    struct tg_error error;
    path->gain = calloc(TG_TIMING_GAINS + TG_TIMING_KERNEL_GAINS * kernels, sizeof *path->gain);
    if (!path->gain)
        return cli_error("out of memory");
    for (uint64_t i = 0; i < TG_TIMING_GAINS + TG_TIMING_KERNEL_GAINS * kernels; i++) {
        if (tg_timing_get_gain(path->timing, i, &path->gain[i], &error) != TG_OK)
            return cli_recording_fail(NULL, path->json, &error);
        path->n_gains++;
    }
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

static const struct cli_ranks_way ranks_way = {
    .rank = offsetof(struct path, rank),
    .newest = cli_recording_newest,
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
    .ranks = &ranks_way,
    .end = end,
    .examples = examples,
};
