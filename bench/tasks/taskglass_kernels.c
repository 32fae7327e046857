/* SPDX-License-Identifier: Apache-2.0 */
/* The benchmark's tasks on Taskglass: an empty one to time, and one that checks its order. */
#include "../kernels_only.h"

#include "taskglass_kernels.h"

TG_KERNEL(empty)
{
    (void)ctx;
}

/* Like bench_cell_mark, with the marks in device memory: tensor 0 holds the round, the number of
 * faults, and then how often each task has run. */
TG_KERNEL(mark)
{
    uint64_t *marks = TG_ARG(ctx, 0, uint64_t);
    uint64_t *runs = marks + MARKS_HEAD;
    uint64_t task = tg_arg_bits(ctx, 0);
    uint64_t preds[SHAPE_MAX_PREDS];
    int count = shape_preds((enum shape)tg_arg_bits(ctx, 1), task, preds);
    int good = 1;

    for (int k = 0; k < count; k++)
        good &= __atomic_load_n(&runs[preds[k]], __ATOMIC_ACQUIRE) == marks[MARKS_ROUND];
    good &= __atomic_add_fetch(&runs[task], 1, __ATOMIC_RELEASE) == marks[MARKS_ROUND];
    if (!good)
        __atomic_add_fetch(&marks[MARKS_FAULTS], 1, __ATOMIC_RELAXED);
}

/* A task whose only arguments are cells: all cells of its predecessors must hold this round
 * already. */
TG_KERNEL(check_first)
{
    *TG_ARG(ctx, 0, uint64_t) = tg_arg_bits(ctx, 0);
}

TG_KERNEL(check_next)
{
    const uint64_t *before = TG_ARG(ctx, 0, const uint64_t);
    uint64_t round = tg_arg_bits(ctx, 0), cell = round;

    for (int64_t k = 0; k < tg_arg_numel(ctx, 0); k++)
        if (before[k] != round)
            cell = CELL_TOO_EARLY;
    *TG_ARG(ctx, 1, uint64_t) = cell;
}

/* Like tg_tensor_slice, but in place, as a loop that makes millions of views would do it. */
static void put_cells(struct tg_args *task, enum tg_role role, const struct tg_tensor *cells,
                      uint64_t first, uint64_t count)
{
    struct tg_tensor *view = &task->tensor[task->n_tensors];

    tg_args_put(task, role, cells);
    view->start = (int64_t)first;
    view->shape[0] = (int64_t)count;
}

/* The predecessors of a task are adjacent in every shape, so one view covers them all. */
static void submit_task(struct tg_rt *rt, const struct tg_args *args, uint64_t i)
{
    uint64_t preds[SHAPE_MAX_PREDS], round = args->scalar[ARG_ROUND].bits;
    int count = shape_preds((enum shape)args->scalar[ARG_SHAPE].bits, i, preds);
    struct tg_args task;
    uint32_t kernel = count > 0 ? KERNEL_NEXT : KERNEL_FIRST;

    tg_args_init(&task);
    if (count > 0)
        put_cells(&task, TG_IN, &args->tensor[0], preds[0], (uint64_t)count);
    put_cells(&task, TG_OUT, &args->tensor[0], i, 1);
    if (args->scalar[ARG_EXPLICIT].bits) /* one ring, so that a task's number is its id */
        tg_args_after_all(&task, preds, (uint32_t)count);
    if (round) {
        tg_args_u64(&task, round);
        kernel += KERNEL_FIRST_CHECKED - KERNEL_FIRST;
    }
    tg_submit(rt, kernel, &task);
}

/* Names the edges, or leaves it to the runtime to find them (ARG_EXPLICIT). */
static void orchestrate(struct tg_rt *rt, const struct tg_args *args)
{
    uint64_t tasks = args->scalar[ARG_TASKS].bits, scope = args->scalar[ARG_SCOPE].bits;

    for (uint64_t i = 0; i < tasks; i += scope)
        TG_SCOPE(rt) {
            for (uint64_t k = i; k < i + scope && k < tasks; k++)
                submit_task(rt, args, k);
        }
}

static const struct tg_kernel_def kernels[] = {
    [KERNEL_EMPTY] = {"empty", empty, TG_AIV, ""},
    [KERNEL_MARK] = {"mark", mark, TG_AIV, "inout:uint64 scalar:uint64 scalar:uint64"},
    [KERNEL_EMPTY_AIC] = {"empty_aic", empty, TG_AIC, ""},
    [KERNEL_MARK_AIC] = {"mark_aic", mark, TG_AIC, "inout:uint64 scalar:uint64 scalar:uint64"},
    [KERNEL_FIRST] = {"first", empty, TG_AIV, "out:uint64"},
    [KERNEL_NEXT] = {"next", empty, TG_AIV, "in:uint64 out:uint64"},
    [KERNEL_FIRST_CHECKED] = {"first_checked", check_first, TG_AIV, "out:uint64 scalar:uint64"},
    [KERNEL_NEXT_CHECKED] = {"next_checked", check_next, TG_AIV,
                             "in:uint64 out:uint64 scalar:uint64"},
};

BENCH_KERNELS("bench_tasks", "empty tasks, for bench/tasks", kernels, orchestrate);
