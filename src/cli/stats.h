/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `taskglass stats`. */
#ifndef TG_CLI_STATS_H
#define TG_CLI_STATS_H

#include <stdbool.h>
#include <taskglass/answers.h>

#include "cli/diff_words.h"
#include "cli/options.h"

struct cli_stats {
    const char *dir; /* NULL: the newest run */
    struct cli_count rank;
    struct tg_query *query; /* NULL: every record */
    struct cli_count limit;
    bool all, json;
    const struct tg_recording *recording;
    struct tg_stats_walk walk; /* through the records that the report shows */
};

/* Prints on stdout. False if memory ran out. */
bool cli_stats_print_table(struct cli_stats *stats);
/* Returns the exit code. */
int cli_stats_print_json(struct cli_stats *stats);

#endif
