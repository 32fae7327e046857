/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the functions of taskglass/math.h should compute, by libm in more precision, and how far a
 * result is from it. For C, C++ and CUDA.
 */
#ifndef TASKGLASS_TEST_MATH_REFERENCE_H
#define TASKGLASS_TEST_MATH_REFERENCE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct math_function {
    const char *name;
    double (*exact_f32)(double);           /* good to 2^-44 */
    long double (*exact_f64)(long double); /* good to 2^-60 */
    double low, high;                      /* between these, float64 has something to show */
    double (*bound_f32)(void);             /* in ulp, as math.h states it */
    double (*bound_f64)(void);
};

/* In the order of TG_MATH_MAP. */
extern const struct math_function math_functions[];
extern const int math_function_count;

/* The distance from the exact value, in ulp of the exact value; huge if one is NaN. Infinity counts
 * as the number after the largest. */
double math_ulp_f32(float got, double exact);
double math_ulp_f64(double got, long double exact);

/* The next of a series of random numbers. */
uint64_t math_random(uint64_t *state);

/* Argument i of a series: first hard ones, then random ones. */
double math_hard_f64(const struct math_function *f, uint64_t i, uint64_t *state);

/* A pair for pow. Most have results that neither overflow nor underflow. */
void math_pair_f32(uint64_t *state, float *x, float *y);
void math_pair_f64(uint64_t *state, double *x, double *y);

/* What pow should give for the pair i of all pairs of special values; false if there is none. */
int math_special_pair(int i, double *x, double *y);

#ifdef __cplusplus
}
#endif

#endif
