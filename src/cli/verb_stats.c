/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass stats: shows the range, the mean and the special values of each tensor. */
#include "cli/stats.h"

#include <stdio.h>

#include "cli/cli.h"
#include "cli/filters.h"
#include "cli/options.h"
#include "cli/ranks.h"

enum { PAGE = 20 };

static const struct cli_option options[] = {
    CLI_FILTERS(struct cli_stats, query),
    CLI_FILTER(struct cli_stats, query, "index", "NUMBERS", "these records"),
    CLI_COUNT(struct cli_stats, limit, "limit", "N", "show N records at most",
              .fallback = "20, with --json all"),
    CLI_FLAG(struct cli_stats, all, "all", "show all records"),
    CLI_RANK(struct cli_stats, rank),
    CLI_JSON(struct cli_stats, json, "print the numbers for programs"),
};

static int open_and_show(struct cli_stats *stats)
{
    struct tg_recording *recording;
    struct tg_error error;
    if (cli_recording_open(stats->dir, &recording, &error) != TG_OK)
        return cli_recording_fail(NULL, stats->json, &error);
    stats->recording = recording;
    int code = cli_recording_check_index(recording, stats->query);
    tg_status status =
        code == CLI_OK ? tg_stats_walk_begin(recording, stats->query, &stats->walk, &error) : TG_OK;
    if (status == TG_NOT_FOUND)
        code = cli_not_known(recording, stats->json, error.text);
    else if (status != TG_OK)
        code = cli_recording_fail(recording, stats->json, &error);
    else if (code == CLI_OK && stats->json)
        code = cli_stats_print_json(stats);
    else if (code == CLI_OK)
        code = cli_stats_print_table(stats) ? CLI_OK : cli_error("out of memory");
    if (code == CLI_OK && !stats->json && tg_recording_check_files(recording, &error) != TG_OK)
        code = cli_fail(&error);
    tg_recording_close(recording);
    return code;
}

static int stats_verb(struct cli *cli, void *request)
{
    struct cli_stats *stats = request;
    (void)cli;
    if (stats->all && stats->limit.given)
        return cli_error("--all and --limit contradict each other; leave one out");
    if (!stats->limit.given)
        stats->limit.number = stats->all || stats->json ? UINT64_MAX : PAGE;
    return open_and_show(stats);
}

static void end(void *request)
{
    tg_query_destroy(((struct cli_stats *)request)->query);
}

static const struct cli_example examples[] = {
    {"", "Show range, mean and NaN of the first tensors of the newest recording."},
    {"outputs/RUN --kernel add --stage after --all", "Show all outputs of a kernel."},
    {0},
};

static const struct cli_ranks_way ranks_way = {
    .rank = offsetof(struct cli_stats, rank),
    .newest = cli_recording_newest,
};

const struct cli_verb cli_verb_stats = {
    .name = "stats",
    .rank = 70,
    .section = CLI_LOOK,
    .usage = "[DIR] [FILTERS] [--json]",
    .summary = "Show range, mean, NaN, Inf, zeros and denormals of each tensor.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .request_size = sizeof(struct cli_stats),
    .operand = cli_take_one,
    .noun = "directory",
    .member = offsetof(struct cli_stats, dir),
    .expects = CLI_RUN,
    .run = stats_verb,
    .ranks = &ranks_way,
    .end = end,
    .examples = examples,
};
