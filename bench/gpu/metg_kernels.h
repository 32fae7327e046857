/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions that metg.c shares with its kernels. */
#ifndef BENCH_GPU_METG_KERNELS_H
#define BENCH_GPU_METG_KERNELS_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

#include "metg.h"

/* A task for a vector core, the same for a matrix core, and one that measures the core's clock. */
enum { METG_TASK, METG_TASK_AIC, METG_CLOCK, METG_KERNELS };

/* Scalars of a task: step << 32 | column, tb_grid_pack, the address of the settings. */
enum { TASK_PLACE, TASK_GRID, TASK_SETTINGS };

/* Scalars of the orchestration. */
enum { ARG_GRID, ARG_STEPS, ARG_SETTINGS, ARG_EDGES };

/* Tasks in a scope, at most, and no fewer than a row. */
enum { SCOPE_TASKS = 1024 };

TG_KERNEL(metg_task);
TG_KERNEL(metg_task_aic);
TG_KERNEL(metg_clock);
TG_ORCHESTRATION(metg_orchestrate);

#endif
