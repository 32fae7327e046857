/* SPDX-License-Identifier: Apache-2.0 */
/* What the benchmark and its kernels agree on. */
#ifndef BENCH_TASKGLASS_KERNELS_H
#define BENCH_TASKGLASS_KERNELS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "shapes.h"

/* The first words of the marks, before one word per task. */
enum { MARKS_ROUND = 0, MARKS_FAULTS = 1, MARKS_HEAD = 2 };

#endif
