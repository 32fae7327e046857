/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log, log2, sqrt and rsqrt; see taskglass/math.h for their contracts and bounds.
 *
 * x = 2^k·m with m in [√½, √2); with f = m - 1 and s = f / (2 + f),
 * log m = 2·atanh s = 2·s + s·z·R(z), z = s², with a minimax polynomial R.
 */
#ifndef TASKGLASS_MATH_LOG_H
#define TASKGLASS_MATH_LOG_H

#include <taskglass/math/base.h>

/* x = 2^k·(1 + f). */
struct tg_math_split {
    double k, f;
};

/* For x > 0 that is neither subnormal nor infinite. No shift keeps the sign here, because the vector
 * units of older CPUs have none for 64 bits. */
TG_MATH_INLINE struct tg_math_split tg_math_split(double x)
{
    const uint64_t half_root = ((uint64_t)0x3fe6a09eu << 32) + 0x667f3bcdu; /* √½ */
    uint64_t bits = tg_double_bits(x) + (((uint64_t)1023 << 52) - half_root);
    struct tg_math_split y;
    y.k = tg_double_from_bits(bits >> 52 | (uint64_t)0x43300000u << 32) - (0x1p52 + 1023);
    y.f = tg_double_from_bits((bits & (((uint64_t)1 << 52) - 1)) + half_root) - 1.0;
    return y;
}

/* What log and log2 give for x <= 0, infinity and NaN, and y for all other x. */
TG_MATH_INLINE float tg_math_log_ends_f32(float x, float y)
{
    y = tg_math_select_f32(x > 0, y, tg_math_nan_f32());
    y = tg_math_select_f32(x == 0, -tg_math_infinity_f32(), y);
    return tg_math_select_f32(x == tg_math_infinity_f32(), x, y);
}
TG_MATH_INLINE double tg_math_log_ends_f64(double x, double y)
{
    y = tg_math_select_f64(tg_math_is_negative(x) | tg_math_is_nan(x), tg_math_nan_f64(), y);
    y = tg_math_select_f64(tg_math_is_zero(x), -tg_math_infinity_f64(), y);
    return tg_math_select_f64(tg_math_is_equal(x, tg_math_infinity_f64()), x, y);
}

/* The natural logarithm. Every float32 is a normal double. */
TG_MATH_INLINE float tg_log_f32(float x)
{
    struct tg_math_split in = tg_math_split((double)x);
    double s = in.f / (2.0 + in.f), z = tg_math_mul_f64(s, s), r;
    r = tg_math_madd_f64(0x1.91165cd441431p-3, z, 0x1.c62b07def9863p-3);
    r = tg_math_madd_f64(r, z, 0x1.2494120fd767fp-2);
    r = tg_math_madd_f64(r, z, 0x1.999996a90912cp-2);
    r = tg_math_madd_f64(r, z, 0x1.555555561e539p-1);
    r = tg_math_madd_f64(r, z, 2.0);
    r = tg_math_madd_f64(in.k, 0x1.62e42fefa39efp-1, tg_math_mul_f64(r, s));
    return tg_math_log_ends_f32(x, (float)r);
}

/* The logarithm to base 2, good to 2^-50, of normal doubles x > 0. */
TG_MATH_INLINE double tg_math_log2_short(double x)
{
    struct tg_math_split in = tg_math_split(x);
    double s = in.f / (2.0 + in.f), z = tg_math_mul_f64(s, s), r;
    r = tg_math_madd_f64(0x1.f0f975efb4e52p-3, z, 0x1.0bbe684a0be14p-2);
    r = tg_math_madd_f64(r, z, 0x1.484f6d6a2efbep-2);
    r = tg_math_madd_f64(r, z, 0x1.a617579193a2bp-2);
    r = tg_math_madd_f64(r, z, 0x1.2776c51575b26p-1);
    r = tg_math_madd_f64(r, z, 0x1.ec709dc39db9ep-1);
    r = tg_math_madd_f64(r, z, 0x1.71547652b82fep+1);
    return tg_math_madd_f64(r, s, in.k);
}

/* The logarithm to base 2. */
TG_MATH_INLINE float tg_log2_f32(float x)
{
    return tg_math_log_ends_f32(x, (float)tg_math_log2_short((double)x));
}

/* The same split of any x > 0; subnormal ones are scaled first. */
TG_MATH_INLINE struct tg_math_split tg_math_split_any(double x)
{
    struct tg_math_split y = tg_math_split(
        tg_math_select_f64(tg_math_is_below(x, 0x1p-1022), tg_math_mul_f64(x, 0x1p54), x));
    y.k = tg_math_select_f64(tg_math_is_below(x, 0x1p-1022), y.k - 54.0, y.k);
    return y;
}

/* log(1 + f) = f - f²/2 + s·(f²/2 + z·R(z)), where only the last summand is rounded. */
TG_MATH_INLINE struct tg_math_pair tg_math_log1p(double f)
{
    double s = f / (2.0 + f), z = tg_math_mul_f64(s, s), r;
    struct tg_math_pair square = tg_math_product(f, tg_math_mul_f64(f, 0.5)), sum;
    r = tg_math_madd_f64(0x1.2f071facb0559p-3, z, 0x1.39a19124fbc05p-3);
    r = tg_math_madd_f64(r, z, 0x1.74664069bd322p-3);
    r = tg_math_madd_f64(r, z, 0x1.c71c520299147p-3);
    r = tg_math_madd_f64(r, z, 0x1.24924941f8aedp-2);
    r = tg_math_madd_f64(r, z, 0x1.999999997fd40p-2);
    r = tg_math_madd_f64(r, z, 0x1.5555555555592p-1);
    r = tg_math_mul_f64(s, tg_math_madd_f64(r, z, square.hi));
    sum = tg_math_sum_ordered(f, -square.hi);
    return tg_math_sum_ordered(sum.hi, (sum.lo - square.lo) + r);
}

/* The natural logarithm. */
TG_MATH_INLINE double tg_log_f64(double x)
{
    struct tg_math_split in = tg_math_split_any(x);
    struct tg_math_pair part = tg_math_log1p(in.f), sum;
    sum = tg_math_sum(tg_math_mul_f64(in.k, 0x1.62e42fefa38p-1), part.hi);
    part.lo = tg_math_madd_f64(in.k, 0x1.ef35793c7673p-45, part.lo);
    return tg_math_log_ends_f64(x, sum.hi + (sum.lo + part.lo));
}

/* The logarithm to base 2. */
TG_MATH_INLINE double tg_log2_f64(double x)
{
    struct tg_math_split in = tg_math_split_any(x);
    struct tg_math_pair part = tg_math_log1p(in.f), factor, sum;
    factor.hi = 0x1.71547652b82fep+0;
    factor.lo = 0x1.777d0ffda0d24p-56;
    part = tg_math_times(part, factor);
    sum = tg_math_sum(in.k, part.hi);
    return tg_math_log_ends_f64(x, sum.hi + (sum.lo + part.lo));
}

/* The square root. */
TG_MATH_INLINE float tg_sqrt_f32(float x)
{
    float y = TG_MATH_SQRT_F32_(x);
    return tg_math_select_f32(x >= 0, y, tg_math_nan_f32());
}
TG_MATH_INLINE double tg_sqrt_f64(double x)
{
    double y = TG_MATH_SQRT_F64_(x);
    return tg_math_select_f64(tg_math_is_nan(y), tg_math_nan_f64(), y);
}

/* 1 / √x. */
TG_MATH_INLINE float tg_rsqrt_f32(float x)
{
#if defined(__CUDA_ARCH__)
    float y = __frsqrt_rn(x);
#else
    float y = (float)(1.0 / TG_MATH_SQRT_F64_((double)x));
#endif
    return tg_math_select_f32(x >= 0, y, tg_math_nan_f32());
}

/* 1 / √x. With s = √x and y = 1/s as rounded, 1/√x = y·(1 + (1 - y·s) + (s² - x)·y²/2) almost; x is
 * scaled so that both differences are exact. */
TG_MATH_INLINE double tg_rsqrt_f64(double x)
{
    double down = tg_math_select_f64(tg_math_is_below(0x1p700, x), 0x1p-100, 1.0);
    double back = tg_math_select_f64(tg_math_is_below(x, 0x1p-700), 0x1p100, down);
    double scale = back * back;
    double at = tg_math_mul_f64(x, scale), s = TG_MATH_SQRT_F64_(at), y = 1.0 / s, rest;
    struct tg_math_pair square = tg_math_product(s, s), one = tg_math_product(y, s);
    rest = tg_math_mul_f64(tg_math_mul_f64((square.hi - at) + square.lo, y), 0.5);
    rest = tg_math_madd_f64(rest, y, (1.0 - one.hi) - one.lo);
    rest = tg_math_mul_f64(tg_math_madd_f64(y, rest, y), back);
    rest = tg_math_select_f64(tg_math_is_negative(x) | tg_math_is_nan(x), tg_math_nan_f64(), rest);
    rest = tg_math_select_f64(tg_math_is_zero(x), 1.0 / x, rest);
    return tg_math_select_f64(tg_math_is_equal(x, tg_math_infinity_f64()), 0.0, rest);
}

#endif
