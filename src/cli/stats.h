/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `taskglass stats`. */
#ifndef TG_CLI_STATS_H
#define TG_CLI_STATS_H

#include <stdbool.h>
#include <taskglass/query.h>

#include "cli/diff_words.h"
#include "cli/options.h"

struct cli_stats {
    const char *dir;        /* NULL: the newest run */
    struct tg_query *query; /* NULL: every record */
    struct cli_count limit;
    bool all, json;
    const struct tg_recording *recording;
};

/* Moves *index to the next record, from *index on, that the report shows. False past the last. */
bool cli_stats_next(const struct cli_stats *stats, uint64_t *index, struct tg_entry *entry);

/* Prints on stdout. False if memory ran out. */
bool cli_stats_print_table(const struct cli_stats *stats);
/* Returns the exit code. */
int cli_stats_print_json(const struct cli_stats *stats);

#endif
