/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions that the host's program and its kernels share. */
#ifndef BENCH_TASKBENCH_KERNELS_H
#define BENCH_TASKBENCH_KERNELS_H

#include "task.h"

/* Scalars of a task: step << 32 | column, tb_grid_pack, iterations. */
enum { TASK_PLACE, TASK_GRID, TASK_ITERATIONS };

/* Scalars of the orchestration. */
enum { ARG_GRID, ARG_STEPS, ARG_ITERATIONS, ARG_EDGES };

/* Tasks in a scope, at most, and no fewer than a row. */
enum { SCOPE_TASKS = 1024 };

#endif
