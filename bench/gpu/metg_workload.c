/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel table, for the host, and the clock of simulated cores. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "../kernels_only.h"

#include "metg_kernels.h"

uint64_t metg_nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t metg_ticks(void)
{
    return metg_nanoseconds();
}

static const struct tg_kernel_def kernels[METG_KERNELS] = {
    [METG_TASK] = {"metg_task", metg_task, TG_AIV, NULL},
    [METG_TASK_AIC] = {"metg_task_aic", metg_task_aic, TG_AIC, NULL},
    [METG_CLOCK] = {"metg_clock", metg_clock, TG_AIV, "out:uint64 scalar:uint64"},
};

BENCH_KERNELS("bench_gpu_metg", "tasks that check their inputs and take some time, for bench/gpu",
              kernels, metg_orchestrate);
