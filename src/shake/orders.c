/* SPDX-License-Identifier: Apache-2.0 */
#include "shake/orders.h"

#include <string.h>

void tg_order_places(const uint32_t *order, uint32_t n, uint32_t *place)
{
    for (uint32_t i = 0; i < n; i++)
        place[order[i]] = i;
}

/* `stack` holds the tasks that may still be the last higher number before a later one; towards its top the
 * numbers fall. */
uint32_t tg_order_constrain(const uint32_t *order, uint32_t n, uint32_t *stack,
                            struct tg_order *constraint)
{
    uint32_t made = 0, depth = 0;
    for (uint32_t i = 0; i < n; i++) {
        while (depth > 0 && stack[depth - 1] < order[i])
            depth--;
        if (depth > 0)
            constraint[made++] = (struct tg_order){stack[depth - 1], order[i]};
        stack[depth++] = order[i];
    }
    return made;
}

/* Most edges lead to a higher number, so one sweep finds all; further sweeps follow only while something
 * changes. */
void tg_order_reach(const struct tg_order_graph *graph, uint32_t from, uint8_t *reached)
{
    bool changed = true;
    memset(reached, 0, graph->n);
    reached[from] = 1;
    while (changed) {
        changed = false;
        for (uint32_t t = 0; t < graph->n; t++) {
            for (uint64_t e = graph->start[t]; !reached[t] && e < graph->start[t + 1]; e++) {
                reached[t] = reached[graph->before[e]];
                changed |= reached[t] != 0;
            }
        }
    }
}
