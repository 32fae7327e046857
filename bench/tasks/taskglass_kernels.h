/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions that the benchmark and its kernels share. */
#ifndef BENCH_TASKGLASS_KERNELS_H
#define BENCH_TASKGLASS_KERNELS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "shapes.h"

/* The first words of the marks, before one word per task. */
enum { MARKS_ROUND = 0, MARKS_FAULTS = 1, MARKS_HEAD = 2 };

enum {
    KERNEL_EMPTY,
    KERNEL_MARK,
    KERNEL_EMPTY_AIC, /* the same two for the other kind of core */
    KERNEL_MARK_AIC,
    KERNEL_FIRST, /* writes its cell */
    KERNEL_NEXT,  /* reads the cells of its predecessors, writes its own */
    KERNEL_FIRST_CHECKED,
    KERNEL_NEXT_CHECKED,
    KERNELS
};

/* The value of a cell whose task ran before its predecessors. */
#define CELL_TOO_EARLY UINT64_MAX

/* The orchestration's scalars. */
enum { ARG_SHAPE, ARG_TASKS, ARG_SCOPE, ARG_ROUND, ARG_EXPLICIT };

#endif
