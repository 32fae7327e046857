/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

#include "analysis/compare.h"
#include "base/tolerance.h"

/* One step of an 8- or 4-bit format: its last mantissa bit, and its smallest value near 0. */
static struct tg_tolerance one_step(unsigned dtype)
{
    struct tg_float_format format = tg_float_format_of(dtype);
    return (struct tg_tolerance){tg_float_decode(format, 1),
                                 tg_power_of_two(-(int)format.mantissa_bits)};
}

/*
 * Allows for rounding that grows with the order of summation: some millions of steps of float64,
 * about a hundred of float32, one or two of the short types. Types that hold only powers of two
 * (scales) get no tolerance, because one step is a factor of two, which rounding does not explain.
 * taskglass-diff(1) has the table.
 */
struct tg_tolerance tg_tolerance_default(int dtype)
{
    switch (dtype) {
    case TG_FLOAT64:
        return (struct tg_tolerance){1e-12, 1e-9};
    case TG_FLOAT32:
        return (struct tg_tolerance){1e-6, 1e-5};
    case TG_FLOAT16:
        return (struct tg_tolerance){1e-3, 1e-3};
    case TG_BFLOAT16:
        return (struct tg_tolerance){1e-2, 1e-2};
    default:
        return tg_number_of((unsigned)dtype) == TG_NUMBER_SHORT ? one_step((unsigned)dtype)
                                                                : (struct tg_tolerance){0, 0};
    }
}

bool tg_element_is_nan(unsigned dtype, uint64_t bits)
{
    return tg_dtype_is_float((int)dtype) && isnan(tg_decode(dtype, bits));
}

bool tg_element_is_infinite(unsigned dtype, uint64_t bits)
{
    return tg_dtype_is_float((int)dtype) && isinf(tg_decode(dtype, bits));
}

uint64_t tg_integer_distance(unsigned dtype, uint64_t a, uint64_t b)
{
    bool is_less = dtype == TG_INT64 ? (int64_t)a < (int64_t)b : a < b;
    return is_less ? b - a : a - b;
}

int64_t tg_element_key(unsigned dtype, uint64_t bits)
{
    unsigned sign_at = (tg_bits_of(dtype) - 1) % 64;
    uint64_t magnitude = bits & ((UINT64_C(1) << sign_at) - 1);
    if (tg_number_of(dtype) == TG_NUMBER_POWER)
        return (int64_t)bits;
    return bits >> sign_at & 1 ? -(int64_t)magnitude : (int64_t)magnitude;
}

uint64_t tg_ulp_distance(unsigned dtype, uint64_t a, uint64_t b)
{
    int64_t from = tg_element_key(dtype, a), to = tg_element_key(dtype, b);
    if (tg_element_is_nan(dtype, a) || tg_element_is_nan(dtype, b))
        return 0;
    return from < to ? (uint64_t)to - (uint64_t)from : (uint64_t)from - (uint64_t)to;
}

bool tg_elements_agree(unsigned dtype, uint64_t a, uint64_t b, const struct tg_tolerance *tolerance,
                       bool equal_nan)
{
    double x = tg_decode(dtype, a), y = tg_decode(dtype, b);
    double error = fabs(x - y);
    if (a == b)
        return true;
    if (dtype == TG_INT64 || dtype == TG_UINT64)
        error = (double)tg_integer_distance(dtype, a, b);
    return tg_is_close(x, y, error, tolerance->absolute, tolerance->relative, equal_nan);
}
