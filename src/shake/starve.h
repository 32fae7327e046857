/* SPDX-License-Identifier: Apache-2.0 */
/* Orders that no random choice is likely to make: tasks wait until all others that can have run. */
#ifndef TG_SHAKE_STARVE_H
#define TG_SHAKE_STARVE_H

#include "shake/orders.h"

/* The constraint that holds a task back until everything that does not wait for it has run. `reached` is
 * scratch for n. False if nothing that is submitted later can run before it. */
bool tg_starve_task(const struct tg_order_graph *graph, uint32_t task, uint8_t *reached,
                    struct tg_order *constraint);

/*
 * Orders of the whole graph by the lengths of paths. What is not on a long path, or has a short one behind
 * it, comes as late as it can; a task that reads for a side result is such a one.
 */
enum tg_starve_kind {
    TG_STARVE_SIDE,  /* first what the longest paths lead through, to their ends */
    TG_STARVE_SHORT, /* the longest path behind it first; of equal ones the last submitted */
    TG_STARVE_SHORT_IN_TURN, /* the same, of equal ones the first submitted */
    TG_STARVE_DEEP, /* the shortest path before it first; of equal ones the last submitted */
    TG_STARVE_KINDS
};
/* Fills `order` with all tasks. False if memory ran out, or if the edges form a cycle. */
bool tg_starve_graph(const struct tg_order_graph *graph, enum tg_starve_kind kind, uint32_t *order);

/* Fills `tasks` with all tasks, those first that only short paths lead through: side results, which are the
 * likeliest to lack an edge. False as above. */
bool tg_starve_sides(const struct tg_order_graph *graph, uint32_t *tasks);

#endif
