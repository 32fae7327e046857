/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `taskglass find`. */
#ifndef TG_CLI_FIND_H
#define TG_CLI_FIND_H

#include <stdbool.h>
#include <taskglass/query.h>

#include "cli/diff_words.h"
#include "cli/options.h"

struct cli_find {
    const char *what, *dir; /* dir NULL: the newest run */
    enum tg_find_kind find_kind;
    struct tg_query *query; /* NULL: every record */
    struct cli_count limit;
    bool all, json;
    struct tg_recording *recording;
    struct tg_find *find;
    struct tg_find_info info;
    uint64_t found; /* findings that the filters select */
};

/* Moves *number to the next finding, from *number on, that the filters select. False past the last. */
bool cli_find_next(const struct cli_find *find, uint64_t *number, struct tg_find_finding *finding,
                   struct tg_entry *entry);

/* These print on stdout. */
void cli_find_print(const struct cli_find *find);
void cli_find_print_json(const struct cli_find *find);

#endif
