/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orders of tasks. A task is its place in the order of submission, from 0, so that schedule `fifo` starts
 * the ready task with the lowest number. An order is an array of all tasks; `place` is its inverse.
 *
 * A constraint {first, second} holds `second` back until `first` has completed. On top of fifo, one
 * constraint for each task that comes late makes any order that the graph allows: the last of the tasks
 * with a higher number that come before it. At each step the next task of the order is not held back, and
 * each ready task with a lower number waits for a task that has not run yet.
 */
#ifndef TG_SHAKE_ORDERS_H
#define TG_SHAKE_ORDERS_H

#include <stdbool.h>
#include <stdint.h>

struct tg_order {
    uint32_t first;
    uint32_t second;
};

/* place[order[i]] = i for all n tasks. */
void tg_order_places(const uint32_t *order, uint32_t n, uint32_t *place);

/* The constraints that make `order`, sorted by where their second task stands in it. `constraint` and
 * `stack`, which is scratch, have room for n. Returns their number. */
uint32_t tg_order_constrain(const uint32_t *order, uint32_t n, uint32_t *stack,
                            struct tg_order *constraint);

/* A graph: the tasks before task t are before[start[t]] … before[start[t + 1] - 1]. */
struct tg_order_graph {
    uint32_t n;
    const uint64_t *start;
    const uint32_t *before;
};

/* Marks the tasks that a path of edges leads to from task `from`, and that task itself. `reached` has room
 * for n. */
void tg_order_reach(const struct tg_order_graph *graph, uint32_t from, uint8_t *reached);

#endif
