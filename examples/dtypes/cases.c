/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden values computed without <taskglass/numeric.h>, which the kernels use: floats are decoded
 * by the formula of their format, and rounded by searching the nearest of all values of the format.
 * Everything is compared with tolerance zero.
 */
#include "dtypes.h"

#include <math.h>
#include <string.h>
#include <taskglass/workload.h>

static const struct tg_kernel_def kernels[DTYPES_KERNELS] = {
    [DTYPES_CAST] = {"dtypes_cast", dtypes_cast, TG_AIV, "in out"},
    [DTYPES_TWICE] = {"dtypes_twice", dtypes_twice, TG_AIV, "inout"},
    [DTYPES_SCALARS] = {"dtypes_scalars", dtypes_scalars, TG_AIV,
                        "out:uint64 out:float64 scalar:float64 scalar:float32 scalar:float16 "
                        "scalar:bfloat16 scalar:float8_e4m3fn scalar:float8_e5m2 "
                        "scalar:float8_e8m0fnu scalar:int64 scalar:int32 scalar:int16 "
                        "scalar:int8 scalar:uint64 scalar:uint32 scalar:uint16 scalar:uint8 "
                        "scalar:bool"},
};

/* A task, and so a case, has room for 16 tensors, so the 18 types need two cases. */
static const struct tg_case_def cases[] = {
    {"floats", "float64 to float4_e2m1fn, and a scalar of each type", "n=256 types=floats"},
    {"integers", "int64 to int4, unsigned and bool, and a scalar of each type",
     "n=256 types=integers"},
    {"odd", "an odd count: the last byte of a 4-bit type holds one element", "n=77 types=floats"},
    {"odd_integers", "the same for integers", "n=77 types=integers"},
};

struct type {
    enum tg_dtype dtype;
    const char *name;
    int bits;
};

#define TYPE(constant, number, bits, name, kind) {TG_##constant, name, bits},
static const struct type types[] = {TG_DTYPE_MAP(TYPE)};
#undef TYPE
/* The numbers 1 to 18: types that came later have no formula here. */
enum { N_TYPES = TG_BOOL, N_SCALARS = 16 };

static bool is_float(enum tg_dtype dtype)
{
    return dtype <= TG_FLOAT4_E2M1FN;
}

/* How a format uses the codes at its upper end. */
enum top { HAS_INFINITY, HAS_NAN_ONLY, ALL_FINITE };

/* clang-format off */
static const struct format {
    int exponent, mantissa, bias;
    enum top top;
} formats[] = {
    [TG_FLOAT64] = {11, 52, 1023, HAS_INFINITY},
    [TG_FLOAT32] = {8, 23, 127, HAS_INFINITY},
    [TG_FLOAT16] = {5, 10, 15, HAS_INFINITY},
    [TG_BFLOAT16] = {8, 7, 127, HAS_INFINITY},
    [TG_FLOAT8_E4M3FN] = {4, 3, 7, HAS_NAN_ONLY},
    [TG_FLOAT8_E5M2] = {5, 2, 15, HAS_INFINITY},
    [TG_FLOAT4_E2M1FN] = {2, 1, 1, ALL_FINITE},
};
/* clang-format on */

/* The largest finite code, without its sign bit. */
static uint64_t largest_code(struct format f)
{
    uint64_t end = (uint64_t)1 << (f.exponent + f.mantissa);
    switch (f.top) {
    case HAS_INFINITY:
        return end - ((uint64_t)1 << f.mantissa) - 1;
    case HAS_NAN_ONLY:
        return end - 2;
    default:
        return end - 1;
    }
}

/* The magnitude of a code, as if the format had no largest value. */
static double magnitude(struct format f, uint64_t code)
{
    uint64_t unit = (uint64_t)1 << f.mantissa;
    int exponent = (int)(code >> f.mantissa);
    double fraction = (double)(code & (unit - 1)) / (double)unit;
    return exponent ? ldexp(1 + fraction, exponent - f.bias) : ldexp(fraction, 1 - f.bias);
}

static double decode_float(struct format f, uint64_t bits)
{
    uint64_t sign = (uint64_t)1 << (f.exponent + f.mantissa), code = bits & (sign - 1);
    double value = magnitude(f, code);
    if (code > largest_code(f))
        value = f.top == HAS_INFINITY && code == largest_code(f) + 1 ? HUGE_VAL : NAN;
    return bits & sign ? -value : value;
}

static double decode(enum tg_dtype dtype, int n_bits, uint64_t bits)
{
    double value = (double)bits;
    switch (dtype) {
    case TG_FLOAT8_E8M0FNU:
        return bits == 255 ? NAN : ldexp(1, (int)bits - 127);
    case TG_INT64:
        return (double)(int64_t)bits;
    case TG_INT32:
    case TG_INT16:
    case TG_INT8:
    case TG_INT4:
        return bits >> (n_bits - 1) ? value - ldexp(1, n_bits) : value;
    case TG_BOOL:
        return bits != 0;
    default:
        return is_float(dtype) ? decode_float(formats[dtype], bits) : value;
    }
}

/* The nearest value of a format, ties to the even code. Codes are in the order of their values,
 * so halving the interval finds the two neighbours. */
static double nearest_float(struct format f, double value)
{
    uint64_t low = 0, high = largest_code(f) + 1;
    double size = fabs(value), below, above;
    if (isnan(value))
        return f.top == ALL_FINITE ? 0 : NAN;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (magnitude(f, middle) <= size)
            low = middle;
        else
            high = middle;
    }
    below = size - magnitude(f, low);
    above = magnitude(f, high) - size;
    if (above < below || (above == below && high % 2 == 0))
        low = high;
    if (low > largest_code(f))
        size = f.top == HAS_INFINITY ? HUGE_VAL : magnitude(f, largest_code(f));
    else
        size = magnitude(f, low);
    return value < 0 ? -size : size;
}

/* The nearest power of two from 2^-127 to 2^127. */
static double nearest_e8m0(double value)
{
    int exponent;
    double fraction = frexp(value, &exponent); /* in [0.5, 1) */
    if (isnan(value) || value < 0)
        return NAN;
    if (isinf(value))
        return ldexp(1, 127);
    exponent--;
    if (fraction > 0.75 || (fraction == 0.75 && exponent % 2 == 0)) /* code = exponent + 127 */
        exponent++;
    return value == 0 ? ldexp(1, -127) : ldexp(1, (int)fmax(fmin(exponent, 127), -127));
}

/* The value of a number after it was stored as an element of that type. */
static double nearest(enum tg_dtype dtype, int n_bits, double value)
{
    bool is_signed = dtype >= TG_INT64 && dtype <= TG_INT4;
    if (dtype == TG_FLOAT64)
        return value;
    if (dtype == TG_FLOAT8_E8M0FNU)
        return nearest_e8m0(value);
    if (is_float(dtype))
        return nearest_float(formats[dtype], value);
    if (dtype == TG_BOOL)
        return value != 0;
    if (isnan(value))
        return 0;
    /* No double is exactly 2^63 - 1, so 2^63 stands for it here; the check compares outputs as
     * doubles, where the two are the same. */
    double low = is_signed ? -ldexp(1, n_bits - 1) : 0;
    double high = ldexp(1, is_signed ? n_bits - 1 : n_bits) - (n_bits < 64 ? 1 : 0);
    return fmin(fmax(trunc(value), low), high);
}

/*
 * Element i of the input of a type: every bit pattern for types of up to 8 bits, and a spread of
 * patterns for wider ones, infinities and NaN included. Integers of 64 bits are limited to values
 * that a double holds exactly.
 */
static uint64_t pattern(enum tg_dtype dtype, int n_bits, int64_t i)
{
    uint64_t bits = (uint64_t)i % 256 * 0x0101010101010101u;
    if (dtype == TG_BOOL)
        return bits & 1;
    if (!is_float(dtype) && n_bits == 64)
        return bits & ~(uint64_t)0x7ff;
    return n_bits == 64 ? bits : bits & (((uint64_t)1 << n_bits) - 1);
}

static void put(uint8_t *base, int n_bits, int64_t i, uint64_t bits)
{
    if (n_bits == 4)
        base[i / 2] |= (uint8_t)(bits << (i % 2 * 4));
    else
        memcpy(base + i * (n_bits / 8), &bits, (size_t)n_bits / 8); /* little-endian */
}

/* Numbers to round: special ones first, then ties and near ties of every size. */
static float number(int64_t i)
{
    static const float special[] = {0,   1,   -1,    0.5f,  -0.5f, 3.4e38f, -3.4e38f, 1e-45f,
                                    448, 464, 57344, 61440, 65504, 65520,   6,        7};
    const int n = sizeof special / sizeof special[0];
    switch (i) {
    case 0:
        return NAN;
    case 1:
        return HUGE_VALF;
    case 2:
        return -HUGE_VALF;
    default:
        if (i < 3 + n)
            return special[i - 3];
        return ldexpf((float)(i % 61 - 30) + (i % 3 ? 0.5f : 0.25f), (int)(i % 37) - 20);
    }
}

/* The case's types: floats or integers. */
static bool wanted(struct tg_case *c, const struct type *t)
{
    return is_float(t->dtype) == (strcmp(tg_case_text(c, "types"), "floats") == 0);
}

/* A scalar of each type of 8 bits and up. */
static uint64_t scalar_bits(const struct type *t)
{
    return pattern(t->dtype, t->bits, 67 + 2 * (int)t->dtype);
}

static void prepare(struct tg_case *c)
{
    int64_t n = tg_case_int(c, "n"), k = 0, n_scalars = N_SCALARS;
    const char *which = tg_case_text(c, "types");

    if (n < 0 || n > 1 << 20) {
        tg_case_fail(c, "n must be from 0 to 1048576");
        return;
    }
    if (strcmp(which, "floats") != 0 && strcmp(which, "integers") != 0) {
        tg_case_fail(c, "types must be floats or integers");
        return;
    }
    for (int t = 0; t < N_TYPES; t++)
        k += wanted(c, &types[t]);

    float *numbers = tg_case_tensor(c, "numbers", TG_IN, TG_FLOAT32, 1, &n);
    for (int64_t i = 0; i < n; i++)
        numbers[i] = number(i);
    tg_case_tensor(c, "values", TG_OUT, TG_FLOAT64, 2, ((int64_t[]){k, n}));
    tg_case_tensor(c, "back", TG_OUT, TG_FLOAT64, 2, ((int64_t[]){k, n}));
    tg_case_tensor(c, "scalar_bits", TG_OUT, TG_UINT64, 1, &n_scalars);
    tg_case_tensor(c, "scalar_values", TG_OUT, TG_FLOAT64, 1, &n_scalars);
    for (const struct type *t = types; t < types + N_TYPES; t++) {
        if (wanted(c, t)) {
            uint8_t *x = tg_case_tensor(c, t->name, TG_INOUT, t->dtype, 1, &n);
            for (int64_t i = 0; i < n; i++)
                put(x, t->bits, i, pattern(t->dtype, t->bits, i));
        }
        if (t->bits >= 8)
            tg_case_scalar(c, t->name, t->dtype, scalar_bits(t));
    }
}

static void golden(struct tg_case *c)
{
    int64_t n = tg_case_int(c, "n"), row = 0, s = 0;
    double *values = tg_case_expect(c, "values", 0, 0);
    double *back = tg_case_expect(c, "back", 0, 0);
    uint64_t *bits = tg_case_expect_exact(c, "scalar_bits");
    double *scalars = tg_case_expect(c, "scalar_values", 0, 0);

    for (const struct type *t = types; t < types + N_TYPES; t++) {
        if (wanted(c, t)) {
            double *doubled = tg_case_expect(c, t->name, 0, 0);
            for (int64_t i = 0; i < n; i++) {
                double x = decode(t->dtype, t->bits, pattern(t->dtype, t->bits, i));
                values[row * n + i] = x;
                doubled[i] = nearest(t->dtype, t->bits, 2 * x);
                back[row * n + i] = nearest(t->dtype, t->bits, (double)number(i));
            }
            row++;
        }
        if (t->bits >= 8) {
            bits[s] = scalar_bits(t);
            scalars[s++] = decode(t->dtype, t->bits, scalar_bits(t));
        }
    }
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "dtypes",
    .summary = "all 18 element types, packed 4-bit ones included, and typed scalars",
    .kernels = kernels,
    .n_kernels = DTYPES_KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = dtypes,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
};
