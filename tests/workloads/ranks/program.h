/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs that communicate. Every rank draws the same steps from the seed, so each knows what
 * all do, and does its own part; the serial execution does the parts of all ranks one after the other.
 * Values are integers that wrap around, so that the results are equal bit for bit or wrong.
 */
#ifndef TG_TEST_RANKS_PROGRAM_H
#define TG_TEST_RANKS_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/target.h>
#include <taskglass/wire/comm.h>

/* 840 is divisible by every number of ranks up to 8. */
enum { RANKS_BUFFERS = 6, RANKS_ELEMENTS = 840, RANKS_MOST = 8 };
enum { RANKS_MIX = 0, RANKS_KERNELS = 1 };

enum ranks_kind {
    RANKS_KERNEL, /* a = 3·a + b + k, on the ranks of `mask` */
    RANKS_PAIR,   /* elements of `a` of rank `from` go to `b` of rank `to` */
    RANKS_REDUCE, /* all-reduce of a */
    RANKS_REDUCE_TO,
    RANKS_BROADCAST,
    RANKS_SCATTER, /* reduce-scatter of a into the first elements of b */
    RANKS_GATHER,  /* all-gather of elements of a into b */
    RANKS_EXCHANGE,
    RANKS_KINDS
};

/* Every step-th element, `count` of them, from `start` on. */
struct ranks_view {
    int64_t start, count, step;
};

struct ranks_step {
    enum ranks_kind kind;
    uint32_t a, b; /* buffers, two of them */
    int32_t from, to, tag;
    int32_t operation;
    uint32_t mask;
    uint64_t k;
    bool roles; /* of a broadcast: in and out instead of inout */
    struct ranks_view left, right;
};

/* splitmix64 */
TG_INLINE uint64_t ranks_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

TG_INLINE uint32_t ranks_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)(ranks_random(state) >> 33) % n;
}

TG_INLINE struct ranks_view ranks_view_of(uint64_t *state, int64_t count)
{
    struct ranks_view v;
    int64_t most = count > 0 ? RANKS_ELEMENTS / count : 1;
    v.count = count;
    v.step = most > 1 ? 1 + (int64_t)ranks_below(state, (uint32_t)(most > 3 ? 3 : most)) : 1;
    v.start = (int64_t)ranks_below(state, (uint32_t)(RANKS_ELEMENTS - count * v.step + 1));
    return v;
}

/* The next step. `state` begins as the seed. */
TG_INLINE struct ranks_step ranks_draw(uint64_t *state, int32_t ranks)
{
    struct ranks_step s;
    uint32_t kind = ranks_below(state, 12);
    int64_t piece = RANKS_ELEMENTS / ranks;
    s.kind = kind < RANKS_KINDS ? (enum ranks_kind)kind : kind < 10 ? RANKS_KERNEL : RANKS_PAIR;
    s.a = ranks_below(state, RANKS_BUFFERS);
    s.b = (s.a + 1 + ranks_below(state, RANKS_BUFFERS - 1)) % RANKS_BUFFERS;
    s.from = (int32_t)ranks_below(state, (uint32_t)ranks);
    s.to = (int32_t)ranks_below(state, (uint32_t)ranks);
    s.tag = (int32_t)ranks_below(state, 3);
    s.operation = (int32_t)ranks_below(state, TG_REDUCTIONS);
    s.mask = ranks_below(state, 1u << ranks);
    s.k = ranks_random(state);
    s.roles = ranks_below(state, 2) != 0;
    if (s.kind == RANKS_PAIR)
        piece = 1 + (int64_t)ranks_below(state, RANKS_ELEMENTS / 2);
    s.left = ranks_view_of(state, piece);
    s.right = ranks_view_of(state, piece);
    return s;
}

/* What rank `rank` has at first in element `i` of a buffer. */
TG_INLINE int64_t ranks_first(uint64_t seed, int32_t rank, uint32_t buffer, int64_t i)
{
    uint64_t state = seed ^ (uint64_t)rank << 40 ^ (uint64_t)buffer << 32 ^ (uint64_t)i;
    return (int64_t)ranks_random(&state);
}

TG_INLINE int64_t ranks_reduce(int32_t operation, int64_t x, int64_t y)
{
    switch (operation) {
    case TG_SUM:
        return (int64_t)((uint64_t)x + (uint64_t)y);
    case TG_PRODUCT:
        return (int64_t)((uint64_t)x * (uint64_t)y);
    case TG_MIN:
        return x < y ? x : y;
    default:
        return x > y ? x : y;
    }
}

#endif
