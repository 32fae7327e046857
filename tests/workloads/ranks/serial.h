/* SPDX-License-Identifier: Apache-2.0 */
/* The serial execution of a program of program.h: all ranks, one step after the other. */
#ifndef TG_TEST_RANKS_SERIAL_H
#define TG_TEST_RANKS_SERIAL_H

#include "program.h"
#include <string.h>

/* The buffers of all ranks. */
struct ranks_world {
    int64_t at[RANKS_MOST][RANKS_BUFFERS][RANKS_ELEMENTS];
};

static inline void ranks_begin(struct ranks_world *w, uint64_t seed, int32_t ranks)
{
    for (int32_t r = 0; r < ranks; r++)
        for (uint32_t b = 0; b < RANKS_BUFFERS; b++)
            for (int64_t i = 0; i < RANKS_ELEMENTS; i++)
                w->at[r][b][i] = ranks_first(seed, r, b, i);
}

/* Element i of the reduction of buffer `b` over all ranks. */
static inline int64_t ranks_all(const struct ranks_world *w, int32_t ranks, int32_t operation,
                                uint32_t b, int64_t i)
{
    int64_t sum = w->at[0][b][i];
    for (int32_t r = 1; r < ranks; r++)
        sum = ranks_reduce(operation, sum, w->at[r][b][i]);
    return sum;
}

static inline int64_t *ranks_element(struct ranks_world *w, int32_t rank, uint32_t buffer,
                                     struct ranks_view v, int64_t i)
{
    return &w->at[rank][buffer][v.start + i * v.step];
}

static inline void ranks_reduce_all(struct ranks_world *w, const struct ranks_step *s,
                                    int32_t ranks)
{
    int64_t piece = RANKS_ELEMENTS / ranks, sum[RANKS_ELEMENTS];
    for (int64_t i = 0; i < RANKS_ELEMENTS; i++)
        sum[i] = ranks_all(w, ranks, s->operation, s->a, i);
    for (int32_t r = 0; r < ranks; r++) {
        if (s->kind == RANKS_SCATTER)
            for (int64_t i = 0; i < piece; i++)
                *ranks_element(w, r, s->b, s->right, i) = sum[r * piece + i];
        else
            memcpy(w->at[r][s->kind == RANKS_REDUCE ? s->a : s->b], sum, sizeof sum);
    }
}

static inline void ranks_step_mix(struct ranks_world *w, const struct ranks_step *s, int32_t ranks)
{
    for (int32_t r = 0; r < ranks; r++)
        for (int64_t i = 0; (s->mask >> r & 1) && i < RANKS_ELEMENTS; i++)
            w->at[r][s->a][i] =
                (int64_t)(3 * (uint64_t)w->at[r][s->a][i] + (uint64_t)w->at[r][s->b][i] + s->k);
}

static inline void ranks_step_move(struct ranks_world *w, const struct ranks_step *s, int32_t ranks)
{
    int64_t piece = RANKS_ELEMENTS / ranks;
    for (int32_t to = 0; to < ranks; to++)
        for (int32_t from = 0; from < ranks; from++)
            for (int64_t i = 0; i < piece; i++)
                w->at[to][s->b][from * piece + i] = s->kind == RANKS_GATHER
                                                        ? *ranks_element(w, from, s->a, s->left, i)
                                                        : w->at[from][s->a][to * piece + i];
}

static inline void ranks_do(struct ranks_world *w, const struct ranks_step *s, int32_t ranks)
{
    switch (s->kind) {
    case RANKS_KERNEL:
        ranks_step_mix(w, s, ranks);
        break;
    case RANKS_PAIR:
        for (int64_t i = 0; i < s->left.count; i++)
            *ranks_element(w, s->to, s->b, s->right, i) =
                *ranks_element(w, s->from, s->a, s->left, i);
        break;
    case RANKS_BROADCAST:
        for (int32_t r = 0; r < ranks; r++)
            if (r != s->from)
                memcpy(w->at[r][s->a], w->at[s->from][s->a], sizeof w->at[r][s->a]);
        break;
    case RANKS_REDUCE:
    case RANKS_REDUCE_TO:
    case RANKS_SCATTER:
        ranks_reduce_all(w, s, ranks);
        break;
    default:
        ranks_step_move(w, s, ranks);
    }
}

static inline void ranks_run(struct ranks_world *w, uint64_t seed, int64_t steps, int32_t ranks)
{
    uint64_t state = seed;
    ranks_begin(w, seed, ranks);
    for (int64_t i = 0; i < steps; i++) {
        struct ranks_step s = ranks_draw(&state, ranks);
        ranks_do(w, &s, ranks);
    }
}

#endif
