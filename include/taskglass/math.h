/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mathematical functions for kernels: exp, exp2, log, log2, sqrt, rsqrt (1/√x), tanh, erf, sin, cos, pow,
 * sigmoid, gelu and gelu_tanh, each as tg_NAME_f32 and tg_NAME_f64.
 *
 *     TG_FOR(i, n)
 *         y[i] = tg_gelu_f32(x[i]);
 *
 * The functions are inline and freestanding. They have no branches and need no table but one, so
 * that compilers vectorise such a loop: clang with -O2; gcc 12 and newer with -O3, and with
 * -fno-math-errno for sqrt and rsqrt. -march=native makes it several times as fast.
 *
 * Results. On every simulator they are the same bit for bit, with every compiler, optimisation and
 * machine. On a GPU they may differ from that, and keep the same bounds. A build with -ffast-math has
 * neither, nor has one that flushes subnormal numbers to zero; clang's -ffp-contract=fast is harmless.
 *
 * Errors. The largest distance from the exact value, in units of the last place of the exact value,
 * is stated in TG_MATH_MAP and below for pow. tests/math measures it: float32 on every float32 there
 * is, and pow on 2^32 pairs. tg_NAME_f32_ulp() and tg_NAME_f64_ulp() return it.
 *
 * Ends. Subnormal arguments and results are as exact as others. Too large a result is infinity, too
 * small a one is 0 or the smallest number; errno and exceptions play no role. NaN gives NaN, always
 * the positive quiet one without payload. As in C's annex F:
 *
 *                 -infinity   negative   -0          +0          +infinity
 *   exp, exp2     0                      1           1           infinity
 *   log, log2     NaN         NaN        -infinity   -infinity   infinity
 *   sqrt          NaN         NaN        -0          0           infinity
 *   rsqrt         NaN         NaN        -infinity   infinity    0
 *   tanh, erf     -1                     -0          0           1
 *   sin           NaN                    -0          0           NaN
 *   cos           NaN                    1           1           NaN
 *   sigmoid       0                      1/2         1/2         1
 *   gelu          -0                     -0          0           infinity
 *
 * sin and cos take radians, of any size. sigmoid(x) is 1 / (1 + e^-x). gelu(x) is the exact
 * x·(1 + erf(x/√2))/2, and gelu_tanh(x) its usual approximation
 * x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))). pow has all special cases of C's annex F: x^0 = 1^y = 1 even
 * for NaN, (-1)^±infinity = 1, NaN for a negative x and a y that is no integer.
 *
 * Most functions of float32 compute in float64 inside, which makes their results almost always the
 * nearest float32. exp and exp2 do not, for the sake of speed.
 */
#ifndef TASKGLASS_MATH_H
#define TASKGLASS_MATH_H

#include <taskglass/math/erf.h>
#include <taskglass/math/exp.h>
#include <taskglass/math/log.h>
#include <taskglass/math/pow.h>
#include <taskglass/math/trig.h>

/* Functions of one argument: name, largest error for float32 and for float64 in ulp. */
#define TG_MATH_MAP(X)     \
    X(exp, 0.9, 1.0)       \
    X(exp2, 0.9, 1.0)      \
    X(log, 0.501, 0.75)    \
    X(log2, 0.501, 0.8)    \
    X(sqrt, 0.5, 0.5)      \
    X(rsqrt, 0.501, 0.51)  \
    X(tanh, 0.501, 1.25)   \
    X(erf, 0.501, 1.5)     \
    X(sin, 0.51, 1.0)      \
    X(cos, 0.51, 1.0)      \
    X(sigmoid, 0.501, 1.0) \
    X(gelu, 0.501, 3.0)    \
    X(gelu_tanh, 0.501, 1.5)

/* tg_exp_f32_ulp() and so on; see above. */
#define TG_MATH_ULP_(name, f32, f64)           \
    TG_INLINE double tg_##name##_f32_ulp(void) \
    {                                          \
        return f32;                            \
    }                                          \
    TG_INLINE double tg_##name##_f64_ulp(void) \
    {                                          \
        return f64;                            \
    }
TG_MATH_MAP(TG_MATH_ULP_)
TG_MATH_ULP_(pow, 0.51, 1.0)

#endif
