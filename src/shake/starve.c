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

/* A task with the lengths of the longest paths: `before` it, `behind` it, and the longest one that leads
 * through it or through a task behind it. Then its place: by rank, depth and turn. */
struct ranked {
    uint32_t before, behind, through;
    uint32_t rank, depth, turn, task;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return x->turn < y->turn ? -1 : x->turn > y->turn;
}

static bool raise_to(uint32_t *length, uint32_t least)
{
    if (*length >= least)
        return false;
    *length = least;
    return true;
}

static bool pass_forward(struct ranked *before, struct ranked *task)
{
    return raise_to(&task->before, before->before + 1);
}

static bool pass_backward(struct ranked *before, struct ranked *task)
{
    bool longer = raise_to(&before->behind, task->behind + 1);
    return raise_to(&before->through, task->through) || longer;
}

/* Goes over all edges until nothing changes. Most edges lead to a higher number, so that the right direction
 * needs one sweep and one more that changes nothing. False for a cycle, where that never ends. */
static bool sweep(const struct tg_order_graph *graph, bool backward, struct ranked *item)
{
    bool changed = true;
    for (uint32_t round = 0; round <= graph->n && changed; round++) {
        changed = false;
        for (uint32_t i = 0; i < graph->n; i++) {
            uint32_t t = backward ? graph->n - 1 - i : i;
            for (uint64_t e = graph->start[t]; e < graph->start[t + 1]; e++) {
                struct ranked *before = &item[graph->before[e]];
                changed |=
                    backward ? pass_backward(before, &item[t]) : pass_forward(before, &item[t]);
            }
        }
    }
    return !changed;
}

/* An edge leads to a higher rank, or to an equal one and a larger depth, so that the graph allows the
 * order. */
static void rank(struct ranked *item, enum tg_starve_kind kind, uint32_t n, uint32_t task)
{
    item->task = task;
    item->turn = kind == TG_STARVE_SHORT_IN_TURN ? task : n - task;
    item->depth = item->before;
    if (kind == TG_STARVE_SIDE)
        item->rank = UINT32_MAX - item->through;
    else if (kind == TG_STARVE_DEEP)
        item->rank = item->before;
    else
        item->rank = UINT32_MAX - item->behind;
    if (kind != TG_STARVE_SIDE)
        item->depth = 0;
}

/* `through` needs both lengths of a task before the lengths are passed on. */
static bool measure(const struct tg_order_graph *graph, struct ranked *item)
{
    if (!sweep(graph, false, item) || !sweep(graph, true, item))
        return false;
    for (uint32_t t = 0; t < graph->n; t++)
        item[t].through = item[t].before + item[t].behind;
    return sweep(graph, true, item);
}

bool tg_starve_graph(const struct tg_order_graph *graph, enum tg_starve_kind kind, uint32_t *order)
{
    struct ranked *item = calloc((size_t)graph->n + 1, sizeof *item);
    bool measured = item && measure(graph, item);
    for (uint32_t t = 0; measured && t < graph->n; t++)
        rank(&item[t], kind, graph->n, t);
    if (measured && graph->n > 1)
        qsort(item, graph->n, sizeof *item, by_rank);
    for (uint32_t t = 0; measured && t < graph->n; t++)
        order[t] = item[t].task;
    free(item);
    return measured;
}

bool tg_starve_sides(const struct tg_order_graph *graph, uint32_t *tasks)
{
    struct ranked *item = calloc((size_t)graph->n + 1, sizeof *item);
    bool measured = item && measure(graph, item);
    for (uint32_t t = 0; measured && t < graph->n; t++) {
        item[t].rank = item[t].before + item[t].behind;
        item[t].task = item[t].turn = t;
    }
    if (measured && graph->n > 1)
        qsort(item, graph->n, sizeof *item, by_rank);
    for (uint32_t t = 0; measured && t < graph->n; t++)
        tasks[t] = item[t].task;
    free(item);
    return measured;
}
