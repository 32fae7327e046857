/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions that the programs of this benchmark share with its kernels. */
#ifndef BENCH_GPU_KERNELS_H
#define BENCH_GPU_KERNELS_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

/* _AIC: the same for matrix cores; there is one for every two vector cores. */
enum {
    KERNEL_EMPTY,
    KERNEL_EMPTY_AIC,
    KERNEL_FIRST,      /* an empty task that writes its cell */
    KERNEL_NEXT,       /* the same, and reads the cells of its predecessors */
    KERNEL_MARK_FIRST, /* the same two, but they record in which round they ran */
    KERNEL_MARK_NEXT,
    KERNEL_COPY,
    KERNEL_COPY_AIC,
    KERNELS
};

/* The value of a cell whose task ran before its predecessors, or twice in a round. */
#define CELL_FAULT UINT64_MAX

/* The scalars of the orchestration. Round 0: nothing is marked. */
enum { ARG_SHAPE, ARG_TASKS, ARG_SCOPE, ARG_ROUND, ARG_EXPLICIT };

TG_KERNEL(gpu_empty);
TG_KERNEL(gpu_empty_aic);
TG_KERNEL(gpu_first);
TG_KERNEL(gpu_next);
TG_KERNEL(gpu_mark_first);
TG_KERNEL(gpu_mark_next);
TG_KERNEL(gpu_copy);
TG_KERNEL(gpu_copy_aic);
TG_ORCHESTRATION(gpu_orchestrate);

#endif
