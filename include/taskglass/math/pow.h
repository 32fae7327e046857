/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pow; see taskglass/math.h for its contract and bounds.
 *
 * |x|^y = 2^(y·log2|x|), and the error of the exponent is multiplied by up to 1074 in the result. For
 * float32 a double has bits enough. For float64 the logarithm is a sum of two doubles.
 */
#ifndef TASKGLASS_MATH_POW_H
#define TASKGLASS_MATH_POW_H

#include <taskglass/math/base.h>
#include <taskglass/math/exp.h>
#include <taskglass/math/log.h>

/* 1 if y is no integer, 2 if it is odd, 0 if it is even, as the large ones and infinity are. */
TG_MATH_INLINE double tg_math_parity(double y)
{
    double far = tg_math_abs_f64(y), half, whole;
    half = tg_math_select_f64(tg_math_is_below(far, 0x1p53), 0.5 * far, 0.0);
    whole = tg_math_select_f64(tg_math_is_below(far, 0x1p52), (far + 0x1p52) - 0x1p52, far);
    half = tg_math_select_f64(~tg_math_is_equal((half + 0x1p52) - 0x1p52, half), 2.0, 0.0);
    return tg_math_select_f64(~tg_math_is_equal(whole, far), 1.0, half);
}

/* 2^r for |r| <= 1/2, good to 2^-39. */
TG_MATH_INLINE double tg_math_exp2_short(double r)
{
    double q = tg_math_madd_f64(0x1.616ad35649bb4p-20, r, 0x1.00c5848c0ac51p-16);
    q = tg_math_madd_f64(q, r, 0x1.430ae8dd329cap-13);
    q = tg_math_madd_f64(q, r, 0x1.5d8770b599231p-10);
    q = tg_math_madd_f64(q, r, 0x1.3b2ab5dc687d1p-7);
    q = tg_math_madd_f64(q, r, 0x1.c6b08da6444a8p-5);
    q = tg_math_madd_f64(q, r, 0x1.ebfbdff8e0f77p-3);
    q = tg_math_madd_f64(q, r, 0x1.62e42fefa39efp-1);
    return tg_math_madd_f64(q, r, 1.0);
}

/*
 * The rules of C's annex F for what a power of |x| cannot tell: `y` is the sign of the result if x is
 * negative, NaN for a negative x and no integer, and NaN for NaN, except in 1^y and x^0.
 */
TG_MATH_INLINE double tg_math_power_sign(double x, double y, double parity)
{
    const double infinity = tg_math_infinity_f64();
    double sign = tg_math_select_f64(tg_math_is_equal(parity, 2.0), -1.0, 1.0);
    double other = tg_math_select_f64(tg_math_is_equal(x, -infinity), 1.0, tg_math_nan_f64());
    other = tg_math_select_f64(tg_math_is_zero(x), 1.0, other);
    sign = tg_math_select_f64(tg_math_is_equal(parity, 1.0), other, sign);
    sign = tg_math_select_f64(tg_math_is_negative(x), sign, 1.0);
    sign = tg_math_select_f64(tg_math_is_nan(x), tg_math_nan_f64(), sign);
    sign = tg_math_select_f64(tg_math_is_nan(y), tg_math_nan_f64(), sign);
    sign = tg_math_select_f64(tg_math_is_equal(x, 1.0), 1.0, sign);
    return tg_math_select_f64(tg_math_is_zero(y), 1.0, sign);
}

/* x^y. */
TG_MATH_INLINE float tg_pow_f32(float x, float y)
{
    const double infinity = tg_math_infinity_f64();
    double base = tg_math_abs_f64((double)x), at, k, power, sign;
    at = tg_math_log2_short(base);
    /* Any |log2 x| that is not 0 exceeds 2^-25, so that a larger y than this changes nothing. */
    at = tg_math_mul_f64(at, tg_math_clamp_f64((double)y, -0x1p40, 0x1p40));
    at = tg_math_clamp_f64(at, -300.0, 300.0);
    at = tg_math_select_f64(tg_math_is_zero(base), -tg_math_sign_f64(300.0, (double)y), at);
    at = tg_math_select_f64(tg_math_is_equal(base, infinity), tg_math_sign_f64(300.0, (double)y),
                            at);
    k = tg_math_round_f64(at);
    power = tg_math_mul_f64(tg_math_exp2_short(at - k), tg_math_power_f64(k));
    sign = tg_math_power_sign((double)x, (double)y, tg_math_parity((double)y));
    power = tg_math_select_f64(tg_math_is_negative(sign), -power, power);
    power = tg_math_select_f64(tg_math_is_equal((double)x, 1.0), 1.0, power);
    power = tg_math_select_f64(tg_math_is_zero((double)y), 1.0, power);
    return (float)tg_math_select_f64(tg_math_is_nan(sign), tg_math_nan_f64(), power);
}

/* log2 x as a sum, for finite x > 0: s·(2/ln 2 + z·(2/(3·ln 2) + z·T(z))), where z·T(z) and what is
 * below it is rounded; relative error some 2^-65. */
TG_MATH_INLINE struct tg_math_pair tg_math_log2_long(double x)
{
    struct tg_math_split in = tg_math_split_any(x);
    struct tg_math_pair s, z, c, sum;
    double t;
    s = tg_math_quotient(tg_math_single(in.f), tg_math_sum_ordered(2.0, in.f));
    z = tg_math_times(s, s);
    t = tg_math_madd_f64(0x1.623ca7fd570c3p-3, z.hi, 0x1.58f2be63c81ccp-3);
    t = tg_math_madd_f64(t, z.hi, 0x1.8a0a457dac03bp-3);
    t = tg_math_madd_f64(t, z.hi, 0x1.c68ee5338e71dp-3);
    t = tg_math_madd_f64(t, z.hi, 0x1.0c9a8543fbc89p-2);
    t = tg_math_madd_f64(t, z.hi, 0x1.484b13d696acfp-2);
    t = tg_math_madd_f64(t, z.hi, 0x1.a61762a7aefa7p-2);
    t = tg_math_madd_f64(t, z.hi, 0x1.2776c50ef9bfcp-1);
    c = tg_math_sum_ordered(0x1.ec709dc3a03fdp-1, tg_math_mul_f64(t, z.hi));
    c.lo += 0x1.d27f05548af0cp-55;
    c = tg_math_times(c, z);
    sum = tg_math_sum_ordered(0x1.71547652b82fep+1, c.hi);
    sum.lo += 0x1.777d0ffda0d24p-55 + c.lo;
    c = tg_math_times(s, sum);
    sum = tg_math_sum(in.k, c.hi);
    return tg_math_sum_ordered(sum.hi, sum.lo + c.lo);
}

/* x^y. */
TG_MATH_INLINE double tg_pow_f64(double x, double y)
{
    const double infinity = tg_math_infinity_f64();
    double base = tg_math_abs_f64(x), by, k, power, sign;
    struct tg_math_pair at = tg_math_log2_long(base);
    /* Any |log2 x| that is not 0 exceeds 2^-54, so that a larger y than this changes nothing, nor does
     * a smaller one, which would underflow. */
    by = tg_math_clamp_f64(y, -0x1p80, 0x1p80);
    by = tg_math_select_f64(tg_math_is_below(tg_math_abs_f64(by), 0x1p-200), 0.0, by);
    at = tg_math_times(at, tg_math_single(by));
    at.hi = tg_math_select_f64(tg_math_is_zero(base), -tg_math_sign_f64(1200.0, y), at.hi);
    at.hi =
        tg_math_select_f64(tg_math_is_equal(base, infinity), tg_math_sign_f64(1200.0, y), at.hi);
    at.lo = tg_math_select_f64(tg_math_is_below(tg_math_abs_f64(at.hi), 1200.0), at.lo, 0.0);
    at.hi = tg_math_clamp_f64(at.hi, -1200.0, 1200.0);
    k = tg_math_round_f64(at.hi);
    at = tg_math_sum(at.hi - k, at.lo);
    power = tg_math_scale_f64(tg_math_exp2_long(at), k);
    sign = tg_math_power_sign(x, y, tg_math_parity(y));
    power = tg_math_select_f64(tg_math_is_negative(sign), -power, power);
    power = tg_math_select_f64(tg_math_is_equal(x, 1.0), 1.0, power);
    power = tg_math_select_f64(tg_math_is_zero(y), 1.0, power);
    return tg_math_select_f64(tg_math_is_nan(sign), tg_math_nan_f64(), power);
}

#endif
