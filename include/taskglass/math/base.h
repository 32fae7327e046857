/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic under taskglass/math.h: products that no compiler merges with a sum, sums and
 * products with their rounding errors, rounding to integers, powers of two.
 *
 * A compiler may turn a·b + c into one instruction that rounds once ("contraction"), if the machine
 * has it and the flags allow it. The result would depend on both. Therefore every product of these
 * headers goes through tg_math_mul_*:
 *
 *   a machine with fused multiply-add    it is the fused a·b + 0, which cannot be merged further
 *   any other simulator                  it is a·b, and there is nothing to merge it with
 *   a GPU                                an intrinsic that is never merged
 *
 * All give a·b rounded once; only the sign of a zero can differ, and no result depends on that.
 * tg_math_madd_* is a·b + c, fused only on GPUs. So all simulators compute the same bits, and a GPU
 * computes others within the same bounds, faster.
 */
#ifndef TASKGLASS_MATH_BASE_H
#define TASKGLASS_MATH_BASE_H

#include <taskglass/numeric.h>
#include <taskglass/target.h>

/* A loop that calls a function cannot be vectorised, so that compilers are not left the choice. */
#if defined(__CUDACC__)
#define TG_MATH_INLINE TG_INLINE
#else
#define TG_MATH_INLINE TG_INLINE __attribute__((always_inline))
#endif

/* TG_MATH_AS_GPU makes the tests compute on a CPU what a GPU computes. */
#if defined(__CUDA_ARCH__)
#define TG_MATH_FUSED_ 1
#define TG_MATH_MUL_F32_(a, b) __fmul_rn((a), (b))
#define TG_MATH_MUL_F64_(a, b) __dmul_rn((a), (b))
#define TG_MATH_FMA_F32_(a, b, c) __fmaf_rn((a), (b), (c))
#define TG_MATH_FMA_F64_(a, b, c) __fma_rn((a), (b), (c))
#define TG_MATH_SQRT_F32_(x) __fsqrt_rn(x)
#define TG_MATH_SQRT_F64_(x) __dsqrt_rn(x)
#elif !defined(__CUDACC__) && (defined(__FMA__) || defined(__FP_FAST_FMA) || defined(__aarch64__))
#define TG_MATH_MUL_F32_(a, b) __builtin_fmaf((a), (b), 0.0f)
#define TG_MATH_MUL_F64_(a, b) __builtin_fma((a), (b), 0.0)
#define TG_MATH_FMA_F32_(a, b, c) __builtin_fmaf((a), (b), (c))
#define TG_MATH_FMA_F64_(a, b, c) __builtin_fma((a), (b), (c))
#if defined(TG_MATH_AS_GPU)
#define TG_MATH_FUSED_ 1
#endif
#else
#define TG_MATH_MUL_F32_(a, b) ((a) * (b))
#define TG_MATH_MUL_F64_(a, b) ((a) * (b))
#endif

/*
 * The square root is one instruction, but __builtin_sqrt becomes a call of libm for the sake of errno
 * unless -fno-math-errno is given. These builtins of x86 have no errno; clang vectorises them too.
 */
#if !defined(TG_MATH_SQRT_F32_) && defined(__SSE2__) && !defined(__NO_MATH_ERRNO__) && \
    !defined(__CUDACC__)
typedef float tg_math_v4f_ __attribute__((vector_size(16)));
typedef double tg_math_v2d_ __attribute__((vector_size(16)));
TG_MATH_INLINE float tg_math_sqrt_f32(float x)
{
    tg_math_v4f_ v = {x, 0, 0, 0};
    return __builtin_ia32_sqrtss(v)[0];
}
TG_MATH_INLINE double tg_math_sqrt_f64(double x)
{
    tg_math_v2d_ v = {x, 0};
    return __builtin_ia32_sqrtsd(v)[0];
}
#define TG_MATH_SQRT_F32_(x) tg_math_sqrt_f32(x)
#define TG_MATH_SQRT_F64_(x) tg_math_sqrt_f64(x)
#elif !defined(TG_MATH_SQRT_F32_)
#define TG_MATH_SQRT_F32_(x) __builtin_sqrtf(x)
#define TG_MATH_SQRT_F64_(x) __builtin_sqrt(x)
#endif

/* The bits of a float32, and back. */
TG_MATH_INLINE uint32_t tg_float32_bits(float value)
{
    uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}
TG_MATH_INLINE float tg_float32_from_bits(uint32_t bits)
{
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

/* Every NaN that these functions return is this one. */
TG_MATH_INLINE float tg_math_nan_f32(void)
{
    return tg_float32_from_bits(0x7fc00000u);
}
TG_MATH_INLINE double tg_math_nan_f64(void)
{
    return tg_double_from_bits((uint64_t)0x7ff80000u << 32);
}
TG_MATH_INLINE float tg_math_infinity_f32(void)
{
    return tg_float32_from_bits(0x7f800000u);
}
TG_MATH_INLINE double tg_math_infinity_f64(void)
{
    return tg_double_from_bits((uint64_t)0x7ff00000u << 32);
}

/*
 * a if the condition holds, else b. With a conditional expression, compilers put the computation of
 * one value behind a branch, and then do not vectorise the loop, since a branch must not become
 * arithmetic that could trap.
 */
TG_MATH_INLINE float tg_math_select_f32(bool condition, float a, float b)
{
#if defined(__CUDACC__)
    return condition ? a : b;
#else
    uint32_t mask = 0 - (uint32_t)condition;
    return tg_float32_from_bits((tg_float32_bits(a) & mask) | (tg_float32_bits(b) & ~mask));
#endif
}
TG_MATH_INLINE double tg_math_select_f64(uint64_t mask, double a, double b)
{
#if defined(__CUDACC__)
    return mask ? a : b;
#else
    return tg_double_from_bits((tg_double_bits(a) & mask) | (tg_double_bits(b) & ~mask));
#endif
}

/*
 * Conditions for tg_math_select_f64: all bits set, or none. gcc cannot vectorise comparisons of doubles
 * that become masks for machines before SSE 4.2, but it can vectorise integer arithmetic.
 */
#if defined(__SSE2__) && !defined(__SSE4_2__) && !defined(__clang__) && !defined(__CUDACC__)
#define TG_MATH_MASK_(condition, sign) (0 - ((sign) >> 63))
#else
#define TG_MATH_MASK_(condition, sign) (0 - (uint64_t)(condition))
#endif

/* Whether the bit of the sign is set, also of -0. */
TG_MATH_INLINE uint64_t tg_math_is_negative(double x)
{
    return 0 - (tg_double_bits(x) >> 63);
}

/* a < b for numbers that are not negative; if one is, or is NaN, the answer may be either. */
TG_MATH_INLINE uint64_t tg_math_is_below(double a, double b)
{
    return TG_MATH_MASK_(a < b, tg_double_bits(a) - tg_double_bits(b));
}

/* x == 0, of either sign. */
TG_MATH_INLINE uint64_t tg_math_is_zero(double x)
{
    return TG_MATH_MASK_(x == 0, (tg_double_bits(x) << 1 >> 1) - 1);
}

/* x is not a number. */
TG_MATH_INLINE uint64_t tg_math_is_nan(double x)
{
    return TG_MATH_MASK_(x != x, ((uint64_t)0x7ff00000u << 32) - (tg_double_bits(x) << 1 >> 1));
}

/* a == b, where b is not 0. */
TG_MATH_INLINE uint64_t tg_math_is_equal(double a, double b)
{
    uint64_t difference = tg_double_bits(a) ^ tg_double_bits(b);
    (void)difference; /* not every build looks at it */
    return TG_MATH_MASK_(a == b, ~(difference | (0 - difference)));
}

/* |x|, and the magnitude of x with the sign of y. */
TG_MATH_INLINE float tg_math_abs_f32(float x)
{
    return tg_float32_from_bits(tg_float32_bits(x) & 0x7fffffffu);
}
TG_MATH_INLINE double tg_math_abs_f64(double x)
{
    return tg_double_from_bits(tg_double_bits(x) & ~((uint64_t)1 << 63));
}
TG_MATH_INLINE float tg_math_sign_f32(float x, float y)
{
    return tg_float32_from_bits((tg_float32_bits(x) & 0x7fffffffu) |
                                (tg_float32_bits(y) & 0x80000000u));
}
TG_MATH_INLINE double tg_math_sign_f64(double x, double y)
{
    const uint64_t sign = (uint64_t)1 << 63;
    return tg_double_from_bits((tg_double_bits(x) & ~sign) | (tg_double_bits(y) & sign));
}

/* a·b, and a·b + c; see above. */
TG_MATH_INLINE float tg_math_mul_f32(float a, float b)
{
    return TG_MATH_MUL_F32_(a, b);
}
TG_MATH_INLINE double tg_math_mul_f64(double a, double b)
{
    return TG_MATH_MUL_F64_(a, b);
}
TG_MATH_INLINE float tg_math_madd_f32(float a, float b, float c)
{
#if defined(TG_MATH_FUSED_)
    return TG_MATH_FMA_F32_(a, b, c);
#else
    return TG_MATH_MUL_F32_(a, b) + c;
#endif
}
TG_MATH_INLINE double tg_math_madd_f64(double a, double b, double c)
{
#if defined(TG_MATH_FUSED_)
    return TG_MATH_FMA_F64_(a, b, c);
#else
    return TG_MATH_MUL_F64_(a, b) + c;
#endif
}

/* A number as an unevaluated sum; lo is at most half a unit in the last place of hi. */
struct tg_math_pair {
    double hi, lo;
};

/* a + b exactly, for |a| >= |b| or a = 0. */
TG_MATH_INLINE struct tg_math_pair tg_math_sum_ordered(double a, double b)
{
    struct tg_math_pair s;
    s.hi = a + b;
    s.lo = (a - s.hi) + b;
    return s;
}

/* a + b exactly. */
TG_MATH_INLINE struct tg_math_pair tg_math_sum(double a, double b)
{
    struct tg_math_pair s;
    double part;
    s.hi = a + b;
    part = s.hi - a;
    s.lo = (a - (s.hi - part)) + (b - part);
    return s;
}

/*
 * a·b exactly, for factors below 2^995 and products that are 0 or above 2^-960. Without fused
 * multiply-add each factor is split into halves of 26 bits, whose products are exact (Dekker).
 */
TG_MATH_INLINE struct tg_math_pair tg_math_product(double a, double b)
{
    struct tg_math_pair p;
#if defined(TG_MATH_FMA_F64_)
    p.hi = tg_math_mul_f64(a, b);
    p.lo = TG_MATH_FMA_F64_(a, b, -p.hi);
#else
    const double splitter = 0x1p27 + 1;
    double a_scaled = splitter * a, b_scaled = splitter * b;
    double a_hi = a_scaled - (a_scaled - a), b_hi = b_scaled - (b_scaled - b);
    double a_lo = a - a_hi, b_lo = b - b_hi;
    p.hi = a * b;
    p.lo = ((a_hi * b_hi - p.hi) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo;
#endif
    return p;
}

/* a / b for pairs, good to some 2^-100. */
TG_MATH_INLINE struct tg_math_pair tg_math_quotient(struct tg_math_pair a, struct tg_math_pair b)
{
    double q = a.hi / b.hi;
    struct tg_math_pair back = tg_math_product(q, b.hi);
    double rest = ((a.hi - back.hi) - back.lo) + (a.lo - tg_math_mul_f64(q, b.lo));
    return tg_math_sum_ordered(q, rest / b.hi);
}

/* a·b for pairs, good to some 2^-100. */
TG_MATH_INLINE struct tg_math_pair tg_math_times(struct tg_math_pair a, struct tg_math_pair b)
{
    struct tg_math_pair p = tg_math_product(a.hi, b.hi);
    double rest = tg_math_mul_f64(a.hi, b.lo) + tg_math_mul_f64(a.lo, b.hi);
    return tg_math_sum_ordered(p.hi, p.lo + rest);
}

/* The nearest integer, ties to even, for |x| <= 2^22 and 2^51. */
TG_MATH_INLINE float tg_math_round_f32(float x)
{
    const float shift = 0x1.8p23f;
    return (x + shift) - shift;
}
TG_MATH_INLINE double tg_math_round_f64(double x)
{
    const double shift = 0x1.8p52;
    return (x + shift) - shift;
}

/* 2^k for integers k from -1022 to 1023. */
TG_MATH_INLINE double tg_math_power_f64(double k)
{
    return tg_double_from_bits((tg_double_bits(k + 0x1.8p52) << 52) + ((uint64_t)1023 << 52));
}

/* x·2^k, rounded once, for integers |k| <= 250 and 2040. It takes two steps, since 2^k itself may be
 * out of range where the product is not, or is subnormal. */
TG_MATH_INLINE float tg_math_scale_f32(float x, float k)
{
    int32_t whole = (int32_t)(tg_float32_bits(k + 0x1.8p23f) - 0x4b400000u), half = whole >> 1;
    float first = tg_float32_from_bits((uint32_t)(half + 127) << 23);
    float second = tg_float32_from_bits((uint32_t)(whole - half + 127) << 23);
    return tg_math_mul_f32(tg_math_mul_f32(x, first), second);
}
TG_MATH_INLINE double tg_math_scale_f64(double x, double k)
{
    double half = tg_math_round_f64(tg_math_mul_f64(k, 0.5));
    return tg_math_mul_f64(tg_math_mul_f64(x, tg_math_power_f64(half)),
                           tg_math_power_f64(k - half));
}

/* x within [low, high], both finite. NaN may become anything. */
TG_MATH_INLINE float tg_math_clamp_f32(float x, float low, float high)
{
    x = tg_math_select_f32(x < low, low, x);
    return tg_math_select_f32(x > high, high, x);
}
TG_MATH_INLINE double tg_math_clamp_f64(double x, double low, double high)
{
    x = tg_math_select_f64(TG_MATH_MASK_(x < low, tg_double_bits(x - low)), low, x);
    return tg_math_select_f64(TG_MATH_MASK_(x > high, tg_double_bits(high - x)), high, x);
}

#endif
