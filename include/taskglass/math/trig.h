/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sin and cos; see taskglass/math.h for their contracts and bounds.
 *
 * The argument is divided by a turn: x/2π is multiplied out in pieces, and each piece gives up its
 * whole turns before it is added, so that large arguments lose nothing (after Payne and Hanek). Which
 * digits of 1/2π matter depends on the exponent of x: those before would give whole turns only, those
 * after too little. The same steps serve every x, without a branch, so loops can be vectorised.
 */
#ifndef TASKGLASS_MATH_TRIG_H
#define TASKGLASS_MATH_TRIG_H

#include <taskglass/math/base.h>

/* x = n·π/2 + hi + lo, where |hi| <= π/4; n is an integer of which the last two bits count. */
struct tg_math_angle {
    double n;
    struct tg_math_pair rest;
};

/* What is left of x >= 0 without whole numbers; x may be off by whole numbers if it is large. */
TG_MATH_INLINE double tg_math_fraction(double x)
{
    return x - ((x + 0x1p52) - 0x1p52);
}

/*
 * For a float32 x >= 0, as a double. 1/2π is cut into pieces of 26 bits, whose products with x are
 * exact. With b the place where the digits begin, which is 0 or at most the place of x's last bit,
 * three pieces are enough: x·first < 2^50, x·second < 2^24, and x·third, which is rounded, < 1/4.
 */
TG_MATH_INLINE struct tg_math_angle tg_math_angle_f32(double x)
{
    double first = 0x1.45f306p-3, second = 0x1.b93910p-28, third = 0x1.529fc2757d1f5p-54;
    double turn, quarters;
    struct tg_math_angle y;
    first = tg_math_select_f64(~tg_math_is_below(x, 0x1p49), 0x1.b93910p-28, first);
    second = tg_math_select_f64(~tg_math_is_below(x, 0x1p49), 0x1.529fc2p-54, second);
    third = tg_math_select_f64(~tg_math_is_below(x, 0x1p49), 0x1.d5f47d4d37703p-80, third);
    first = tg_math_select_f64(~tg_math_is_below(x, 0x1p75), 0x1.529fc2p-54, first);
    second = tg_math_select_f64(~tg_math_is_below(x, 0x1p75), 0x1.d5f47dp-80, second);
    third = tg_math_select_f64(~tg_math_is_below(x, 0x1p75), 0x1.34ddc0db6295ap-106, third);
    first = tg_math_select_f64(~tg_math_is_below(x, 0x1p101), 0x1.d5f47dp-80, first);
    second = tg_math_select_f64(~tg_math_is_below(x, 0x1p101), 0x1.34ddc0p-106, second);
    third = tg_math_select_f64(~tg_math_is_below(x, 0x1p101), 0x1.b6c52b3278872p-131, third);
    first = tg_math_select_f64(~tg_math_is_below(x, 0x1p127), 0x1.34ddc0p-106, first);
    second = tg_math_select_f64(~tg_math_is_below(x, 0x1p127), 0x1.b6c52bp-131, second);
    third = tg_math_select_f64(~tg_math_is_below(x, 0x1p127), 0x1.93c439041fe51p-158, third);
    turn =
        tg_math_fraction(tg_math_mul_f64(x, first)) + tg_math_fraction(tg_math_mul_f64(x, second));
    quarters = tg_math_round_f64(4 * turn);
    turn = tg_math_mul_f64(x, third) + (turn - 0.25 * quarters);
    y.n = tg_math_round_f64(4 * turn); /* one more quarter, at times */
    y.rest.hi = tg_math_mul_f64(turn - 0.25 * y.n, 0x1.921fb54442d18p+2);
    y.rest.lo = 0;
    y.n += quarters;
    return y;
}

/* sin x and cos x as doubles good for float32, for |x| <= π/4. */
TG_MATH_INLINE double tg_math_sin_short(double x)
{
    double z = tg_math_mul_f64(x, x), q;
    q = tg_math_madd_f64(0x1.6cd83d9b82d5cp-19, z, -0x1.a00f9d420f231p-13);
    q = tg_math_madd_f64(q, z, 0x1.11110895e69fcp-7);
    q = tg_math_madd_f64(q, z, -0x1.5555554cb9a03p-3);
    return tg_math_madd_f64(q, tg_math_mul_f64(z, x), x);
}
TG_MATH_INLINE double tg_math_cos_short(double x)
{
    double z = tg_math_mul_f64(x, x), q;
    q = tg_math_madd_f64(-0x1.242abc844bc2ap-22, z, 0x1.a0111fae1d88fp-16);
    q = tg_math_madd_f64(q, z, -0x1.6c16b89816b8fp-10);
    q = tg_math_madd_f64(q, z, 0x1.5555554f4d9dcp-5);
    q = tg_math_madd_f64(q, z, -0.5);
    return tg_math_madd_f64(q, z, 1.0);
}

/* Whether the integer n is odd, and whether its bit of weight 2 is set, for |n| < 2^50. */
TG_MATH_INLINE uint64_t tg_math_bit0(double n)
{
    return ~tg_math_is_equal(tg_math_round_f64(0.5 * n), 0.5 * n);
}
TG_MATH_INLINE uint64_t tg_math_bit1(double n)
{
    /* n/4 - 1/8 is rounded to the number of whole fours, and there are no ties. */
    double rest = n - 4 * tg_math_round_f64(0.25 * n - 0.375);
    return ~tg_math_is_below(rest, 2.0);
}

/* sin(x + shift·π/2) for |x| that the angle is of. */
TG_MATH_INLINE double tg_math_turned_f32(double x, double shift)
{
    struct tg_math_angle at = tg_math_angle_f32(x);
    double n = at.n + shift;
    double s = tg_math_sin_short(at.rest.hi), c = tg_math_cos_short(at.rest.hi);
    double y = tg_math_select_f64(tg_math_bit0(n), c, s);
    return tg_math_select_f64(tg_math_bit1(n), -y, y);
}

/* The sine, of radians. */
TG_MATH_INLINE float tg_sin_f32(float x)
{
    float far = tg_math_abs_f32(x), y = (float)tg_math_turned_f32((double)far, 0.0);
    y = tg_math_select_f32(x < 0, -y, y);
    y = tg_math_select_f32(far < 0x1p-13f, x, y); /* also keeps the sign of 0 */
    return tg_math_select_f32(far < tg_math_infinity_f32(), y, tg_math_nan_f32());
}

/* The cosine, of radians. */
TG_MATH_INLINE float tg_cos_f32(float x)
{
    float far = tg_math_abs_f32(x), y = (float)tg_math_turned_f32((double)far, 1.0);
    return tg_math_select_f32(far < tg_math_infinity_f32(), y, tg_math_nan_f32());
}

/* 48 bits of 1/2π from bit 16·i on. */
TG_MATH_INLINE double tg_math_turn_digits(uint64_t i)
{
    static const double digits[70] = {
        0x28be60db9391p-48, 0x60db9391054ap-48, 0x9391054a7f09p-48, 0x054a7f09d5f4p-48,
        0x7f09d5f47d4dp-48, 0xd5f47d4d3770p-48, 0x7d4d377036d8p-48, 0x377036d8a566p-48,
        0x36d8a5664f10p-48, 0xa5664f10e410p-48, 0x4f10e4107f94p-48, 0xe4107f9458eap-48,
        0x7f9458eaf7aep-48, 0x58eaf7aef158p-48, 0xf7aef1586dc9p-48, 0xf1586dc91b8ep-48,
        0x6dc91b8e9093p-48, 0x1b8e909374b8p-48, 0x909374b80192p-48, 0x74b801924bbap-48,
        0x01924bba8274p-48, 0x4bba82746487p-48, 0x827464873f87p-48, 0x64873f877ac7p-48,
        0x3f877ac72c4ap-48, 0x7ac72c4a69cfp-48, 0x2c4a69cfba20p-48, 0x69cfba208d7dp-48,
        0xba208d7d4baep-48, 0x8d7d4baed121p-48, 0x4baed1213a67p-48, 0xd1213a671c09p-48,
        0x3a671c09ad17p-48, 0x1c09ad17df90p-48, 0xad17df904e64p-48, 0xdf904e64758ep-48,
        0x4e64758e60d4p-48, 0x758e60d4ce7dp-48, 0x60d4ce7d2721p-48, 0xce7d272117e2p-48,
        0x272117e2ef7ep-48, 0x17e2ef7e4a0ep-48, 0xef7e4a0ec7fep-48, 0x4a0ec7fe25ffp-48,
        0xc7fe25fff781p-48, 0x25fff7816603p-48, 0xf7816603fbcbp-48, 0x6603fbcbc462p-48,
        0xfbcbc462d682p-48, 0xc462d6829b47p-48, 0xd6829b47db4dp-48, 0x9b47db4d9fb3p-48,
        0xdb4d9fb3c9f2p-48, 0x9fb3c9f2c26dp-48, 0xc9f2c26dd3d1p-48, 0xc26dd3d18fd9p-48,
        0xd3d18fd9a797p-48, 0x8fd9a797fa8bp-48, 0xa797fa8b5d49p-48, 0xfa8b5d49eeb1p-48,
        0x5d49eeb1faf9p-48, 0xeeb1faf97c5ep-48, 0xfaf97c5ecf41p-48, 0x7c5ecf41ce7dp-48,
        0xcf41ce7de294p-48, 0xce7de294a4bap-48, 0xe294a4ba9afep-48, 0xa4ba9afed7ecp-48,
        0x9afed7ec47e3p-48, 0xd7ec47e35742p-48,
    };
    return digits[i];
}

/*
 * For x >= 0. Four pieces of 1/2π, of 48 bits each, are enough: their exact products with x, which is
 * first divided by the weight of the digits left out, are below 2^69, 2^21, 2^-27 and 2^-75.
 */
TG_MATH_INLINE struct tg_math_angle tg_math_angle_f64(double x)
{
    uint64_t above = (tg_double_bits(x) >> 52) - (1023 + 52); /* the place of x's last bit, */
    uint64_t at = (above & ((above >> 63) - 1)) >> 4;         /* if that is not negative */
    double scaled = tg_math_mul_f64(x, tg_double_from_bits((1023 - 16 * at) << 52)), quarters, more;
    struct tg_math_pair a = tg_math_product(scaled, tg_math_turn_digits(at));
    struct tg_math_pair b =
        tg_math_product(tg_math_mul_f64(scaled, 0x1p-48), tg_math_turn_digits(at + 3));
    struct tg_math_pair c =
        tg_math_product(tg_math_mul_f64(scaled, 0x1p-96), tg_math_turn_digits(at + 6));
    double d = tg_math_mul_f64(tg_math_mul_f64(scaled, 0x1p-144), tg_math_turn_digits(at + 9));
    struct tg_math_pair sum, tail, low, turn;
    struct tg_math_angle y;
    sum = tg_math_sum(tg_math_fraction(a.hi), a.lo - tg_math_round_f64(a.lo));
    low.lo = sum.lo;
    sum = tg_math_sum(sum.hi, tg_math_fraction(b.hi));
    quarters = tg_math_round_f64(4 * sum.hi);
    sum.hi -= 0.25 * quarters;
    /* What follows is small, but it is all there is if x is close to a multiple of π/2. */
    low = tg_math_sum(low.lo, sum.lo);
    tail = tg_math_sum(b.lo, c.hi);
    d += low.lo + tail.lo + c.lo;
    low = tg_math_sum(low.hi, tail.hi);
    sum = tg_math_sum(sum.hi, low.hi);
    more = tg_math_round_f64(4 * sum.hi);
    sum = tg_math_sum_ordered(sum.hi - 0.25 * more, sum.lo + (low.lo + d));
    y.n = quarters + more;
    turn.hi = 0x1.921fb54442d18p+2;
    turn.lo = 0x1.1a62633145c07p-52;
    y.rest = tg_math_times(sum, turn);
    return y;
}

/* sin(x + shift·π/2) for x >= 0. */
TG_MATH_INLINE double tg_math_turned_f64(double x, double shift)
{
    struct tg_math_angle at = tg_math_angle_f64(x);
    double n = at.n + shift, t = at.rest.hi, z = tg_math_mul_f64(t, t), s, c, half, one;
    s = tg_math_madd_f64(0x1.5d92ffb48eaaep-33, z, -0x1.ae5e663884b0ap-26);
    s = tg_math_madd_f64(s, z, 0x1.71de3577b7ee4p-19);
    s = tg_math_madd_f64(s, z, -0x1.a01a019c11a11p-13);
    s = tg_math_madd_f64(s, z, 0x1.111111110f87bp-7);
    s = tg_math_madd_f64(s, z, -0x1.5555555555549p-3);
    c = tg_math_madd_f64(-0x1.8faea2f6a0ec6p-37, z, 0x1.1ee9ebf5ae72cp-29);
    c = tg_math_madd_f64(c, z, -0x1.27e4f80a02eebp-22);
    c = tg_math_madd_f64(c, z, 0x1.a01a019cb1d71p-16);
    c = tg_math_madd_f64(c, z, -0x1.6c16c16c1517fp-10);
    c = tg_math_madd_f64(c, z, 0x1.555555555554cp-5);
    /* sin(t + lo) = t + (t³·s + lo·cos t); cos(t + lo) = 1 - t²/2 + (t⁴·c - lo·t) */
    half = tg_math_mul_f64(z, 0.5);
    s = tg_math_madd_f64(s, tg_math_mul_f64(z, t), tg_math_mul_f64(at.rest.lo, 1.0 - half)) + t;
    one = 1.0 - half;
    c = tg_math_madd_f64(c, tg_math_mul_f64(z, z), -tg_math_mul_f64(at.rest.lo, t));
    c = one + (((1.0 - one) - half) + c);
    s = tg_math_select_f64(tg_math_bit0(n), c, s);
    return tg_math_select_f64(tg_math_bit1(n), -s, s);
}

/* The sine, of radians. */
TG_MATH_INLINE double tg_sin_f64(double x)
{
    double far = tg_math_abs_f64(x), y = tg_math_turned_f64(far, 0.0);
    y = tg_math_select_f64(tg_math_is_negative(x), -y, y);
    y = tg_math_select_f64(tg_math_is_below(far, 0x1p-27), x, y); /* also keeps the sign of 0 */
    return tg_math_select_f64(tg_math_is_below(far, tg_math_infinity_f64()), y, tg_math_nan_f64());
}

/* The cosine, of radians. */
TG_MATH_INLINE double tg_cos_f64(double x)
{
    double far = tg_math_abs_f64(x), y = tg_math_turned_f64(far, 1.0);
    y = tg_math_select_f64(tg_math_is_below(far, 0x1p-27), 1.0, y);
    return tg_math_select_f64(tg_math_is_below(far, tg_math_infinity_f64()), y, tg_math_nan_f64());
}

#endif
