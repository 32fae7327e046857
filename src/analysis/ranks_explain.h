/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of tg_ranks_explain: ranks_waits.c says who waits for whom, ranks_explain.c what that means. */
#ifndef TG_ANALYSIS_RANKS_EXPLAIN_H
#define TG_ANALYSIS_RANKS_EXPLAIN_H

#include <stdio.h>

#include "analysis/ranks_sides.h"

/* An explanation in the making; it keeps the calls open, because texts point into them. */
struct tg_ranks_explaining {
    struct tg_rank_sides sides;
    struct tg_ranks_explanation *is;
    uint32_t *waits_of; /* calls of each rank that have not completed */
};

/* Fills in the waits. */
void tg_ranks_explain_waits(struct tg_ranks_explaining *x);

/* One sentence from `wait` on: who waits for whom, up to a rank that waits for nobody, or around a
 * circle. */
void tg_ranks_say_waits(const struct tg_ranks_explanation *is, const struct tg_ranks_wait *wait,
                        char *text, size_t room);

#endif
