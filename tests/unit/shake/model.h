/* SPDX-License-Identifier: Apache-2.0 */
/* A device with one core that has only tasks and edges: it starts the ready task with the lowest number that
 * no constraint holds back, and breaks a constraint where nothing else can go on. */
#ifndef TG_TEST_SHAKE_MODEL_H
#define TG_TEST_SHAKE_MODEL_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shake/orders.h"

enum { MODEL_TASKS = 600, MODEL_EDGES = 4000 };

struct model {
    uint32_t n;
    uint64_t start[MODEL_TASKS + 1];
    uint32_t before[MODEL_EDGES];
    uint32_t order[MODEL_TASKS], place[MODEL_TASKS];
};

/* Tasks are added in the order of their numbers. */
static inline uint32_t model_add(struct model *m, uint32_t n_before, const uint32_t *before)
{
    uint64_t at = m->start[m->n];
    for (uint32_t i = 0; i < n_before; i++)
        m->before[at + i] = before[i];
    m->n++;
    m->start[m->n] = at + n_before;
    return m->n - 1;
}

static inline struct tg_order_graph model_graph(const struct model *m)
{
    return (struct tg_order_graph){m->n, m->start, m->before};
}

static inline int model_is_ready(const struct model *m, const uint8_t *done, uint32_t t)
{
    for (uint64_t e = m->start[t]; e < m->start[t + 1]; e++)
        if (!done[m->before[e]])
            return 0;
    return !done[t];
}

static inline int model_is_held(const struct tg_order *c, uint32_t n, const uint8_t *done,
                                uint32_t t)
{
    for (uint32_t i = 0; i < n; i++)
        if (c[i].second == t && !done[c[i].first])
            return 1;
    return 0;
}

/* Fills order and place. */
static inline void model_run(struct model *m, const struct tg_order *c, uint32_t n)
{
    uint8_t done[MODEL_TASKS] = {0};
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t chosen = UINT32_MAX, any = UINT32_MAX;
        for (uint32_t t = 0; t < m->n && chosen == UINT32_MAX; t++) {
            if (!model_is_ready(m, done, t))
                continue;
            if (any == UINT32_MAX)
                any = t;
            if (!model_is_held(c, n, done, t))
                chosen = t;
        }
        if (chosen == UINT32_MAX)
            chosen = any;
        done[chosen] = 1;
        m->order[i] = chosen;
        m->place[chosen] = i;
    }
}

/* An order that the graph allows, by random choices. */
static inline void model_shuffle(struct model *m, unsigned seed)
{
    uint8_t done[MODEL_TASKS] = {0};
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t ready[MODEL_TASKS], count = 0;
        for (uint32_t t = 0; t < m->n; t++)
            if (model_is_ready(m, done, t))
                ready[count++] = t;
        seed = seed * 1664525u + 1013904223u;
        uint32_t chosen = ready[(seed >> 8) % count];
        done[chosen] = 1;
        m->order[i] = chosen;
        m->place[chosen] = i;
    }
}

#endif
