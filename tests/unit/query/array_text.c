/* SPDX-License-Identifier: Apache-2.0 */
/* tests/e2e compares the text with what NumPy prints. */
#include "test.h"

#include <stdlib.h>
#include <taskglass/array.h>
#include <taskglass/numeric.h>

static const struct tg_array_layout usual = {.width = 75, .most = 1000, .edge = 3};

static const char *value(unsigned dtype, double number)
{
    static struct tg_value_text text;
    return tg_value_format(dtype, tg_encode(dtype, number), &text);
}

TEST(a_value_has_as_few_digits_as_its_type_needs)
{
    CHECK_EQ_S(value(TG_FLOAT32, 0.1), "0.1");
    CHECK_EQ_S(value(TG_FLOAT64, 0.1), "0.1");
    CHECK_EQ_S(value(TG_FLOAT64, 0.1 + 0.2), "0.30000000000000004");
    CHECK_EQ_S(value(TG_FLOAT32, 16777216), "16777216");
    CHECK_EQ_S(value(TG_FLOAT16, 0.1), "0.1");
    CHECK_EQ_S(value(TG_BFLOAT16, 3.14), "3.14");
    CHECK_EQ_S(value(TG_FLOAT8_E4M3FN, 448), "4.5e+02"); /* no other e4m3 is nearer to it */
    CHECK_EQ_S(value(TG_FLOAT4_E2M1FN, -1.5), "-1.5");
    CHECK_EQ_S(value(TG_FLOAT32, -0.0), "-0");
}

TEST(specials_integers_and_bools_have_their_words)
{
    struct tg_value_text text;
    CHECK_EQ_S(value(TG_FLOAT16, NAN), "nan");
    CHECK_EQ_S(value(TG_FLOAT64, -INFINITY), "-inf");
    CHECK_EQ_S(value(TG_INT4, -8), "-8");
    CHECK_EQ_S(value(TG_BOOL, 1), "true");
    CHECK_EQ_S(tg_value_format(TG_INT64, UINT64_C(1) << 63, &text), "-9223372036854775808");
    CHECK_EQ_S(tg_value_format(TG_UINT64, UINT64_MAX, &text), "18446744073709551615");
    CHECK_EQ_S(tg_value_format(99, 5, &text), "");
}

TEST(every_small_float_reads_back_as_itself)
{
    static const unsigned types[] = {TG_FLOAT16,     TG_BFLOAT16,       TG_FLOAT8_E4M3FN,
                                     TG_FLOAT8_E5M2, TG_FLOAT8_E8M0FNU, TG_FLOAT4_E2M1FN};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
        for (uint64_t bits = 0; bits < UINT64_C(1) << tg_bits_of(types[t]); bits++) {
            struct tg_value_text text;
            double back = strtod(tg_value_format(types[t], bits, &text), NULL);
            if (isnan(back))
                continue;
            if (!CHECK_EQ_U(tg_encode(types[t], back), bits))
                return;
        }
}

static char *print(unsigned dtype, const void *bytes, int ndim, const int64_t *shape,
                   const struct tg_array_layout *layout)
{
    struct tg_array array = {.dtype = dtype, .ndim = ndim, .elements = 1, .bytes = bytes};
    static char *text;
    size_t size;
    for (int i = 0; i < ndim; i++)
        array.elements *= array.shape[i] = shape[i];
    free(text);
    FILE *file = open_memstream(&text, &size);
    tg_array_print(file, &array, layout);
    fclose(file);
    return text;
}

TEST(points_stand_below_each_other)
{
    static const float values[4] = {1, -2.5f, 10.25f, 0};
    CHECK_EQ_S(print(TG_FLOAT32, values, 2, (int64_t[]){2, 2}, &usual),
               "[[ 1.   -2.5 ]\n [10.25  0.  ]]\n");
}

TEST(very_different_sizes_are_scientific)
{
    static const double values[3] = {1e-5, 2.5, 1e5};
    CHECK_EQ_S(print(TG_FLOAT64, values, 1, (int64_t[]){3}, &usual), "[1.0e-05 2.5e+00 1.0e+05]\n");
}

TEST(specials_make_room_for_themselves)
{
    static const float values[3] = {1, NAN, -INFINITY};
    CHECK_EQ_S(print(TG_FLOAT32, values, 1, (int64_t[]){3}, &usual), "[  1.  nan -inf]\n");
}

TEST(a_long_array_shows_its_edges)
{
    static int32_t values[2000];
    for (int i = 0; i < 2000; i++)
        values[i] = i;
    CHECK_EQ_S(print(TG_INT32, values, 1, (int64_t[]){2000}, &usual),
               "[   0    1    2 ... 1997 1998 1999]\n");
    const struct tg_array_layout tiny = {.width = 75, .most = 10, .edge = 1};
    CHECK_EQ_S(print(TG_INT32, values, 2, (int64_t[]){4, 4}, &tiny),
               "[[ 0 ...  3]\n ...\n [12 ... 15]]\n");
}

TEST(a_long_line_goes_on_below_without_spaces_at_its_end)
{
    static const float values[6] = {1, 2.25f, 3, 4, 5, 6};
    const struct tg_array_layout narrow = {.width = 17, .most = 1000, .edge = 3};
    CHECK_EQ_S(print(TG_FLOAT32, values, 1, (int64_t[]){6}, &narrow),
               "[1.   2.25 3.\n 4.   5.   6.  ]\n");
}

TEST(nothing_and_a_single_value_print_too)
{
    static const uint8_t one[1] = {7};
    CHECK_EQ_S(print(TG_UINT8, one, 0, NULL, &usual), "7\n");
    CHECK_EQ_S(print(TG_UINT8, NULL, 2, (int64_t[]){3, 0}, &usual), "[]\n");
}

TEST_MAIN()
