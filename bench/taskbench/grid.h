/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grids that every program of this benchmark runs, and what each task does: steps rows of width
 * columns; a pattern says which columns of the row before a task reads.
 *
 *   trivial   none
 *   no_comm   its own
 *   stencil   its own and both neighbours
 *   sweep     its own and the left neighbour
 *   fft       its own and those 2^k to the left and right, k rising from row to row
 *   tree      half its number; the rows double from one column to the width
 *   nearest   the `radix` columns around it
 *   spread    `radix` columns at equal distances, starting elsewhere in every row
 *   random    its own, and each of the `radix` columns around it by the toss of a coin
 *
 * A task writes who it is into its cell, and how often it has run. It reads the same from the cells that
 * it depends on: they must hold the right step and column, written in this run and not in the one before.
 *
 * Valid as C11 and C++17, without libc and without state, so that kernels can use it as well as the peers.
 * task.h adds the work.
 */
#ifndef BENCH_TASKBENCH_GRID_H
#define BENCH_TASKBENCH_GRID_H

#include <stdbool.h>
#include <stdint.h>

/* If nvcc compiles this file, a GPU can call the functions too. */
#if defined(__CUDACC__)
#define TB_FN static inline __host__ __device__
#else
#define TB_FN static inline
#endif

enum { TB_MAX_WIDTH = 256, TB_MAX_INPUTS = 15, TB_CELL_WORDS = 4 };

/* clang-format off */
#define TB_PATTERNS(X) \
    X(TRIVIAL, "trivial") X(NO_COMM, "no_comm") X(STENCIL, "stencil") X(SWEEP, "sweep") X(FFT, "fft") \
    X(TREE, "tree") X(NEAREST, "nearest") X(SPREAD, "spread") X(RANDOM, "random")
/* Faults that a user can plant, to see that the check notices them. */
#define TB_PLANTS(X) X(NOTHING, "nothing") X(VALUE, "value") X(LOST, "lost") X(TWICE, "twice")
#define TB_ENUM_PATTERN_(name, text) TB_##name,
#define TB_ENUM_PLANT_(name, text) TB_PLANT_##name,
/* clang-format on */
enum tb_pattern { TB_PATTERNS(TB_ENUM_PATTERN_) TB_PATTERN_COUNT };
enum tb_plant { TB_PLANTS(TB_ENUM_PLANT_) TB_PLANT_COUNT };

struct tb_grid {
    uint32_t pattern, width, steps, radix, seed;
    uint32_t imbalanced; /* a task does between none and twice of `iterations` */
    uint32_t plant;
    uint32_t iterations;
};

/* The output of a task. */
struct tb_cell {
    uint32_t step, column;
    uint32_t runs;   /* of this task, this one included */
    uint32_t errors; /* inputs that were wrong, in all runs */
};

/* All that a task needs to know of its grid, in one word, because a kernel has no other way to it than
 * its arguments. */
TB_FN uint64_t tb_grid_pack(const struct tb_grid *g)
{
    return (uint64_t)g->pattern | (uint64_t)g->imbalanced << 8 | (uint64_t)g->plant << 12 |
           (uint64_t)g->radix << 16 | (uint64_t)g->width << 24 | (uint64_t)g->seed << 40;
}

TB_FN struct tb_grid tb_grid_unpack(uint64_t word, uint32_t steps, uint32_t iterations)
{
    struct tb_grid g;

    g.pattern = (uint32_t)(word & 255);
    g.imbalanced = (uint32_t)(word >> 8 & 15);
    g.plant = (uint32_t)(word >> 12 & 15);
    g.radix = (uint32_t)(word >> 16 & 255);
    g.width = (uint32_t)(word >> 24 & 65535);
    g.seed = (uint32_t)(word >> 40);
    g.steps = steps;
    g.iterations = iterations;
    return g;
}

/* 64 well-mixed bits for a task. */
TB_FN uint64_t tb_random(const struct tb_grid *g, uint32_t step, uint32_t column)
{
    uint64_t x = ((uint64_t)step << 32 | column) + ((uint64_t)g->seed + 1) * 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Columns of a row. */
TB_FN uint32_t tb_row(const struct tb_grid *g, uint32_t step)
{
    bool grows = g->pattern == TB_TREE && step < 31 && 1u << step < g->width;

    return grows ? 1u << step : g->width;
}

TB_FN uint64_t tb_tasks(const struct tb_grid *g)
{
    uint64_t tasks = 0;

    for (uint32_t step = 0; step < g->steps; step++)
        tasks += tb_row(g, step);
    return tasks;
}

TB_FN uint32_t tb_iterations(const struct tb_grid *g, uint32_t step, uint32_t column)
{
    if (!g->imbalanced)
        return g->iterations;
    return (uint32_t)((tb_random(g, step, column) >> 32) * 2 * g->iterations >> 32);
}

TB_FN uint32_t tb_range(uint32_t first, uint32_t last, uint32_t inputs[TB_MAX_INPUTS])
{
    for (uint32_t c = first; c <= last; c++)
        inputs[c - first] = c;
    return last + 1 - first;
}

/* The columns from `left` to the left of this one up to `right` to the right of it. */
TB_FN uint32_t tb_around(const struct tb_grid *g, uint32_t column, uint32_t left, uint32_t right,
                         uint32_t inputs[TB_MAX_INPUTS])
{
    uint32_t last = column + right < g->width ? column + right : g->width - 1;

    return tb_range(column > left ? column - left : 0, last, inputs);
}

TB_FN uint32_t tb_fft(const struct tb_grid *g, uint32_t step, uint32_t column,
                      uint32_t inputs[TB_MAX_INPUTS])
{
    uint32_t levels = 1, distance, count = 0;

    while (2u << levels <= g->width)
        levels++;
    distance = 1u << (step - 1) % levels;
    if (column >= distance)
        inputs[count++] = column - distance;
    inputs[count++] = column;
    if (column + distance < g->width)
        inputs[count++] = column + distance;
    return count;
}

TB_FN uint32_t tb_spread(const struct tb_grid *g, uint32_t step, uint32_t column,
                         uint32_t inputs[TB_MAX_INPUTS])
{
    uint32_t radix = g->radix < g->width ? g->radix : g->width;
    uint32_t shift = step % (g->width / radix);

    inputs[0] = column;
    for (uint32_t k = 1; k < radix; k++)
        inputs[k] = (column + k * g->width / radix + shift) % g->width;
    return radix;
}

TB_FN uint32_t tb_tossed(const struct tb_grid *g, uint32_t step, uint32_t column,
                         uint32_t inputs[TB_MAX_INPUTS])
{
    uint32_t around = tb_around(g, column, g->radix / 2, (g->radix - 1) / 2, inputs), count = 0;
    uint64_t coins = tb_random(g, step, column);

    for (uint32_t k = 0; k < around; k++)
        if (inputs[k] == column || (coins >> k & 1))
            inputs[count++] = inputs[k];
    return count;
}

/* Writes the columns of the row before that a task reads, none twice; returns how many. */
TB_FN uint32_t tb_inputs(const struct tb_grid *g, uint32_t step, uint32_t column,
                         uint32_t inputs[TB_MAX_INPUTS])
{
    if (step == 0)
        return 0;
    switch ((enum tb_pattern)g->pattern) {
    case TB_NO_COMM:
        return tb_range(column, column, inputs);
    case TB_STENCIL:
        return tb_around(g, column, 1, 1, inputs);
    case TB_SWEEP:
        return tb_around(g, column, 1, 0, inputs);
    case TB_FFT:
        return tb_fft(g, step, column, inputs);
    case TB_TREE:
        return tb_range(column / 2, column / 2, inputs);
    case TB_NEAREST:
        return tb_around(g, column, g->radix / 2, (g->radix - 1) / 2, inputs);
    case TB_SPREAD:
        return tb_spread(g, step, column, inputs);
    case TB_RANDOM:
        return tb_tossed(g, step, column, inputs);
    default:
        return 0;
    }
}

/* ---- a task ---------------------------------------------------------------------------- */

/* Begins a task: it may read its inputs now. False if the planted fault is that it never runs. */
TB_FN bool tb_begin(const struct tb_grid *g, uint32_t step, uint32_t column, struct tb_cell *cell)
{
    bool planted = g->plant != TB_PLANT_NOTHING && step == 1 && column == 0;

    if (planted && g->plant == TB_PLANT_LOST)
        return false;
    cell->runs += planted && g->plant == TB_PLANT_TWICE ? 2 : 1;
    cell->step = step;
    cell->column = planted && g->plant == TB_PLANT_VALUE ? column + 1 : column;
    return true;
}

/* Checks one input: `expected` is its column. */
TB_FN void tb_check_input(struct tb_cell *cell, const struct tb_cell *input, uint32_t expected)
{
    if (input->step != cell->step - 1 || input->column != expected || input->runs != cell->runs)
        cell->errors++;
}

#endif
