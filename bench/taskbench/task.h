/* SPDX-License-Identifier: Apache-2.0 */
/* What a task does besides the check of its inputs. */
#ifndef BENCH_TASKBENCH_TASK_H
#define BENCH_TASKBENCH_TASK_H

#include "grid.h"
#include "work.h"

/* The rest of the task, once all inputs are checked. */
static inline void tb_work_task(const struct tb_grid *g, struct tb_cell *cell, uint32_t step,
                                uint32_t column)
{
    if (!tb_work(tb_iterations(g, step, column)))
        cell->errors++;
}

/* A whole task of a peer, whose cells are an array of rows. */
static inline void tb_task(const struct tb_grid *g, struct tb_cell *cells, uint32_t step,
                           uint32_t column)
{
    struct tb_cell *row = cells + (uint64_t)step * g->width;
    uint32_t inputs[TB_MAX_INPUTS], count = tb_inputs(g, step, column, inputs);

    if (!tb_begin(g, step, column, &row[column]))
        return;
    for (uint32_t k = 0; k < count; k++)
        tb_check_input(&row[column], row - g->width + inputs[k], inputs[k]);
    tb_work_task(g, &row[column], step, column);
}

#endif
