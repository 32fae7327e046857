/* SPDX-License-Identifier: Apache-2.0 */
/* What a task computes. One object file for all programs, so that they all run the same instructions. */
#ifndef BENCH_TASKBENCH_WORK_H
#define BENCH_TASKBENCH_WORK_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TB_LANES = 16, TB_FLOPS = 2 * TB_LANES }; /* of one iteration */

/* Multiplies and adds in registers. False if the result is wrong. */
bool tb_work(uint32_t iterations);

#ifdef __cplusplus
}
#endif
#endif
