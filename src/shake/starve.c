/* SPDX-License-Identifier: Apache-2.0 */
#include "shake/starve.h"

#include <stdlib.h>

/* Below the last task that does not wait for it, fifo has started every other one. */
bool tg_starve_task(const struct tg_order_graph *graph, uint32_t task, uint8_t *reached,
                    struct tg_order *constraint)
{
    uint32_t last = graph->n;
    tg_order_reach(graph, task, reached);
    while (last > 0 && reached[last - 1])
        last--;
    if (last == 0 || last - 1 < task)
        return false;
    *constraint = (struct tg_order){last - 1, task};
    return true;
}

/* A task, and the place that it gets: those of a lower rank come first, of equal ones those of a lower
 * turn. */
struct ranked {
    uint32_t rank, turn, task;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->turn < y->turn ? -1 : x->turn > y->turn;
}

static bool raise_to(uint32_t *rank, uint32_t least)
{
    if (*rank >= least)
        return false;
    *rank = least;
    return true;
}

/* One sweep over all edges. Most edges lead to a higher number, so that the right direction needs one
 * sweep and one more that changes nothing. */
static bool sweep(const struct tg_order_graph *graph, bool backward, struct ranked *item)
{
    bool changed = false;
    for (uint32_t i = 0; i < graph->n; i++) {
        uint32_t t = backward ? graph->n - 1 - i : i;
        for (uint64_t e = graph->start[t]; e < graph->start[t + 1]; e++) {
            struct ranked *before = &item[graph->before[e]];
            changed |= backward ? raise_to(&before->rank, item[t].rank + 1)
                                : raise_to(&item[t].rank, before->rank + 1);
        }
    }
    return changed;
}

bool tg_starve_graph(const struct tg_order_graph *graph, enum tg_starve_kind kind, uint32_t *order)
{
    bool backward = kind != TG_STARVE_DEEP, is_over = false;
    struct ranked *item = calloc((size_t)graph->n + 1, sizeof *item);
    if (!item)
        return false;
    for (uint32_t i = 0; i <= graph->n && !is_over; i++) /* more sweeps only change a cycle */
        is_over = !sweep(graph, backward, item);
    for (uint32_t t = 0; t < graph->n; t++) {
        item[t].task = t;
        item[t].turn = kind == TG_STARVE_SHORT_IN_TURN ? t : graph->n - t;
        if (backward)
            item[t].rank = UINT32_MAX - item[t].rank;
    }
    if (graph->n > 1)
        qsort(item, graph->n, sizeof *item, by_rank);
    for (uint32_t t = 0; t < graph->n; t++)
        order[t] = item[t].task;
    free(item);
    return is_over;
}
