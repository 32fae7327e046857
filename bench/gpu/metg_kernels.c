/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks and the graph on Taskglass; one orchestration for all three runtimes. */
#include "metg_kernels.h"

/* The first tensors are the cells that it reads, adjacent ones in one tensor; the last is its own.
 * Each thread checks one cell of each tensor. */
TG_INLINE int64_t inputs_of(const struct tg_ctx *ctx, uint32_t tensor)
{
    return tg_arg_numel(ctx, tensor) / TB_CELL_WORDS;
}

TG_FN static inline void run_task(const struct tg_ctx *ctx)
{
    const struct metg_settings *s =
        TG_DEVICE_PTR(const struct metg_settings, tg_arg_bits(ctx, TASK_SETTINGS));
    uint64_t place = tg_arg_bits(ctx, TASK_PLACE), round = s->round, ticks = s->ticks;
    uint32_t step = (uint32_t)(place >> 32), column = (uint32_t)place, own = ctx->n_tensors - 1;
    struct tb_grid g = tb_grid_unpack(tg_arg_bits(ctx, TASK_GRID), 0, 0);
    uint32_t inputs[METG_MAX_INPUTS], count, before = 0;
    struct tb_cell *cell = TG_ARG(ctx, own, struct tb_cell);

    if (TG_THREAD_ID >= METG_MAX_INPUTS)
        return;
    count = metg_inputs(&g, step, column, inputs);
    for (uint32_t t = 0; t < own; t++) {
        const struct tb_cell *read = TG_ARG(ctx, t, const struct tb_cell);
        int64_t cells = inputs_of(ctx, t);
        TG_FOR(k, cells)
            if (before + k < count)
                metg_check(cell, &read[k], step - 1, inputs[before + k], round);
        before += (uint32_t)cells;
    }
    TG_FOR(once, 1) {
        if (before != count)
            cell->errors = 1;
        metg_finish(&g, cell, step, column, ticks);
    }
}

TG_KERNEL(metg_task)
{
    run_task(ctx);
}

TG_KERNEL(metg_task_aic)
{
    run_task(ctx);
}

TG_KERNEL(metg_clock)
{
    TG_FOR(once, 1)
        metg_time_ticks(tg_arg_bits(ctx, 0), TG_ARG(ctx, 0, uint64_t));
}

/* ── the graph ─────────────────────────────────────────────────────────────────────────── */

struct plan {
    struct tb_grid grid;
    uint64_t packed, settings;
    const struct tg_tensor *cells;
    bool edges; /* name them: the runtime does not find them itself */
};

/* Like tg_tensor_slice, but in place, as a loop that makes many views would do it. */
TG_FN static void put_cells(struct tg_args *task, enum tg_role role, const struct tg_tensor *cells,
                            uint64_t first, uint32_t count)
{
    struct tg_tensor *view = &task->tensor[task->n_tensors];

    tg_args_put(task, role, cells);
    view->start = (int64_t)(first * TB_CELL_WORDS);
    view->shape[0] = (int64_t)count * TB_CELL_WORDS;
}

/* The inputs of a task, adjacent ones as one view. `row` is the first cell of the row before, and
 * `before` has the ids of its tasks. */
TG_FN static void put_inputs(const struct plan *p, struct tg_args *task, const uint32_t *inputs,
                             uint32_t count, uint64_t row, const uint64_t *before)
{
    for (uint32_t k = 0, end; k < count; k = end) {
        for (end = k + 1; end < count && inputs[end] == inputs[end - 1] + 1;)
            end++;
        put_cells(task, TG_IN, p->cells, row + inputs[k], end - k);
    }
    if (p->edges)
        for (uint32_t k = 0; k < count; k++)
            tg_args_after(task, before[inputs[k]]);
}

/* Every third column is for matrix cores, because a third of the cores are matrix cores. */
TG_FN static uint64_t submit_task(struct tg_rt *rt, const struct plan *p, uint32_t step,
                                  uint32_t column, const uint64_t *before)
{
    uint32_t inputs[METG_MAX_INPUTS], count = metg_inputs(&p->grid, step, column, inputs);
    uint64_t row = (uint64_t)step * p->grid.width;
    struct tg_args task;

    tg_args_init(&task);
    put_inputs(p, &task, inputs, count, row - p->grid.width, before);
    put_cells(&task, TG_INOUT, p->cells, row + column, 1);
    tg_args_u64(&task, (uint64_t)step << 32 | column);
    tg_args_u64(&task, p->packed);
    tg_args_u64(&task, p->settings);
    return tg_submit(rt, column % 3 == 0 ? METG_TASK_AIC : METG_TASK, &task);
}

/* Scopes of some rows each, because a ring can free what belongs to a scope only when it has ended. */
TG_ORCHESTRATION(metg_orchestrate)
{
    uint64_t ids[2][TB_MAX_WIDTH];
    struct plan p;
    uint32_t rows;

    p.packed = args->scalar[ARG_GRID].bits;
    p.grid = tb_grid_unpack(p.packed, (uint32_t)args->scalar[ARG_STEPS].bits, 0);
    p.settings = args->scalar[ARG_SETTINGS].bits;
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
