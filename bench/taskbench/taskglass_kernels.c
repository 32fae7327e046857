/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks and the graph on Taskglass; one orchestration for all three runtimes. */
#include "../kernels_only.h"

#include "taskglass_kernels.h"

/* The cells of the inputs are the first tensors, its own is the last. */
TG_KERNEL(task)
{
    uint64_t place = tg_arg_bits(ctx, TASK_PLACE);
    uint32_t step = (uint32_t)(place >> 32), column = (uint32_t)place;
    struct tb_grid g =
        tb_grid_unpack(tg_arg_bits(ctx, TASK_GRID), 0, (uint32_t)tg_arg_bits(ctx, TASK_ITERATIONS));
    uint32_t inputs[TB_MAX_INPUTS], count = tb_inputs(&g, step, column, inputs);
    struct tb_cell *cell = TG_ARG(ctx, ctx->n_tensors - 1, struct tb_cell);

    if (!tb_begin(&g, step, column, cell))
        return;
    if (ctx->n_tensors != count + 1)
        cell->errors++;
    for (uint32_t k = 0; k < count && k + 1 < ctx->n_tensors; k++)
        tb_check_input(cell, TG_ARG(ctx, k, const struct tb_cell), inputs[k]);
    tb_work_task(&g, cell, step, column);
}

/* Like tg_tensor_slice, but in place, as a loop that makes millions of views would do it. */
static void put_cell(struct tg_args *task, enum tg_role role, const struct tg_tensor *cells,
                     uint64_t cell)
{
    struct tg_tensor *view = &task->tensor[task->n_tensors];

    tg_args_put(task, role, cells);
    view->start = (int64_t)(cell * TB_CELL_WORDS);
    view->shape[0] = TB_CELL_WORDS;
}

struct plan {
    struct tb_grid grid;
    uint64_t packed;
    const struct tg_tensor *cells;
    bool edges; /* name them: the runtime does not find them itself */
};

/* `before` has the ids of the row before. */
static uint64_t submit_task(struct tg_rt *rt, const struct plan *p, uint32_t step, uint32_t column,
                            const uint64_t *before)
{
    uint32_t inputs[TB_MAX_INPUTS], count = tb_inputs(&p->grid, step, column, inputs);
    uint64_t row = (uint64_t)step * p->grid.width;
    struct tg_args task;

    tg_args_init(&task);
    for (uint32_t k = 0; k < count; k++) {
        put_cell(&task, TG_IN, p->cells, row - p->grid.width + inputs[k]);
        if (p->edges)
            tg_args_after(&task, before[inputs[k]]);
    }
    put_cell(&task, TG_INOUT, p->cells, row + column);
    tg_args_u64(&task, (uint64_t)step << 32 | column);
    tg_args_u64(&task, p->packed);
    tg_args_u64(&task, p->grid.iterations);
    return tg_submit(rt, 0, &task);
}

/* Scopes of some rows each, because a ring can free what belongs to a scope only when it has ended. */
static void orchestrate(struct tg_rt *rt, const struct tg_args *args)
{
    uint64_t ids[2][TB_MAX_WIDTH];
    struct plan p;
    uint32_t rows;

    p.packed = args->scalar[ARG_GRID].bits;
    p.grid = tb_grid_unpack(p.packed, (uint32_t)args->scalar[ARG_STEPS].bits,
                            (uint32_t)args->scalar[ARG_ITERATIONS].bits);
    p.cells = &args->tensor[0];
    p.edges = args->scalar[ARG_EDGES].bits != 0;
    rows = SCOPE_TASKS / p.grid.width;
    for (uint32_t first = 0; first < p.grid.steps; first += rows)
        TG_SCOPE(rt) {
            for (uint32_t t = first; t < first + rows && t < p.grid.steps; t++)
                for (uint32_t i = 0; i < tb_row(&p.grid, t); i++)
                    ids[t % 2][i] = submit_task(rt, &p, t, i, ids[(t + 1) % 2]);
        }
}

static const struct tg_kernel_def kernels[] = {{"task", task, TG_AIV, NULL}};

BENCH_KERNELS("bench_taskbench", "tasks that check their inputs, for bench/taskbench", kernels,
              orchestrate);
