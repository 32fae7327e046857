/* SPDX-License-Identifier: Apache-2.0 */
/* Over which arguments the functions of taskglass/math.h are timed: usual ones. */
#ifndef BENCH_MATH_RANGES_H
#define BENCH_MATH_RANGES_H

#define BENCH_RANGE_exp -20, 20
#define BENCH_RANGE_exp2 -20, 20
#define BENCH_RANGE_log 0.01, 100
#define BENCH_RANGE_log2 0.01, 100
#define BENCH_RANGE_sqrt 0.01, 100
#define BENCH_RANGE_rsqrt 0.01, 100
#define BENCH_RANGE_tanh -4, 4
#define BENCH_RANGE_erf -4, 4
#define BENCH_RANGE_sin -100, 100
#define BENCH_RANGE_cos -100, 100
#define BENCH_RANGE_sigmoid -8, 8
#define BENCH_RANGE_gelu -6, 6
#define BENCH_RANGE_gelu_tanh -6, 6

#endif
