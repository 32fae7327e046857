/* SPDX-License-Identifier: Apache-2.0 */
/* A radix sort: a run has millions of events, and their times differ in a few bytes. */
#include <string.h>

#include "analysis/timing.h"

enum { DIGIT = 11, DIGITS = 1 << DIGIT };

static void pass(const struct tg_timing_key *from, struct tg_timing_key *to, size_t count,
                 unsigned shift)
{
    size_t next[DIGITS] = {0}, at = 0;
    for (size_t i = 0; i < count; i++)
        next[from[i].key >> shift & (DIGITS - 1)]++;
    for (size_t digit = 0; digit < DIGITS; digit++) {
        size_t here = next[digit];
        next[digit] = at;
        at += here;
    }
    for (size_t i = 0; i < count; i++)
        to[next[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

void tg_timing_sort(struct tg_timing_key *key, struct tg_timing_key *spare, size_t count,
                    uint64_t most)
{
    struct tg_timing_key *from = key, *to = spare;
    for (unsigned shift = 0; shift < 64 && most >> shift > 0; shift += DIGIT) {
        pass(from, to, count, shift);
        struct tg_timing_key *swap = from;
        from = to;
        to = swap;
    }
    if (from != key && count > 0)
        memcpy(key, from, count * sizeof *key);
}
