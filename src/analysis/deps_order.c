/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/deps_order.h"

#include <stdlib.h>

#include "base/grow.h"

static const uint64_t MOST_EDGES = UINT64_C(1) << 26;

struct stack {
    uint32_t *item;
    size_t count, room;
};

static bool push(struct tg_order *order, struct stack *stack, uint32_t task)
{
    if (order->mark[task] == order->search)
        return true;
    order->mark[task] = order->search;
    if (!tg_grow(&stack->item, &stack->room, stack->count + 1, sizeof *stack->item))
        return false;
    stack->item[stack->count++] = task;
    return true;
}

/* Goes back from `after`. Tasks wait for tasks that were submitted before them, so a search need not
 * go back further than `before`. */
static bool search(struct tg_order *order, struct stack *stack, uint32_t before, uint32_t after)
{
    const struct tg_deps *deps = order->deps;
    bool good = push(order, stack, after);
    while (good && stack->count > 0) {
        const struct tg_deps_task *task = &deps->task[stack->item[--stack->count]];
        order->searched += task->n_edges;
        for (uint64_t i = 0; i < task->n_edges && good; i++) {
            uint32_t other = deps->before[task->first_edge + i];
            if (other == before)
                return true;
            if (other > before)
                good = push(order, stack, other);
        }
    }
    return !good;
}

bool tg_order_waits(struct tg_order *order, uint32_t before, uint32_t after)
{
    struct stack stack = {0};
    if (before >= after)
        return false;
    if (!order->mark)
        order->mark = calloc((size_t)order->deps->n_tasks + 1, sizeof *order->mark);
    if (!order->mark || order->searched > MOST_EDGES)
        return true;
    order->search++;
    bool waits = search(order, &stack, before, after);
    free(stack.item);
    return waits;
}

void tg_order_free(struct tg_order *order)
{
    free(order->mark);
    *order = (struct tg_order){0};
}
