/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exp, exp2, sigmoid, tanh, and gelu by tanh; see taskglass/math.h for their contracts and bounds.
 *
 * e^x = 2^k·e^r with x = k·ln 2 + r and |r| <= ln 2 / 2; e^r = 1 + r + r²·q(r) with a minimax
 * polynomial q. ln 2 is a sum of two numbers of which the first is short, so that k times it is
 * exact.
 */
#ifndef TASKGLASS_MATH_EXP_H
#define TASKGLASS_MATH_EXP_H

#include <taskglass/math/base.h>

/* e^x. */
TG_MATH_INLINE float tg_exp_f32(float x)
{
    float at = tg_math_clamp_f32(x, -104.0f, 89.0f); /* there it is 0 or infinity already */
    float k = tg_math_madd_f32(at, 0x1.715476p+0f, 0x1.8p23f) - 0x1.8p23f; /* rounded */
    float high = tg_math_madd_f32(k, -0x1.62e4p-1f, at), low = tg_math_mul_f32(k, 0x1.7f7d1cp-20f);
    float r = high - low, q;
    q = tg_math_madd_f32(0x1.6a25b6p-10f, r, 0x1.1239f4p-7f);
    q = tg_math_madd_f32(q, r, 0x1.5558f0p-5f);
    q = tg_math_madd_f32(q, r, 0x1.555492p-3f);
    q = tg_math_madd_f32(q, r, 0x1.fffffcp-2f);
    q = tg_math_madd_f32(q, tg_math_mul_f32(r, r), (high - r) - low); /* and what r lost */
    q = tg_math_scale_f32(1.0f + (r + q), k);
    return tg_math_select_f32(x != x, tg_math_nan_f32(), q);
}

/* 2^x. */
TG_MATH_INLINE float tg_exp2_f32(float x)
{
    float at = tg_math_clamp_f32(x, -151.0f, 129.0f);
    float k = tg_math_round_f32(at), r = at - k, q;
    float short_r = tg_float32_from_bits(tg_float32_bits(r) & 0xfffff000u); /* 12 bits */
    q = tg_math_madd_f32(0x1.415014p-13f, r, 0x1.5f0404p-10f);
    q = tg_math_madd_f32(q, r, 0x1.3b2e0ap-7f);
    q = tg_math_madd_f32(q, r, 0x1.c6af88p-5f);
    q = tg_math_madd_f32(q, r, 0x1.ebfbdcp-3f);
    q = tg_math_madd_f32(q, r, 0x1.0bfbe8p-15f); /* ln 2 has two parts, too */
    q = tg_math_madd_f32(q, r, tg_math_mul_f32(r - short_r, 0x1.62ep-1f));
    q = tg_math_madd_f32(short_r, 0x1.62ep-1f, q); /* this product is exact */
    q = tg_math_scale_f32(1.0f + q, k);
    return tg_math_select_f32(x != x, tg_math_nan_f32(), q);
}

/* e^r - 1 for |r| <= ln 2 / 2, good to 2^-39 of e^r. */
TG_MATH_INLINE double tg_math_expm1_short(double r)
{
    double q = tg_math_madd_f64(0x1.9e89abfeccc18p-16, r, 0x1.a185779d5f5cfp-13);
    q = tg_math_madd_f64(q, r, 0x1.6c18d308733bap-10);
    q = tg_math_madd_f64(q, r, 0x1.1110a251290b7p-7);
    q = tg_math_madd_f64(q, r, 0x1.5555541e3ff27p-5);
    q = tg_math_madd_f64(q, r, 0x1.5555557dda9f6p-3);
    q = tg_math_madd_f64(q, r, 0x1.000000005dfbep-1);
    return tg_math_madd_f64(q, tg_math_mul_f64(r, r), r);
}

/* x = k·ln 2 + r; for functions of float32, which compute in double. |x| <= 700. */
TG_MATH_INLINE double tg_math_exp_rest(double x, double *k)
{
    double r;
    *k = tg_math_round_f64(tg_math_mul_f64(x, 0x1.71547652b82fep+0));
    r = tg_math_madd_f64(*k, -0x1.62e42fefa38p-1, x);
    return tg_math_madd_f64(*k, -0x1.ef35793c7673p-45, r);
}

/* e^x, good to 2^-39, for |x| <= 700. */
TG_MATH_INLINE double tg_math_exp_short(double x)
{
    double k, r = tg_math_exp_rest(x, &k);
    return tg_math_mul_f64(1.0 + tg_math_expm1_short(r), tg_math_power_f64(k));
}

/* 1 / (1 + e^-x). */
TG_MATH_INLINE float tg_sigmoid_f32(float x)
{
    double far = (double)tg_math_clamp_f32(tg_math_abs_f32(x), 0.0f, 120.0f);
    double at = (double)x, e = tg_math_exp_short(-far);
    double y = tg_math_select_f64(tg_math_is_negative(at), e, 1.0) / (1.0 + e);
    return tg_math_select_f32(x != x, tg_math_nan_f32(), (float)y);
}

/* The hyperbolic tangent. */
TG_MATH_INLINE float tg_tanh_f32(float x)
{
    double k, r, t, power;
    float y;
    r = tg_math_exp_rest(-2 * (double)tg_math_clamp_f32(tg_math_abs_f32(x), 0.0f, 10.0f), &k);
    power = tg_math_power_f64(k);
    t = tg_math_madd_f64(power, tg_math_expm1_short(r), power - 1.0); /* e^-2|x| - 1 */
    y = (float)(t / (t + 2.0));
    return tg_math_select_f32(x != x, tg_math_nan_f32(), tg_math_sign_f32(y, x));
}

/* x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))). */
TG_MATH_INLINE float tg_gelu_tanh_f32(float x)
{
    double at = (double)tg_math_select_f32(x < -50.0f, -50.0f,
                                           x); /* there it is -0, and -infinity·0 is none */
    double slope =
        tg_math_madd_f64(tg_math_mul_f64(at, at), 0x1.2444f2a4d8b4bp-4, 0x1.9884533d43651p+0);
    double z2 = tg_math_abs_f64(tg_math_mul_f64(at, slope)); /* twice the argument of tanh */
    double e = tg_math_exp_short(-tg_math_clamp_f64(z2, 0.0, 200.0));
    double y = tg_math_mul_f64(at, tg_math_select_f64(tg_math_is_negative(at), e, 1.0)) / (1.0 + e);
    return tg_math_select_f32(x != x, tg_math_nan_f32(), tg_math_sign_f32((float)y, x));
}

/* e^r as hi + lo, times 2^k. */
struct tg_math_power {
    struct tg_math_pair e;     /* e^r */
    struct tg_math_pair minus; /* e^r - 1 */
    double k;
};

/* e^(x.hi + x.lo) for |x.hi| <= 1000. */
TG_MATH_INLINE struct tg_math_power tg_math_exp_long(struct tg_math_pair x)
{
    struct tg_math_power y;
    double r, high, low, q;
    y.k = tg_math_round_f64(tg_math_mul_f64(x.hi, 0x1.71547652b82fep+0));
    high = tg_math_madd_f64(y.k, -0x1.62e42fefa38p-1, x.hi);
    low = tg_math_mul_f64(y.k, 0x1.ef35793c7673p-45) - x.lo;
    r = high - low;
    q = tg_math_madd_f64(0x1.ad8080b836078p-26, r, 0x1.28ad7e70a11dap-22);
    q = tg_math_madd_f64(q, r, 0x1.71df24b2c3493p-19);
    q = tg_math_madd_f64(q, r, 0x1.a0199a005003dp-16);
    q = tg_math_madd_f64(q, r, 0x1.a01a012a986a4p-13);
    q = tg_math_madd_f64(q, r, 0x1.6c16c1842e528p-10);
    q = tg_math_madd_f64(q, r, 0x1.1111111127b3fp-7);
    q = tg_math_madd_f64(q, r, 0x1.555555555086ap-5);
    q = tg_math_madd_f64(q, r, 0x1.55555555554fap-3);
    q = tg_math_madd_f64(q, r, 0x1.000000000000ap-1);
    q = tg_math_madd_f64(q, tg_math_mul_f64(r, r), (high - r) - low);
    y.minus = tg_math_sum_ordered(r, q);
    y.e = tg_math_sum_ordered(1.0, y.minus.hi);
    y.e.lo += y.minus.lo;
    return y;
}

/* A number that needs no second part. */
TG_MATH_INLINE struct tg_math_pair tg_math_single(double x)
{
    struct tg_math_pair p;
    p.hi = x;
    p.lo = 0;
    return p;
}

/* e^x. */
TG_MATH_INLINE double tg_exp_f64(double x)
{
    struct tg_math_power e = tg_math_exp_long(tg_math_single(tg_math_clamp_f64(x, -746.0, 710.0)));
    double y = tg_math_scale_f64(e.e.hi + e.e.lo, e.k);
    return tg_math_select_f64(tg_math_is_nan(x), tg_math_nan_f64(), y);
}

/* 2^r for r = hi + lo, |r| <= 1/2. The sums keep what they round off until the last one. */
TG_MATH_INLINE double tg_math_exp2_long(struct tg_math_pair x)
{
    double r = x.hi, q;
    struct tg_math_pair first = tg_math_product(r, 0x1.62e42fefa39efp-1), sum;
    q = tg_math_madd_f64(0x1.e7c8072aed351p-32, r, 0x1.e617d8d94be2dp-28);
    q = tg_math_madd_f64(q, r, 0x1.b5265237f6553p-24);
    q = tg_math_madd_f64(q, r, 0x1.62bfc9e1e573cp-20);
    q = tg_math_madd_f64(q, r, 0x1.ffcbfbc803477p-17);
    q = tg_math_madd_f64(q, r, 0x1.4309130dcc9a6p-13);
    q = tg_math_madd_f64(q, r, 0x1.5d87fe78c36c9p-10);
    q = tg_math_madd_f64(q, r, 0x1.3b2ab6fba0771p-7);
    q = tg_math_madd_f64(q, r, 0x1.c6b08d704a046p-5);
    q = tg_math_madd_f64(q, r, 0x1.ebfbdff82c5a1p-3);
    q = tg_math_madd_f64(q, tg_math_mul_f64(r, r), first.lo);
    q += tg_math_madd_f64(r, 0x1.abc9e3b39803fp-56, tg_math_mul_f64(x.lo, 0x1.62e42fefa39efp-1));
    first = tg_math_sum_ordered(first.hi, q);
    sum = tg_math_sum_ordered(1.0, first.hi);
    return sum.hi + (sum.lo + first.lo);
}

/* 2^x. */
TG_MATH_INLINE double tg_exp2_f64(double x)
{
    double at = tg_math_clamp_f64(x, -1076.0, 1025.0), k = tg_math_round_f64(at);
    double y = tg_math_scale_f64(tg_math_exp2_long(tg_math_single(at - k)), k);
    return tg_math_select_f64(tg_math_is_nan(x), tg_math_nan_f64(), y);
}

/* y / (1 + e^-x) for y = hi + lo: the core of sigmoid and gelu. */
TG_MATH_INLINE double tg_math_logistic(struct tg_math_pair x, double y)
{
    double sign = tg_math_select_f64(tg_math_is_negative(x.hi), 1.0, -1.0), k;
    struct tg_math_pair far, below, part;
    struct tg_math_power e;
    far.hi = tg_math_mul_f64(x.hi, sign);
    far.lo = tg_math_mul_f64(x.lo, sign);
    far.lo = tg_math_select_f64(tg_math_is_below(tg_math_abs_f64(far.hi), 800.0), far.lo, 0.0);
    far.hi = tg_math_clamp_f64(far.hi, -800.0, 0.0);
    e = tg_math_exp_long(far);
    k = tg_math_clamp_f64(e.k, -200.0, 0.0);
    below = tg_math_sum_ordered(1.0, tg_math_mul_f64(e.e.hi, tg_math_power_f64(k)));
    below.lo += tg_math_mul_f64(e.e.lo, tg_math_power_f64(k));
    e.e.hi = tg_math_select_f64(tg_math_is_negative(x.hi), e.e.hi, 1.0);
    e.e.lo = tg_math_select_f64(tg_math_is_negative(x.hi), e.e.lo, 0.0);
    part = tg_math_quotient(e.e, below);
    y = tg_math_madd_f64(y, part.hi, tg_math_mul_f64(y, part.lo));
    return tg_math_scale_f64(y, tg_math_select_f64(tg_math_is_negative(x.hi), e.k, 0.0));
}

/* 1 / (1 + e^-x). */
TG_MATH_INLINE double tg_sigmoid_f64(double x)
{
    double y = tg_math_logistic(tg_math_single(x), 1.0);
    return tg_math_select_f64(tg_math_is_nan(x), tg_math_nan_f64(), y);
}

/* The hyperbolic tangent. */
TG_MATH_INLINE double tg_tanh_f64(double x)
{
    double far = tg_math_clamp_f64(tg_math_abs_f64(x), 0.0, 22.0), power, y;
    struct tg_math_power e = tg_math_exp_long(tg_math_single(-2 * far));
    struct tg_math_pair t, below;
    power = tg_math_power_f64(e.k);
    below = tg_math_sum_ordered(-1.0, power);
    t = tg_math_sum_ordered(below.hi, tg_math_mul_f64(e.minus.hi, power)); /* e^-2|x| - 1 */
    t.lo += below.lo + tg_math_mul_f64(e.minus.lo, power);
    below = tg_math_sum_ordered(2.0, t.hi);
    below.lo += t.lo;
    y = tg_math_quotient(t, below).hi;
    y = tg_math_select_f64(tg_math_is_below(far, 0x1p-28), far,
                           y); /* below, the exact products would underflow */
    return tg_math_select_f64(tg_math_is_nan(x), tg_math_nan_f64(), tg_math_sign_f64(y, x));
}

/* x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))). */
TG_MATH_INLINE double tg_gelu_tanh_f64(double x)
{
    double at = tg_math_clamp_f64(x, -60.0, 60.0), y; /* beyond it is -0, or x */
    struct tg_math_pair cubic, linear, slope;
    cubic.hi = 0x1.2444f2a4d8b4bp-4;
    cubic.lo = -0x1.6c843a29d1c7p-61;
    linear.hi = 0x1.9884533d43651p+0;
    linear.lo = -0x1.cbc0d30ebfd15p-54;
    slope = tg_math_times(tg_math_product(at, at), cubic);
    cubic = tg_math_sum(slope.hi, linear.hi);
    slope = tg_math_sum_ordered(cubic.hi, cubic.lo + (slope.lo + linear.lo));
    y = tg_math_logistic(tg_math_times(slope, tg_math_single(at)), at);
    y = tg_math_select_f64(tg_math_is_below(60.0, tg_math_abs_f64(x)) & ~tg_math_is_negative(x), x,
                           y);
    return tg_math_select_f64(tg_math_is_nan(x), tg_math_nan_f64(), tg_math_sign_f64(y, x));
}

#endif
