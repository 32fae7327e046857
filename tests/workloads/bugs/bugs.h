/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small pipeline, built once without a bug and once with each planted bug: BUG is one of the
 * names below. Every step s does
 *
 *     scale      a = k · x                      window     b = neighbours of a, summed
 *     mix_up     c = aᵀ + b (as 16 × 16)        subtract   d = c - a
 *     add_up     total += d                     halve      h = float16(d)
 *     ratio      r = d / b                      quantize   q = int32(100·d + r)
 *
 * and the bug is in one task of step PLANTED. r and d are adjacent in memory.
 */
#ifndef BUGS_H
#define BUGS_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

#define BUG_NONE 0
#define BUG_OFF_BY_ONE 1
#define BUG_WRONG_STRIDE 2
#define BUG_SWAPPED 3
#define BUG_STALE_SCALAR 4
#define BUG_MISSING_EDGE 5
#define BUG_STRAY_WRITE 6
#define BUG_UNWRITTEN 7
#define BUG_OVERFLOW 8
#define BUG_NAN 9
#define BUG_WRONG_CAST 10
#define BUG_LOST_UPDATE 11
#define BUG_ORDER_DRIFT 12

#ifndef BUG
#define BUG BUG_NONE
#endif

enum { SIDE = 16, N = SIDE * SIDE, STEPS = 5, PLANTED = 3 };

enum { SCALE, WINDOW, MIX_UP, SUBTRACT, ADD_UP, HALVE, RATIO, QUANTIZE, BUGS_KERNELS };

TG_KERNEL(scale);
TG_KERNEL(window);
TG_KERNEL(mix_up);
TG_KERNEL(subtract);
TG_KERNEL(add_up);
TG_KERNEL(halve);
TG_KERNEL(ratio);
TG_KERNEL(quantize);
TG_ORCHESTRATION(bugs);

/* True in the task with the bug; the step is an argument of every task. */
#define IS_PLANTED(ctx, scalar) (tg_arg_i64(ctx, scalar) == PLANTED)

#endif
