/*
 * The graph shapes that every program of this benchmark builds.
 *
 * A shape is an endless graph; a benchmark takes its first n tasks. Predecessors always have
 * smaller indices, so every such prefix is a graph of its own and n needs no rounding.
 *
 *   independent   no edges
 *   chain         i-1 -> i
 *   fan           source -> 16 tasks -> join, and the join leads to the source of the next fan
 *   stencil       rows of 16; a task follows its three neighbours in the row before, two at the borders
 *   tree          binary tree, root first: (i-1)/2 -> i
 *   fft           rows of 16; task c of a row follows 2c and 2c + 1 (modulo 16) of the row before: the
 *                 butterflies of an FFT in constant geometry (Pease), whose wires never change
 *
 * Valid as C11 and as C++17, and free of state: predecessors are computed, never stored, so that
 * reading the shape costs every program the same few instructions. If nvcc compiles this file, a
 * GPU can compute them too.
 */
#ifndef BENCH_TASKS_SHAPES_H
#define BENCH_TASKS_SHAPES_H

#include <stdint.h>
#include <string.h>

#if defined(__CUDACC__)
#define SHAPE_FN static inline __host__ __device__
#else
#define SHAPE_FN static inline
#endif

#define SHAPE_WIDTH 16
#define SHAPE_MAX_PREDS SHAPE_WIDTH
#define SHAPE_FAN_TASKS (SHAPE_WIDTH + 2)

enum shape {
    SHAPE_INDEPENDENT,
    SHAPE_CHAIN,
    SHAPE_FAN,
    SHAPE_STENCIL,
    SHAPE_TREE,
    SHAPE_FFT,
    SHAPE_COUNT
};

static inline const char *shape_name(enum shape s)
{
    static const char *const names[SHAPE_COUNT] = {"independent", "chain", "fan",
                                                   "stencil",     "tree",  "fft"};
    return s < SHAPE_COUNT ? names[s] : "?";
}

/* SHAPE_COUNT if no shape has that name. */
static inline enum shape shape_from_name(const char *name)
{
    int s = 0;

    while (s < SHAPE_COUNT && strcmp(name, shape_name((enum shape)s)) != 0)
        s++;
    return (enum shape)s;
}

SHAPE_FN int shape_fan_preds(uint64_t i, uint64_t preds[SHAPE_MAX_PREDS])
{
    uint64_t place = i % SHAPE_FAN_TASKS;

    if (place == SHAPE_FAN_TASKS - 1) {
        for (int k = 0; k < SHAPE_WIDTH; k++)
            preds[k] = i - SHAPE_WIDTH + (uint64_t)k;
        return SHAPE_WIDTH;
    }
    if (i == 0)
        return 0;
    preds[0] = place == 0 ? i - 1 : i - place;
    return 1;
}

SHAPE_FN int shape_stencil_preds(uint64_t i, uint64_t preds[SHAPE_MAX_PREDS])
{
    uint64_t column = i % SHAPE_WIDTH;
    uint64_t above = i - SHAPE_WIDTH;
    int count = 0;

    if (i < SHAPE_WIDTH)
        return 0;
    if (column > 0)
        preds[count++] = above - 1;
    preds[count++] = above;
    if (column < SHAPE_WIDTH - 1)
        preds[count++] = above + 1;
    return count;
}

SHAPE_FN int shape_fft_preds(uint64_t i, uint64_t preds[SHAPE_MAX_PREDS])
{
    uint64_t column = i % SHAPE_WIDTH;

    if (i < SHAPE_WIDTH)
        return 0;
    preds[0] = i - column - SHAPE_WIDTH + 2 * column % SHAPE_WIDTH;
    preds[1] = preds[0] + 1;
    return 2;
}

/* Writes the predecessors of task i, in rising order and without repeats; returns how many. */
SHAPE_FN int shape_preds(enum shape s, uint64_t i, uint64_t preds[SHAPE_MAX_PREDS])
{
    switch (s) {
    case SHAPE_CHAIN:
        preds[0] = i - 1;
        return i > 0;
    case SHAPE_FAN:
        return shape_fan_preds(i, preds);
    case SHAPE_STENCIL:
        return shape_stencil_preds(i, preds);
    case SHAPE_TREE:
        preds[0] = (i - 1) / 2;
        return i > 0;
    case SHAPE_FFT:
        return shape_fft_preds(i, preds);
    default:
        return 0;
    }
}

#endif
