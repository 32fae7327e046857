/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test decodes every code of the small floats with its own formula, and checks encoding at,
 * just below and just above every boundary between two neighbouring values: because rounding is
 * monotonic, that covers every double.
 */
#include "test.h"

#include <stdlib.h>
#include <taskglass/numeric.h>

/* The formats again, in the form of their specifications. */
struct format {
    unsigned dtype;
    int exponent_bits, mantissa_bits, bias;
    bool has_infinity, has_nan, has_sign;
};
static const struct format formats[] = {
    {TG_FLOAT16, 5, 10, 15, true, true, true},
    {TG_BFLOAT16, 8, 7, 127, true, true, true},
    {TG_FLOAT8_E5M2, 5, 2, 15, true, true, true},
    {TG_FLOAT8_E4M3FN, 4, 3, 7, false, true, true},
    {TG_FLOAT4_E2M1FN, 2, 1, 1, false, false, true},
    {TG_FLOAT8_E8M0FNU, 8, 0, 127, false, true, false},
};
static const struct format *const formats_end = formats + sizeof formats / sizeof formats[0];

static unsigned sign_at(const struct format *f)
{
    return (unsigned)(f->exponent_bits + f->mantissa_bits);
}

static unsigned codes(const struct format *f)
{
    return 1u << (sign_at(f) + f->has_sign);
}

static double formula(const struct format *f, unsigned code)
{
    unsigned mantissa = code & ((1u << f->mantissa_bits) - 1);
    unsigned top = (1u << f->exponent_bits) - 1;
    unsigned exponent = code >> f->mantissa_bits & top;
    double sign = f->has_sign && code >> sign_at(f) ? -1 : 1;
    double fraction = ldexp(mantissa, -f->mantissa_bits);
    if (!f->has_sign)
        return code == top ? NAN : ldexp(1, (int)code - f->bias);
    if (f->has_infinity && exponent == top)
        return mantissa ? copysign(NAN, sign) : sign * INFINITY;
    if (f->has_nan && exponent == top && mantissa == (1u << f->mantissa_bits) - 1)
        return copysign(NAN, sign);
    if (exponent == 0)
        return sign * ldexp(fraction, 1 - f->bias);
    return sign * ldexp(1 + fraction, (int)exponent - f->bias);
}

static unsigned largest_code(const struct format *f)
{
    unsigned code = (1u << sign_at(f)) - 1;
    while (!isfinite(formula(f, code)))
        code--;
    return code;
}

/* The code that a value beyond the largest gets. */
static unsigned beyond_code(const struct format *f)
{
    return largest_code(f) + f->has_infinity;
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static void check_encode(const struct format *f, double value, unsigned want)
{
    if (!CHECK_EQ_U(tg_encode(f->dtype, value), want))
        fprintf(stderr, "  dtype %u, value %.17g\n", f->dtype, value);
}

/* Checks the value and, if the format has a sign, its negative. */
static void check_encode_both(const struct format *f, double value, unsigned want)
{
    check_encode(f, value, want);
    if (f->has_sign)
        check_encode(f, -value, want | 1u << sign_at(f));
}

TEST(every_code_decodes_as_its_specification_says)
{
    for (const struct format *f = formats; f < formats_end; f++)
        for (unsigned code = 0; code < codes(f); code++)
            if (!CHECK(same(tg_decode(f->dtype, code), formula(f, code))))
                fprintf(stderr, "  dtype %u, code 0x%x: %.17g, expected %.17g\n", f->dtype, code,
                        tg_decode(f->dtype, code), formula(f, code));
}

TEST(every_code_comes_back_from_its_value)
{
    for (const struct format *f = formats; f < formats_end; f++)
        for (unsigned code = 0; code < codes(f); code++) {
            double value = formula(f, code);
            if (!isnan(value))
                check_encode(f, value, code);
        }
}

TEST(nan_stays_nan_and_keeps_its_sign)
{
    for (const struct format *f = formats; f < formats_end; f++) {
        if (!f->has_nan)
            continue;
        CHECK(isnan(tg_decode(f->dtype, tg_encode(f->dtype, NAN))));
        if (!f->has_sign)
            continue;
        CHECK_EQ_U(tg_encode(f->dtype, -NAN), tg_encode(f->dtype, NAN) | 1u << sign_at(f));
    }
}

TEST(nan_with_any_payload_is_nan)
{
    for (unsigned bit = 0; bit < 52; bit++) {
        double nan = tg_double_from_bits((uint64_t)0x7ff << 52 | (uint64_t)1 << bit);
        CHECK_EQ_U(tg_encode(TG_FLOAT16, nan), 0x7e00);
        CHECK_EQ_U(tg_encode(TG_FLOAT8_E8M0FNU, nan), 0xff);
        CHECK_EQ_U(tg_encode(TG_INT32, nan), 0);
    }
}

TEST(values_between_two_neighbours_go_to_the_nearer_and_ties_to_the_even_one)
{
    for (const struct format *f = formats; f < formats_end; f++)
        for (unsigned code = 0; code < largest_code(f); code++) {
            double low = formula(f, code), high = formula(f, code + 1);
            double middle = low + (high - low) / 2;
            check_encode_both(f, middle, code + (code & 1));
            check_encode_both(f, nextafter(middle, low), code);
            check_encode_both(f, nextafter(middle, high), code + 1);
            check_encode_both(f, nextafter(low, high), code);
            check_encode_both(f, nextafter(high, low), code + 1);
        }
}

TEST(values_past_the_largest_become_infinity_or_the_largest)
{
    for (const struct format *f = formats; f < formats_end; f++) {
        unsigned code = largest_code(f);
        double largest = formula(f, code);
        double edge = largest + (largest - formula(f, code - 1)) / 2;
        check_encode_both(f, nextafter(edge, 0), code);
        check_encode_both(f, edge, beyond_code(f));
        check_encode_both(f, nextafter(edge, INFINITY), beyond_code(f));
        check_encode_both(f, 1.7976931348623157e308, beyond_code(f));
        check_encode_both(f, INFINITY, beyond_code(f));
    }
}

TEST(values_too_small_become_zero_or_the_smallest)
{
    for (const struct format *f = formats; f < formats_end; f++) {
        check_encode_both(f, 0.0, 0);
        check_encode_both(f, 4.9406564584124654e-324, 0);
        check_encode_both(f, 2.2250738585072014e-308, 0);
        check_encode_both(f, 1e-200, 0);
        check_encode_both(f, 1e-60, 0);
    }
}

TEST(a_double_is_rounded_once_not_by_way_of_float)
{
    /* Just above a tie, by less than a float can represent: converted to float first, it would be a
     * tie. */
    double above = 1 + ldexp(1, -11) + ldexp(1, -40);
    CHECK_EQ_U(tg_encode(TG_FLOAT16, above), 0x3c01);
    CHECK_EQ_U(tg_encode(TG_FLOAT16, (double)(float)above), 0x3c00);
    CHECK_EQ_U(tg_float16_from_double(above), 0x3c01);
    CHECK_EQ_U(tg_float16_from_float((float)above), 0x3c00);
}

/* The code with the nearest value, found by trying all codes. */
static unsigned nearest_code(const struct format *f, double value)
{
    unsigned best = 0;
    for (unsigned code = 1; code <= largest_code(f); code++) {
        double distance = fabs(formula(f, code) - value), least = fabs(formula(f, best) - value);
        if (distance < least || (distance == least && code % 2 == 0))
            best = code;
    }
    return best;
}

TEST(random_doubles_go_to_the_nearest_of_all_values)
{
    uint64_t state = 0x9e3779b97f4a7c15u;
    for (const struct format *f = formats; f < formats_end; f++) {
        if (codes(f) > 256)
            continue; /* the boundaries above cover this, faster */
        for (int i = 0; i < 2000; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            double value = ldexp(1 + (double)(state >> 11) * 0x1p-53, (int)(state >> 3 & 31) - 20);
            if (value <= formula(f, largest_code(f)))
                check_encode_both(f, value, nearest_code(f, value));
        }
    }
}

TEST(the_named_conversions_are_those_of_their_types)
{
#define CHECK_NAMED(name, dtype, code, value)                 \
    CHECK_NEAR(tg_##name##_to_float(code), value, 0);         \
    CHECK_EQ_U(tg_##name##_from_float((float)(value)), code); \
    CHECK_EQ_U(tg_##name##_from_double(value), code);         \
    CHECK_EQ_U(tg_encode(dtype, value), code);
    CHECK_NAMED(float16, TG_FLOAT16, 0xc100, -2.5)
    CHECK_NAMED(bfloat16, TG_BFLOAT16, 0xc020, -2.5)
    CHECK_NAMED(float8_e4m3fn, TG_FLOAT8_E4M3FN, 0xc2, -2.5)
    CHECK_NAMED(float8_e5m2, TG_FLOAT8_E5M2, 0xc1, -2.5)
    CHECK_NAMED(float8_e8m0fnu, TG_FLOAT8_E8M0FNU, 0x82, 8.0)
    CHECK_NAMED(float4_e2m1fn, TG_FLOAT4_E2M1FN, 0xd, -3.0)
#undef CHECK_NAMED
}

TEST(float4_has_no_nan_and_gets_zero)
{
    CHECK_EQ_U(tg_encode(TG_FLOAT4_E2M1FN, NAN), 0);
    CHECK_EQ_U(tg_encode(TG_FLOAT4_E2M1FN, -NAN), 0);
}

TEST(powers_of_two_have_no_negatives)
{
    CHECK_EQ_U(tg_encode(TG_FLOAT8_E8M0FNU, -1), 0xff);
    CHECK_EQ_U(tg_encode(TG_FLOAT8_E8M0FNU, -1e-300), 0xff);
    CHECK_EQ_U(tg_encode(TG_FLOAT8_E8M0FNU, -INFINITY), 0xff);
    CHECK_EQ_U(tg_encode(TG_FLOAT8_E8M0FNU, -0.0), 0);
}

TEST(float32_and_float64_are_the_machines_own)
{
    double values[] = {0, -0.0, 1, -1.5, 0.1, 1e-45, 3.4028234663852886e38, 1e39, INFINITY, -1e-50};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        float f = 0;
        double d = 0;
        tg_store(TG_FLOAT32, &f, 0, values[i]);
        tg_store(TG_FLOAT64, &d, 0, values[i]);
        CHECK(same(f, (float)values[i]));
        CHECK(same(d, values[i]));
        CHECK(same(tg_load(TG_FLOAT32, &f, 0), (float)values[i]));
        CHECK(same(tg_load(TG_FLOAT64, &d, 0), values[i]));
    }
}

TEST(float64_keeps_every_bit_of_a_nan)
{
    uint64_t bits = 0xfff0000000000123u;
    CHECK_EQ_U(tg_encode(TG_FLOAT64, tg_decode(TG_FLOAT64, bits)), bits);
}

TEST(integers_truncate_toward_zero)
{
    CHECK_NEAR(tg_decode(TG_INT8, tg_encode(TG_INT8, 2.99)), 2, 0);
    CHECK_NEAR(tg_decode(TG_INT8, tg_encode(TG_INT8, -2.99)), -2, 0);
    CHECK_NEAR(tg_decode(TG_INT4, tg_encode(TG_INT4, -0.5)), 0, 0);
    CHECK_NEAR(tg_decode(TG_UINT8, tg_encode(TG_UINT8, 254.9)), 254, 0);
    CHECK_NEAR(tg_decode(TG_UINT8, tg_encode(TG_UINT8, -0.9)), 0, 0);
}

static void check_limits(unsigned dtype, uint64_t least, uint64_t most)
{
    double low = tg_decode(dtype, least), high = tg_decode(dtype, most);
    CHECK_EQ_U(tg_encode(dtype, low), least);
    CHECK_EQ_U(tg_encode(dtype, high), most); /* also if `high` was rounded up to 2^63 or 2^64 */
    CHECK_EQ_U(tg_encode(dtype, low - 0.5), least);
    CHECK_EQ_U(tg_encode(dtype, high + 0.5), most);
    CHECK_EQ_U(tg_encode(dtype, high + 1), most);
    CHECK_EQ_U(tg_encode(dtype, -1e300), least);
    CHECK_EQ_U(tg_encode(dtype, 1e300), most);
    CHECK_EQ_U(tg_encode(dtype, -INFINITY), least);
    CHECK_EQ_U(tg_encode(dtype, INFINITY), most);
    CHECK_EQ_U(tg_encode(dtype, NAN), 0);
}

TEST(integers_saturate)
{
    check_limits(TG_INT4, 0x8, 0x7);
    check_limits(TG_INT8, 0x80, 0x7f);
    check_limits(TG_INT16, 0x8000, 0x7fff);
    check_limits(TG_INT32, 0x80000000u, 0x7fffffff);
    check_limits(TG_INT64, (uint64_t)1 << 63, INT64_MAX);
    check_limits(TG_UINT8, 0, UINT8_MAX);
    check_limits(TG_UINT16, 0, UINT16_MAX);
    check_limits(TG_UINT32, 0, UINT32_MAX);
    check_limits(TG_UINT64, 0, UINT64_MAX);
}

TEST(every_small_integer_comes_back_from_its_value)
{
    for (int i = -32768; i <= 32767; i++) {
        int16_t s = (int16_t)i;
        uint16_t u = (uint16_t)(i + 32768);
        CHECK(tg_load(TG_INT16, &s, 0) == i);
        CHECK(tg_load(TG_UINT16, &u, 0) == i + 32768);
        CHECK_EQ_U(tg_encode(TG_INT16, i), (uint16_t)i);
        CHECK_EQ_U(tg_encode(TG_UINT16, i + 32768), u);
    }
    for (int i = -8; i <= 7; i++)
        CHECK(tg_decode(TG_INT4, tg_encode(TG_INT4, i)) == i);
}

TEST(bool_is_whether_it_differs_from_zero)
{
    unsigned char odd_true = 2;
    CHECK_EQ_U(tg_encode(TG_BOOL, 0.0), 0);
    CHECK_EQ_U(tg_encode(TG_BOOL, -0.0), 0);
    CHECK_EQ_U(tg_encode(TG_BOOL, 0.25), 1);
    CHECK_EQ_U(tg_encode(TG_BOOL, NAN), 1);
    CHECK_NEAR(tg_load(TG_BOOL, &odd_true, 0), 1, 0);
}

TEST(nibbles_lie_low_first_and_leave_their_twin_alone)
{
    unsigned char bytes[2] = {0, 0};
    tg_store(TG_INT4, bytes, 0, 1);
    tg_store(TG_INT4, bytes, 1, -2);
    tg_store(TG_INT4, bytes, 2, 3);
    CHECK_EQ_U(bytes[0], 0xe1);
    CHECK_EQ_U(bytes[1], 0x03);
    tg_store(TG_INT4, bytes, 0, 7);
    CHECK_EQ_U(bytes[0], 0xe7);
    tg_store(TG_FLOAT4_E2M1FN, bytes, 3, -6);
    CHECK_EQ_U(bytes[1], 0xf3);
    CHECK_NEAR(tg_load(TG_FLOAT4_E2M1FN, bytes, 3), -6, 0);
    CHECK_NEAR(tg_load(TG_INT4, bytes, 1), -2, 0);
}

TEST(arrays_need_no_alignment)
{
    unsigned char bytes[64];
    for (unsigned dtype = TG_FLOAT64; dtype < TG_DTYPE_END; dtype++)
        for (int shift = 0; shift < 8; shift++) {
            tg_store(dtype, bytes + shift, 3, 1);
            CHECK_NEAR(tg_load(dtype, bytes + shift, 3), 1, 0);
        }
}

TEST(bits_above_the_type_do_not_matter)
{
    for (unsigned dtype = TG_FLOAT64; dtype < TG_DTYPE_END; dtype++) {
        uint64_t one = tg_encode(dtype, 1);
        uint64_t above = tg_bits_of(dtype) == 64 ? 0 : UINT64_MAX << tg_bits_of(dtype);
        CHECK_EQ_U(one & above, 0);
        CHECK_NEAR(tg_decode(dtype, one | above), 1, 0);
    }
}

TEST(no_type_loads_zero_and_stores_nothing)
{
    unsigned char byte = 0x55;
    tg_store(TG_DTYPE_NONE, &byte, 0, 1);
    tg_store(TG_DTYPE_END, &byte, 0, 1);
    CHECK_EQ_U(byte, 0x55);
    CHECK_NEAR(tg_load(TG_DTYPE_NONE, &byte, 0), 0, 0);
}

TEST_MAIN()
