/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks of the benchmark on Taskglass: an empty one to time, and one that checks its turn. */
#include "../kernels_only.h"

#include "taskglass_kernels.h"

TG_KERNEL(empty)
{
    (void)ctx;
}

/* As bench_cell_mark, with the marks in device memory: tensor 0 holds the round, the number of
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

static const struct tg_kernel_def kernels[] = {
    {"empty", empty, TG_AIV, NULL},
    {"mark", mark, TG_AIV, "inout:uint64 scalar:uint64 scalar:uint64"},
};

BENCH_KERNELS_ONLY("bench_tasks", "empty tasks, for bench/tasks", kernels);
