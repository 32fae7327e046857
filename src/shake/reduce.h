/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the fewest constraints that still break a run. It knows tasks as numbers (orders.h) and asks a
 * function whether a set of constraints fails; each question is a run, so that their number is limited.
 *
 *   1. each suspect alone: pairs that race and that the failing order inverts
 *   2. all suspects together, reduced to a set of which none can be left out
 *   3. the constraints that make the failing order, reduced in the same way
 *   4. one constraint in the place of two, as long as that still fails
 *   5. each constraint loosened: an earlier first task, and as second task one that waits for it, as long as
 *      that still fails; this leads from what was moved to what collides
 *
 * Whatever it returns has failed `confirm` times in a row.
 */
#ifndef TG_SHAKE_REDUCE_H
#define TG_SHAKE_REDUCE_H

#include <taskglass/status.h>

#include "shake/orders.h"

enum tg_reduce_answer { TG_REDUCE_STOP = -1, TG_REDUCE_PASSES = 0, TG_REDUCE_FAILS = 1 };

/* Runs the constraints; STOP ends the reduction. */
typedef enum tg_reduce_answer (*tg_reduce_fn)(void *context, const struct tg_order *constraint,
                                              uint32_t n);

struct tg_reduce_input {
    struct tg_order_graph
        graph;               /* n is the number of tasks; `start` NULL: the edges are not known */
    const uint32_t *failing; /* the order that failed, of n tasks */
    const struct tg_order *suspect; /* likely pairs in any direction, the likeliest first */
    uint32_t n_suspects;
    uint32_t most;    /* constraints that a run can take */
    uint32_t budget;  /* runs */
    uint32_t confirm; /* how often a set has to fail; at least 1 */
    tg_reduce_fn fails;
    void *context;
};

struct tg_reduce_result {
    struct tg_order *constraint; /* the caller frees it */
    uint32_t n;                  /* 0: no set of constraints failed */
    uint32_t runs;
    bool spent;    /* the budget was spent: there may be fewer */
    bool flaky;    /* a set failed once and then passed */
    bool too_many; /* the failing order needs more constraints than a run can take */
};

/* CANCELLED: `fails` asked for that. NO_MEMORY. */
tg_status tg_reduce(const struct tg_reduce_input *input, struct tg_reduce_result *result,
                    struct tg_error *error);

#endif
