/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean": the known name nearest to a mistyped one. */
#ifndef TG_CLI_SUGGEST_H
#define TG_CLI_SUGGEST_H

#include <stddef.h>

struct cli_suggestion {
    const char *typed;
    const char *best; /* NULL: nothing is near */
    size_t distance;
};

void cli_suggest_start(struct cli_suggestion *suggestion, const char *typed);
/* `known` must live as long as the suggestion. */
void cli_suggest_consider(struct cli_suggestion *suggestion, const char *known);

/* Insertions, deletions, changes and swaps of neighbours between the two; at most 1000. */
size_t cli_suggest_distance(const char *a, const char *b);

#endif
