/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean": finds the known name that is most like a mistyped one. */
#ifndef TG_CLI_SUGGEST_H
#define TG_CLI_SUGGEST_H

#include <stddef.h>

struct cli_suggestion {
    const char *typed;
    const char *best; /* NULL: no name is similar */
    size_t distance;
};

void cli_suggest_start(struct cli_suggestion *suggestion, const char *typed);
/* `known` must live as long as the suggestion. */
void cli_suggest_consider(struct cli_suggestion *suggestion, const char *known);

/* How many insertions, deletions, replacements and swaps of neighbours turn one name into the other;
 * 1000 if a name is too long to compare. */
size_t cli_suggest_distance(const char *a, const char *b);

#endif
