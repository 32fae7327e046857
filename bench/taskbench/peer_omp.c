/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenMP tasks with depend clauses, for any OpenMP runtime: BENCH_OMP_NAME says which.
 *
 * One thread creates all tasks while the others run them. OpenMP keeps no graph, so a repeated run
 * creates them again.
 */
#include "harness.h"

#include <omp.h>
#include <stddef.h>

/* The dependencies are the cells themselves. */
static void create(const struct tb_case *c, uint32_t step, uint32_t column)
{
    const struct tb_grid *g = &c->grid;
    struct tb_cell *row = c->cells + (uint64_t)step * g->width;
    struct tb_cell *before = step > 0 ? row - g->width : row;
    uint32_t inputs[TB_MAX_INPUTS], count = tb_inputs(g, step, column, inputs);

    (void)before; /* gcc does not count a depend clause as a use */
    (void)count;
#pragma omp task depend(iterator(k = 0 : count), in : before[inputs[k]]) depend(inout : row[column])
    tb_task(&c->grid, c->cells, step, column);
}

static void create_all(const struct tb_case *c)
{
    for (uint32_t step = 0; step < c->grid.steps; step++)
        for (uint32_t column = 0; column < tb_row(&c->grid, step); column++)
            create(c, step, column);
}

static void run(struct tb_case *c, void *opened)
{
    (void)opened;
#pragma omp parallel num_threads(c->workers)
#pragma omp single
    create_all(c);
}

/* Starts the threads: a first run is about the graph. */
static void *open_team(struct tb_case *c)
{
    int threads = 0;

    omp_set_dynamic(0);
#pragma omp parallel num_threads(c->workers) reduction(+ : threads)
    threads++;
    return NULL;
}

static void close_team(void *opened)
{
    (void)opened;
}

int main(int argc, char **argv)
{
    static const struct tb_system system = {BENCH_OMP_NAME, open_team, run, run, NULL, close_team};

    return tb_main(&system, 1, argc, argv);
}
