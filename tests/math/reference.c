/* SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"
#include <float.h>
#include <math.h>
#include <string.h>
#include <taskglass/math.h>

/* A number with some 113 bits, for arguments whose error e^x would multiply. */
#if LDBL_MANT_DIG == 64
__extension__ typedef __float128 wide;
#else
typedef long double wide;
#endif

static const long double root_half_high = 0.70710678118654752440084436210484903928L;

static long double exact_rsqrt(long double x)
{
    return 1 / sqrtl(x);
}

static long double exact_sigmoid(long double x)
{
    return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x));
}

static long double exact_gelu(long double x)
{
    /* erfc(z + d) with d what z lost; √½ as hi + lo: (√½ - hi) = (½ - hi²) / (2·hi) */
    wide hi = root_half_high, lo = ((wide)0.5 - hi * hi) / (2 * hi), z = (hi + lo) * -x;
    long double near = (long double)z, d = (long double)(z - near);
    long double slope = -2 / sqrtl(acosl(-1)) * expl(-near * near);
    return isinf(x) ? (x > 0 ? x : -0.0L) : x / 2 * (erfcl(near) + slope * d);
}

static long double exact_gelu_tanh(long double x)
{
    /* √(8/π), as the square root of hi + lo corrected by one step of Newton */
    wide pi = (wide)3.14159265358979323846264338327950288L + (wide)-5.0165576126683320235e-20L;
    wide square = 8 / pi, root = sqrtl((long double)square);
    wide cube = (wide)44715 / 1000000, u;
    long double near, d, e;
    root = (root + square / root) / 2;
    u = root * ((wide)x + cube * x * x * x);
    near = (long double)u;
    d = (long double)(u - near);
    if (near > 11000 || near < -11000)
        return near > 0 ? x : -0.0L;
    if (near >= 0)
        return x / (1 + expl(-near) * (1 - d));
    e = expl(near) * (1 + d);
    return x * e / (1 + e);
}

/* float32 has arguments so short that a double is enough. */
static double short_rsqrt(double x)
{
    return 1 / sqrt(x);
}

static double short_sigmoid(double x)
{
    return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

static double short_gelu(double x)
{
    return isinf(x) ? (x > 0 ? x : -0.0) : x / 2 * erfc(-x * 0.70710678118654752440);
}

static double short_gelu_tanh(double x)
{
    double u = 1.5957691216057307117 * (x + 0.044715 * x * x * x), e = exp(-fabs(u));
    return isinf(x) ? (x > 0 ? x : -0.0) : u < 0 ? x * e / (1 + e) : x / (1 + e);
}

#define ROW(name, coarse, fine, low, high)                                       \
    {                                                                            \
#name, coarse, fine, low, high, tg_##name##_f32_ulp, tg_##name##_f64_ulp \
    }

const struct math_function math_functions[] = {
    ROW(exp, exp, expl, -760, 712),
    ROW(exp2, exp2, exp2l, -1080, 1026),
    ROW(log, log, logl, 0, 0),
    ROW(log2, log2, log2l, 0, 0),
    ROW(sqrt, sqrt, sqrtl, 0, 0),
    ROW(rsqrt, short_rsqrt, exact_rsqrt, 0, 0),
    ROW(tanh, tanh, tanhl, -25, 25),
    ROW(erf, erf, erfl, -7, 7),
    ROW(sin, sin, sinl, -1000, 1000),
    ROW(cos, cos, cosl, -1000, 1000),
    ROW(sigmoid, short_sigmoid, exact_sigmoid, -760, 40),
    ROW(gelu, short_gelu, exact_gelu, -40, 10),
    ROW(gelu_tanh, short_gelu_tanh, exact_gelu_tanh, -40, 10),
};
const int math_function_count = sizeof math_functions / sizeof math_functions[0];

double math_ulp_f32(float got, double exact)
{
    int exponent;
    if (isnan(got) || isnan(exact))
        return isnan(got) && isnan(exact) ? 0 : 1e30;
    if (isinf(got) && fabs(exact) >= 0x1p128 && !signbit(got) == !signbit(exact))
        return 0;
    exponent = exact == 0 ? -126 : ilogb(exact);
    exponent = exponent < -126 ? -126 : exponent > 127 ? 127 : exponent;
    return fabs((isinf(got) ? copysign(0x1p128, (double)got) : (double)got) - exact) *
           ldexp(1, 23 - exponent);
}

double math_ulp_f64(double got, long double exact)
{
    int exponent;
    if (isnan(got) || isnan(exact))
        return isnan(got) && isnan(exact) ? 0 : 1e30;
    if (isinf(got) && fabsl(exact) >= 0x1p1024L && !signbit(got) == !signbit(exact))
        return 0;
    exponent = exact == 0 ? -1022 : ilogbl(exact);
    exponent = exponent < -1022 ? -1022 : exponent > 1023 ? 1023 : exponent;
    return (double)ldexpl(
        fabsl((isinf(got) ? copysignl(0x1p1024L, got) : (long double)got) - exact), 52 - exponent);
}

uint64_t math_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* The doubles of all sizes that are closest to a multiple of π/2, by continued fractions. */
static const double near_quarters[] = {
    0x1.6ac5b262ca1ffp+849, 0x1.6c6cbc45dc8dep+5,   0x1.6ac5b262ca1ffp+850, 0x1.6c6cbc45dc8dep+6,
    0x1.b951f1572eba5p+23,  0x1.504cac51f1eafp+131, 0x1.e009c53148be1p+991, 0x1.4c96c11134d36p+577,
    0x1.cfe482285f8edp+860, 0x1.db41f3cb71d7bp+680, 0x1.e7e44a78ac18cp+197, 0x1.c45cd11154dfdp+295,
    0x1.83009e2e9e2ebp+614, 0x1.b2196364d750bp+253, 0x1.69eab0985179bp+246, 0x1.782b7a20df6d4p+67,
};
/* Where results begin to be subnormal, infinite, 0 or 1, and what else is an end. */
static const double ends[] = {
    0.0,
    0x1p-1074,
    0x1.fffffffffffffp-1023,
    0x1p-1022,
    0x1.fffffffffffffp1023,
    709.782712893384,
    745.1332191019411,
    708.3964185322641,
    1024.0,
    1074.0,
    1075.0,
    1022.0,
    744.4400719213812,
    36.7368005696771,
    18.714973875118524,
    19.061547465398498,
    5.921587195794508,
    37.519379347,
    38.56,
    39.0,
    1.0,
    0.5,
    0.75,
    2.0,
    0.70710678118654757,
    1.4142135623730951,
    0x1p-27,
    0x1p-28,
    0x1p53,
    0x1p52,
    0x1p54,
    60.0,
    6.5,
    22.0,
    0x1p-700,
    0x1p700,
    0x1p16,
    0x1p70,
};

/* A double with the bits of `random`, but an exponent from `from` to `from + count - 1`. */
static double shaped(uint64_t random, int from, int count, uint64_t *state)
{
    uint64_t exponent = (uint64_t)(1023 + from) + math_random(state) % (uint64_t)count;
    return tg_double_from_bits((random & ~((uint64_t)2047 << 52)) | exponent << 52);
}

double math_hard_f64(const struct math_function *f, uint64_t i, uint64_t *state)
{
    enum { ENDS = sizeof ends / sizeof *ends, NEAR = sizeof near_quarters / sizeof *near_quarters };
    uint64_t random = math_random(state);
    if (i < ENDS * 42u) { /* each with its neighbours, and with both signs */
        double x = tg_double_from_bits(tg_double_bits(ends[i / 42]) + i / 2 % 21 - 10);
        return i % 2 ? -x : x;
    }
    if (i < ENDS * 42u + NEAR * 42u) {
        double x =
            tg_double_from_bits(tg_double_bits(near_quarters[i % NEAR]) + i / NEAR % 21 - 10);
        return i / NEAR / 21 % 2 ? -x : x;
    }
    if (f->low == f->high)
        return i % 4 ? fabs(shaped(random, i % 4 == 1 ? -1 : -3, 6, state))
                     : tg_double_from_bits(random);
    switch (i % 8) {
    case 0:
        return tg_double_from_bits(random);
    case 1: /* near the ends of the reduction by ln 2, and in the middle */
        return ((double)(random % 2200) - 1100) * 0.34657359027997264 *
               (1 + (double)(i % 64) * 0x1p-52);
    case 2:
    case 3:
        return f->low + (f->high - f->low) * ((double)(random >> 11) * 0x1p-53);
    case 4: /* near multiples of π/4 */
        return (double)(random >> 40) * 0.78539816339744831 * (1 + (double)(i % 64) * 0x1p-52);
    case 5:
        return shaped(random, -30, 36, state);
    default:
        return shaped(random, -4, 7, state);
    }
}

void math_pair_f32(uint64_t *state, float *x, float *y)
{
    uint64_t random = math_random(state);
    *x = tg_float32_from_bits((uint32_t)random);
    *y = tg_float32_from_bits((uint32_t)(random >> 32));
    if (random >> 35 & 7) { /* a result between 2^-151 and 2^129 */
        double size = (double)(random >> 40) * 0x1p-24 * 280 - 151;
        if (random >> 36 & 1) /* near 1, where large exponents are */
            *x = tg_float32_from_bits(0x3f800000u +
                                      (uint32_t)((int32_t)random >> (random >> 59 & 15)) / 512);
        *x = fabsf(*x);
        *y = (float)(size / log2((double)*x));
    }
}

void math_pair_f64(uint64_t *state, double *x, double *y)
{
    uint64_t random = math_random(state), other = math_random(state);
    *x = tg_double_from_bits(random);
    *y = tg_double_from_bits(other);
    if (other & 7) {
        double size = (double)(other >> 11) * 0x1p-53 * 2102 - 1076;
        if (other >> 3 & 1)
            *x = 1 + ldexp((double)(int64_t)random, -63 - (int)(other >> 4 & 63));
        else if (other >> 10 & 1)
            *x = shaped(random, -4, 8, state);
        *x = fabs(*x);
        *y = (double)(size / log2(*x));
    }
}

int math_special_pair(int i, double *x, double *y)
{
    static const double values[] = {
        0.0,
        0x1p-1074,
        0x1p-149,
        0x1p-126,
        0.25,
        0.5,
        0x1.fffffep-1,
        0x1.fffffffffffffp-1,
        1.0,
        0x1.0000000000001p0,
        0x1.000002p0,
        1.5,
        2.0,
        2.5,
        3.0,
        4.0,
        5.0,
        7.5,
        8.0,
        10.0,
        127.0,
        128.0,
        149.0,
        150.0,
        1023.0,
        1024.0,
        1074.0,
        1075.0,
        0x1.fffffep23,
        0x1p24,
        0x1.000002p24,
        0x1.fffffffffffffp52,
        0x1p53,
        0x1.0000000000001p53,
        0x1.fffffep127,
        0x1.fffffffffffffp1023,
        INFINITY,
        NAN,
    };
    enum { N = 2 * sizeof values / sizeof *values };
    if (i >= N * N)
        return 0;
    *x = copysign(values[i / N / 2], i / N % 2 ? -1 : 1);
    *y = copysign(values[i % N / 2], i % 2 ? -1 : 1);
    return 1;
}
