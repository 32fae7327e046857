/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times loops over the functions of taskglass/math.h beside the same loops over libm's, which call
 * one function an element. Prints for each: name, type, ns an element of ours and of libm's, the
 * smallest of several rounds that take turns. sigmoid, gelu and rsqrt are written with libm's exp,
 * erf and sqrt, as people do.
 */
#define _POSIX_C_SOURCE 200809L
#include "ranges.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <taskglass/math.h>
#include <time.h>

enum { N = 4096, REPEATS = 4, ROUNDS = 300 };

static float libm_rsqrt_f32(float x)
{
    return 1 / sqrtf(x);
}
static double libm_rsqrt_f64(double x)
{
    return 1 / sqrt(x);
}
static float libm_sigmoid_f32(float x)
{
    return 1 / (1 + expf(-x));
}
static double libm_sigmoid_f64(double x)
{
    return 1 / (1 + exp(-x));
}
static float libm_gelu_f32(float x)
{
    return x / 2 * (1 + erff(x * 0.70710678f));
}
static double libm_gelu_f64(double x)
{
    return x / 2 * (1 + erf(x * 0.70710678118654752));
}
static float libm_gelu_tanh_f32(float x)
{
    return x / 2 * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}
static double libm_gelu_tanh_f64(double x)
{
    return x / 2 * (1 + tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
}
#define libm_exp_f32 expf
#define libm_exp_f64 exp
#define libm_exp2_f32 exp2f
#define libm_exp2_f64 exp2
#define libm_log_f32 logf
#define libm_log_f64 log
#define libm_log2_f32 log2f
#define libm_log2_f64 log2
#define libm_sqrt_f32 sqrtf
#define libm_sqrt_f64 sqrt
#define libm_tanh_f32 tanhf
#define libm_tanh_f64 tanh
#define libm_erf_f32 erff
#define libm_erf_f64 erf
#define libm_sin_f32 sinf
#define libm_sin_f64 sin
#define libm_cos_f32 cosf
#define libm_cos_f64 cos

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define LOOP(prefix, name, suffix, type)                                   \
    static __attribute__((noinline)) void prefix##_##name##_loop_##suffix( \
        int64_t n, const type *TG_RESTRICT x, type *TG_RESTRICT y)         \
    {                                                                      \
        TG_FOR(i, n)                                                       \
            y[i] = prefix##_##name##_##suffix(x[i]);                       \
    }
#define TIME(suffix, type)                                                                 \
    typedef void (*loop_##suffix)(int64_t, const type *, type *);                          \
    static double time_##suffix(loop_##suffix loop, const type *x, type *y)                \
    {                                                                                      \
        double begin = now();                                                              \
        for (int i = 0; i < REPEATS; i++) {                                                \
            loop(N, x, y);                                                                 \
            __asm__ volatile("" ::: "memory");                                             \
        }                                                                                  \
        return (now() - begin) / ((double)REPEATS * N);                                    \
    }                                                                                      \
    static void measure_##suffix(const char *name, loop_##suffix ours, loop_##suffix peer, \
                                 double low, double high)                                  \
    {                                                                                      \
        static type x[N], y[N];                                                            \
        double best = 1e9, best_peer = 1e9;                                                \
        for (int i = 0; i < N; i++)                                                        \
            x[i] = (type)(low + (high - low) * ((i * 2654435761u) % 65536 + 0.5) / 65536); \
        for (int round = 0; round < ROUNDS; round++) {                                     \
            double mine = time_##suffix(ours, x, y), other = time_##suffix(peer, x, y);    \
            best = mine < best ? mine : best;                                              \
            best_peer = other < best_peer ? other : best_peer;                             \
        }                                                                                  \
        printf("%s %s %.3f %.3f\n", name, #suffix, best, best_peer);                       \
    }
TIME(f32, float)
TIME(f64, double)

#define LOOPS(name, ulp32, ulp64) \
    LOOP(tg, name, f32, float)    \
    LOOP(libm, name, f32, float)  \
    LOOP(tg, name, f64, double)   \
    LOOP(libm, name, f64, double)
TG_MATH_MAP(LOOPS)

/* pow with exponents that differ. */
#define POW_LOOP(prefix, suffix, type, call)                          \
    static __attribute__((noinline)) void prefix##_pow_loop_##suffix( \
        int64_t n, const type *TG_RESTRICT x, type *TG_RESTRICT y)    \
    {                                                                 \
        TG_FOR(i, n)                                                  \
            y[i] = call(x[i], x[n - 1 - i] * (type)0.125 - 3);        \
    }
POW_LOOP(tg, f32, float, tg_pow_f32)
POW_LOOP(libm, f32, float, powf)
POW_LOOP(tg, f64, double, tg_pow_f64)
POW_LOOP(libm, f64, double, pow)

#define MEASURE(name, ulp32, ulp64)                                                       \
    measure_f32(#name, tg_##name##_loop_f32, libm_##name##_loop_f32, BENCH_RANGE_##name); \
    measure_f64(#name, tg_##name##_loop_f64, libm_##name##_loop_f64, BENCH_RANGE_##name);

int main(void)
{
    TG_MATH_MAP(MEASURE)
    measure_f32("pow", tg_pow_loop_f32, libm_pow_loop_f32, BENCH_RANGE_log);
    measure_f64("pow", tg_pow_loop_f64, libm_pow_loop_f64, BENCH_RANGE_log);
    return 0;
}
