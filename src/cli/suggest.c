/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/suggest.h"

#include <string.h>

enum { LONGEST = 40, FAR = 1000 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t cli_suggest_distance(const char *a, const char *b)
{
    size_t row[3][LONGEST + 1]; /* the current row of the distance table and the two before it */
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return FAR;
    for (size_t j = 0; j <= m; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = row[i % 3], *before = row[(i + 2) % 3], *two_before = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            now[j] =
                least(least(before[j], now[j - 1]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], two_before[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

void cli_suggest_start(struct cli_suggestion *suggestion, const char *typed)
{
    suggestion->typed = typed;
    suggestion->best = NULL;
    /* Accepts one typing error in a short name and more in a long one. */
    suggestion->distance = 2 + strlen(typed) / 4;
}

void cli_suggest_consider(struct cli_suggestion *suggestion, const char *known)
{
    size_t typed = strlen(suggestion->typed);
    size_t distance = cli_suggest_distance(suggestion->typed, known);
    if (typed > 1 && strncmp(suggestion->typed, known, typed) == 0)
        distance = 1; /* the beginning of a name counts as one error */
    if (distance < suggestion->distance) {
        suggestion->distance = distance;
        suggestion->best = known;
    }
}
