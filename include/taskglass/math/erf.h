/* SPDX-License-Identifier: Apache-2.0 */
/*
 * erf and gelu; see taskglass/math.h for their contracts and bounds.
 *
 * Below 1, erf x = x·P(x²). Above, erf x = 1 - erfc x with erfc x = e^-x²·Q(t) / (1 + 2·x), where
 * t = (x - c) / (x + c) brings all x >= 0 into [-1, 1). P and Q are minimax polynomials. gelu needs
 * erfc alone: x·erfc(-x/√2)/2 loses nothing where it is small.
 */
#ifndef TASKGLASS_MATH_ERF_H
#define TASKGLASS_MATH_ERF_H

#include <taskglass/math/base.h>
#include <taskglass/math/exp.h>

/* (1 + 2·z)·e^(z²)·erfc z for t = (z - 3) / (z + 3) and 0 <= z <= 11, good to 2^-40. */
TG_MATH_INLINE double tg_math_erfc_short(double t)
{
    double q = tg_math_madd_f64(-0x1.3c965a3507052p-18, t, -0x1.4123b9117a6b6p-16);
    q = tg_math_madd_f64(q, t, 0x1.347b56b115c93p-17);
    q = tg_math_madd_f64(q, t, 0x1.0921ad76104c2p-13);
    q = tg_math_madd_f64(q, t, -0x1.bfec27a8ac554p-14);
    q = tg_math_madd_f64(q, t, -0x1.99543f20dfc77p-11);
    q = tg_math_madd_f64(q, t, 0x1.ef2eddfc8ea75p-10);
    q = tg_math_madd_f64(q, t, 0x1.4b8fd4f89dab9p-9);
    q = tg_math_madd_f64(q, t, -0x1.8574da9ca4185p-6);
    q = tg_math_madd_f64(q, t, 0x1.17ca2190988c4p-4);
    q = tg_math_madd_f64(q, t, -0x1.e88b801bbe5bbp-4);
    q = tg_math_madd_f64(q, t, 0x1.098366d0e58fdp-3);
    q = tg_math_madd_f64(q, t, -0x1.85a15c581c21bp-5);
    q = tg_math_madd_f64(q, t, -0x1.15c084bc3a395p-3);
    return tg_math_madd_f64(q, t, 0x1.40c522d7e490cp+0);
}

/* The error function. */
TG_MATH_INLINE float tg_erf_f32(float x)
{
    double far = (double)tg_math_clamp_f32(tg_math_abs_f32(x), 0.0f, 4.0f);
    double z = tg_math_mul_f64(far, far), small, large;
    float y;
    small = tg_math_madd_f64(-0x1.44cfbe7e8b240p-17, z, 0x1.d8b8988a4ee3ep-14);
    small = tg_math_madd_f64(small, z, -0x1.bcd7e2d5c7f59p-11);
    small = tg_math_madd_f64(small, z, 0x1.562b1a72ebd5cp-8);
    small = tg_math_madd_f64(small, z, -0x1.b829d8e048b90p-6);
    small = tg_math_madd_f64(small, z, 0x1.ce2f09ad1002ep-4);
    small = tg_math_madd_f64(small, z, -0x1.8127466831b24p-2);
    small = tg_math_mul_f64(tg_math_madd_f64(small, z, 0x1.20dd750406299p+0), far);
    large = tg_math_mul_f64(tg_math_exp_short(-z), tg_math_erfc_short((far - 3.0) / (far + 3.0)));
    large = 1.0 - large / (1.0 + 2 * far);
    y = tg_math_sign_f32((float)tg_math_select_f64(tg_math_is_below(far, 1.0), small, large), x);
    return tg_math_select_f32(x != x, tg_math_nan_f32(), y);
}

/* x·(1 + erf(x/√2))/2. */
TG_MATH_INLINE float tg_gelu_f32(float x)
{
    const double c = 0x1.0f876ccdf6cd9p+2, root = 0x1.6a09e667f3bcdp+0; /* 3·√2 and √2 */
    double at = (double)tg_math_select_f32(x < -15.0f, -15.0f,
                                           x); /* there it is -0, and -infinity·0 is none */
    double far = tg_math_clamp_f64(tg_math_abs_f64(at), 0.0, 15.0), tail;
    tail = tg_math_exp_short(tg_math_mul_f64(tg_math_mul_f64(far, far), -0.5));
    tail = tg_math_mul_f64(tail, tg_math_erfc_short((far - c) / (far + c)));
    tail = tail / tg_math_madd_f64(far, 2 * root, 2.0); /* erfc(|x|/√2) / 2 */
    tail = tg_math_select_f64(tg_math_is_negative(at), tail, 1.0 - tail);
    return tg_math_select_f32(x != x, tg_math_nan_f32(),
                              tg_math_sign_f32((float)tg_math_mul_f64(at, tail), x));
}

/* (1 + 2·z)·e^(z²)·erfc z for t = (z - 4) / (z + 4) and 0 <= z <= 28. */
TG_MATH_INLINE double tg_math_erfc_long(double t)
{
    double q = tg_math_madd_f64(0x1.4957e4c473e3ap-30, t, 0x1.cd0d5b2b905b8p-30);
    q = tg_math_madd_f64(q, t, -0x1.e376273d115acp-27);
    q = tg_math_madd_f64(q, t, -0x1.2c20b1bf5373dp-26);
    q = tg_math_madd_f64(q, t, 0x1.d9e05823fc553p-24);
    q = tg_math_madd_f64(q, t, 0x1.3e47c670ad580p-24);
    q = tg_math_madd_f64(q, t, -0x1.bb6ff7e80d77ep-21);
    q = tg_math_madd_f64(q, t, 0x1.3bda9107bb4ccp-22);
    q = tg_math_madd_f64(q, t, 0x1.7f346efa68af0p-18);
    q = tg_math_madd_f64(q, t, -0x1.788dd15ff4b0bp-17);
    q = tg_math_madd_f64(q, t, -0x1.995ace6f8dc48p-16);
    q = tg_math_madd_f64(q, t, 0x1.3be06c0b314a2p-13);
    q = tg_math_madd_f64(q, t, -0x1.a1df1615e93f8p-13);
    q = tg_math_madd_f64(q, t, -0x1.8d4a9c4de1bbbp-11);
    q = tg_math_madd_f64(q, t, 0x1.49c6726f032f0p-8);
    q = tg_math_madd_f64(q, t, -0x1.096238829b1bfp-6);
    q = tg_math_madd_f64(q, t, 0x1.3079edf6d4d19p-5);
    q = tg_math_madd_f64(q, t, -0x1.0fb06dfe55360p-4);
    q = tg_math_madd_f64(q, t, 0x1.7fee004e0fdf3p-4);
    q = tg_math_madd_f64(q, t, -0x1.9ddb23c3e8955p-4);
    q = tg_math_madd_f64(q, t, 0x1.16ecefcfa54a5p-4);
    q = tg_math_madd_f64(q, t, 0x1.f7f5df66fd6ccp-7);
    q = tg_math_madd_f64(q, t, -0x1.1df1ad154a28fp-3);
    return tg_math_madd_f64(q, t, 0x1.3ba5916e9fd7fp+0);
}

/* The error function. */
TG_MATH_INLINE double tg_erf_f64(double x)
{
    double far = tg_math_clamp_f64(tg_math_abs_f64(x), 0.0, 6.5);
    double z = tg_math_mul_f64(far, far), small, large;
    struct tg_math_pair square = tg_math_product(far, far);
    struct tg_math_power e;
    small = tg_math_madd_f64(-0x1.abae46c6f9dfep-31, z, 0x1.d71b0bf08289bp-27);
    small = tg_math_madd_f64(small, z, -0x1.5c07260fff148p-23);
    small = tg_math_madd_f64(small, z, 0x1.b97fd3a01d7e9p-20);
    small = tg_math_madd_f64(small, z, -0x1.f4ca4d66f9805p-17);
    small = tg_math_madd_f64(small, z, 0x1.f9a2baa848121p-14);
    small = tg_math_madd_f64(small, z, -0x1.c02db03dcd968p-11);
    small = tg_math_madd_f64(small, z, 0x1.565bccf92ae68p-8);
    small = tg_math_madd_f64(small, z, -0x1.b82ce311fa91bp-6);
    small = tg_math_madd_f64(small, z, 0x1.ce2f21a040d16p-4);
    small = tg_math_madd_f64(small, z, -0x1.812746b0379bdp-2);
    small = tg_math_madd_f64(small, z, 0x1.06eba8214db68p-3);
    small = tg_math_madd_f64(small, far, far);
    square.hi = -square.hi;
    square.lo = -square.lo;
    e = tg_math_exp_long(square);
    large = tg_math_mul_f64(e.e.hi, tg_math_erfc_long((far - 4.0) / (far + 4.0)));
    large = 1.0 - tg_math_mul_f64(large / (1.0 + 2 * far), tg_math_power_f64(e.k));
    large = tg_math_sign_f64(tg_math_select_f64(tg_math_is_below(far, 1.0), small, large), x);
    return tg_math_select_f64(tg_math_is_nan(x), tg_math_nan_f64(), large);
}

/* The distribution function of the normal distribution, less 1/2, of x with |x| < 3/4. */
TG_MATH_INLINE double tg_math_normal_small(double x)
{
    double z = tg_math_mul_f64(x, x), q;
    q = tg_math_madd_f64(0x1.13b00476336afp-29, z, -0x1.5fc3c2f076fecp-25);
    q = tg_math_madd_f64(q, z, 0x1.6574d171fdc3fp-21);
    q = tg_math_madd_f64(q, z, -0x1.3ce88a8b983cap-17);
    q = tg_math_madd_f64(q, z, 0x1.e42b0a9a834f4p-14);
    q = tg_math_madd_f64(q, z, -0x1.37403f66e49a4p-10);
    q = tg_math_madd_f64(q, z, 0x1.46d0429760d6ep-7);
    q = tg_math_madd_f64(q, z, -0x1.1058377e2ce87p-4);
    q = tg_math_madd_f64(q, z, 0x1.9884533d43650p-2);
    return tg_math_mul_f64(q, x);
}

/* x·(1 + erf(x/√2))/2. */
TG_MATH_INLINE double tg_gelu_f64(double x)
{
    const double c = 0x1.6a09e667f3bcdp+2; /* 4·√2 */
    /* Below -39 it is -0, and -infinity·0 is none. */
    uint64_t end = tg_math_is_negative(x) & tg_math_is_below(39.0, tg_math_abs_f64(x));
    double at = tg_math_select_f64(end, -39.0, x);
    double far = tg_math_clamp_f64(tg_math_abs_f64(at), 0.0, 39.0), q, k, y;
    struct tg_math_power e = tg_math_exp_long(tg_math_product(far, -0.5 * far));
    struct tg_math_pair tail, below = tg_math_product(far, 0x1.6a09e667f3bcdp+1);
    uint64_t low = tg_math_is_negative(at) & ~tg_math_is_below(far, 0.75);
    q = tg_math_erfc_long((far - c) / (far + c));
    tail = tg_math_product(e.e.hi, q);
    tail.lo = tg_math_madd_f64(e.e.lo, q, tail.lo);
    q = tg_math_madd_f64(far, -0x1.bdd3413b26456p-53, below.lo);
    below = tg_math_sum(2.0, below.hi); /* 2·(1 + √2·|x|) */
    below.lo += q;
    tail = tg_math_quotient(tail, below); /* erfc(|x|/√2) / 2 without 2^k */
    k = tg_math_power_f64(tg_math_clamp_f64(e.k, -100.0, 0.0));
    y = 1.0 - tg_math_mul_f64(tail.hi, k);
    y = tg_math_select_f64(tg_math_is_below(far, 0.75), 0.5 + tg_math_normal_small(at), y);
    tail.hi = tg_math_select_f64(low, tail.hi, y);
    tail.lo = tg_math_select_f64(low, tail.lo, 0.0);
    k = tg_math_select_f64(low, e.k, 0.0);
    y = tg_math_madd_f64(at, tail.hi, -tg_math_mul_f64(far, tail.lo)); /* x < 0, or tail.lo = 0 */
    y = tg_math_scale_f64(y, k);
    return tg_math_select_f64(tg_math_is_nan(x), tg_math_nan_f64(), tg_math_sign_f64(y, x));
}

#endif
