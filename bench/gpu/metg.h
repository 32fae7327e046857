/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grids of Task Bench on a GPU, and what a task does: check what it reads, be busy for some ticks of
 * its core's clock, write who it is. Kernels of Taskglass and of CUDA include it, and the host programs.
 *
 * Patterns are those of ../taskbench/grid.h, and one more:
 *
 *   fan   groups of 16 columns. In odd rows all columns of a group read its first one (1→16); in even
 *         rows the first column reads all of them (16→1). All columns read their own.
 *
 * So every row has as many tasks as there are cores, and a graph could keep all of them busy.
 */
#ifndef BENCH_GPU_METG_H
#define BENCH_GPU_METG_H

#include "../taskbench/grid.h"

enum { METG_FAN = TB_PATTERN_COUNT, METG_GROUP = 16, METG_MAX_INPUTS = METG_GROUP };

/* In device memory; the host writes it before each run. */
struct metg_settings {
    uint64_t ticks; /* that a task takes */
    uint64_t round; /* runs of this graph, the next one included */
};

#if defined(__CUDACC__)
#define METG_FN static inline __device__

/* Cycles of the multiprocessor: the clock in nanoseconds is too coarse. */
METG_FN uint64_t metg_ticks(void)
{
    uint64_t now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
    return now;
}

METG_FN uint64_t metg_nanoseconds(void)
{
    uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}
#else
#define METG_FN static inline
uint64_t metg_ticks(void); /* metg_workload.c */
uint64_t metg_nanoseconds(void);
#endif

METG_FN void metg_spin(uint64_t ticks)
{
    uint64_t began = metg_ticks();
    while (metg_ticks() - began < ticks) {
    }
}

/* Writes how long `ticks` of the core's clock take: ticks, nanoseconds. */
METG_FN void metg_time_ticks(uint64_t ticks, uint64_t out[2])
{
    uint64_t began = metg_nanoseconds(), first = metg_ticks();
    metg_spin(ticks);
    out[0] = metg_ticks() - first;
    out[1] = metg_nanoseconds() - began;
}

TB_FN uint32_t metg_fan(const struct tb_grid *g, uint32_t step, uint32_t column,
                        uint32_t inputs[METG_MAX_INPUTS])
{
    uint32_t first = column / METG_GROUP * METG_GROUP, last = first + METG_GROUP - 1;

    if (step % 2 == 0 && column == first)
        return tb_range(first, last < g->width ? last : g->width - 1, inputs);
    inputs[0] = first;
    inputs[1] = column;
    if (step % 2 == 1 && column != first)
        return 2;
    inputs[0] = column;
    return 1;
}

/* Writes the columns of the row before that a task reads, in rising order; returns how many. */
TB_FN uint32_t metg_inputs(const struct tb_grid *g, uint32_t step, uint32_t column,
                           uint32_t inputs[METG_MAX_INPUTS])
{
    if (g->pattern != METG_FAN)
        return tb_inputs(g, step, column, inputs);
    return step > 0 ? metg_fan(g, step, column, inputs) : 0;
}

/* Checks one input: it must have run once in every round, this one included. Several threads may find
 * a wrong input of the same task: they store the same. */
METG_FN void metg_check(struct tb_cell *own, const struct tb_cell *input, uint32_t step,
                        uint32_t column, uint64_t round)
{
    if (input->step != step || input->column != column || input->runs != round)
        own->errors = 1;
}

/* Ends a task; one thread calls it. The cell is written last, so that a task that starts too early
 * finds the cell of the round before. */
METG_FN void metg_finish(const struct tb_grid *g, struct tb_cell *own, uint32_t step,
                         uint32_t column, uint64_t ticks)
{
    struct tb_cell cell = *own;

    metg_spin(ticks);
    if (!tb_begin(g, step, column, &cell))
        return;
    own->step = cell.step;
    own->column = cell.column;
    own->runs = cell.runs;
}

#endif
