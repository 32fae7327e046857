/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "test.h"

#include <stdlib.h>
#include <taskglass/analysis.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

static struct tg_error error;
static struct tg_tensor_stats stats;

static void measure(unsigned dtype, const void *bytes, int64_t n)
{
    CHECK_EQ_I(tg_tensor_measure((int)dtype, bytes, n, &stats, &error), TG_OK);
}

/* Checks against two passes in long double. */
static void check_plain(unsigned dtype, const void *bytes, int64_t n)
{
    uint64_t nan = 0, inf = 0, zero = 0, finite = 0;
    long double sum = 0, spread = 0;
    measure(dtype, bytes, n);
    for (int64_t i = 0; i < n; i++) {
        double value = tg_load(dtype, bytes, i);
        nan += isnan(value) != 0;
        inf += isinf(value) != 0;
        zero += value == 0;
        finite += isfinite(value) != 0;
        sum += isfinite(value) ? (long double)value : 0;
    }
    long double mean = finite ? sum / finite : 0;
    for (int64_t i = 0; i < n; i++) {
        double value = tg_load(dtype, bytes, i);
        spread += isfinite(value) ? (value - mean) * (value - mean) : 0;
    }
    CHECK_EQ_U(stats.nan, nan);
    CHECK_EQ_U(stats.infinite, inf);
    CHECK_EQ_U(stats.zero, zero);
    CHECK_EQ_U(stats.finite, finite);
    if (finite == 0)
        return;
    double deviation = (double)sqrtl(spread / finite);
    CHECK_NEAR(stats.mean, (double)mean, 1e-9 * (fabs((double)mean) + deviation));
    CHECK_NEAR(stats.deviation, deviation, 1e-9 * deviation);
}

TEST(random_bits_of_every_type_are_measured_as_the_plain_way_says)
{
    enum { N = 3000 };
    unsigned char bytes[N * 8 + 1];
    uint32_t state = 7;
    for (size_t i = 0; i < sizeof bytes; i++) {
        state = state * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(state >> 24);
    }
    for (unsigned dtype = 1; dtype < TG_DTYPE_END; dtype++)
        if (dtype != TG_FLOAT64) /* random exponents: the largest values decide the sums */
            check_plain(dtype, bytes + 1, N);
}

TEST(a_large_mean_does_not_spoil_the_deviation)
{
    enum { N = 5000 };
    static double values[N];
    for (int i = 0; i < N; i++)
        values[i] = 1e9 + (i % 2 ? 1 : -1);
    check_plain(TG_FLOAT64, values, N);
    CHECK_NEAR(stats.deviation, 1, 1e-9);
}

TEST(the_range_has_infinities_and_leaves_nan_out)
{
    float values[5] = {NAN, 3, -INFINITY, 7, NAN};
    measure(TG_FLOAT32, values, 5);
    CHECK(stats.has_range);
    CHECK_NEAR(tg_decode(TG_FLOAT32, stats.least), -INFINITY, 0);
    CHECK_NEAR(tg_decode(TG_FLOAT32, stats.most), 7, 0);
    CHECK_NEAR(stats.mean, 5, 0);
    CHECK_NEAR(stats.deviation, 2, 1e-12);
}

TEST(nothing_but_nan_has_no_range_and_no_mean)
{
    float values[2] = {NAN, NAN};
    measure(TG_FLOAT32, values, 2);
    CHECK(!stats.has_range && isnan(stats.mean) && isnan(stats.deviation));
    measure(TG_FLOAT32, values, 0);
    CHECK(!stats.has_range && stats.elements == 0);
}

TEST(denormals_are_counted_by_the_type)
{
    uint16_t half[4] = {0x0001, 0x83ff, 0x0400, 0x0000};
    uint32_t single[3] = {0x007fffff, 0x00800000, 0x80000000};
    unsigned char scale[2] = {0, 255};
    measure(TG_FLOAT16, half, 4);
    CHECK_EQ_U(stats.denormal, 2);
    CHECK_EQ_U(stats.zero, 1);
    measure(TG_FLOAT32, single, 3);
    CHECK_EQ_U(stats.denormal, 1);
    measure(TG_FLOAT8_E8M0FNU, scale, 2);
    CHECK_EQ_U(stats.denormal, 0);
    CHECK_EQ_U(stats.nan, 1);
}

TEST(integers_of_64_bits_keep_their_range)
{
    int64_t values[3] = {INT64_MIN, INT64_MAX - 1, INT64_MAX};
    measure(TG_INT64, values, 3);
    CHECK_EQ_I((int64_t)stats.least, INT64_MIN);
    CHECK_EQ_I((int64_t)stats.most, INT64_MAX);
    uint64_t large[2] = {UINT64_MAX - 1, UINT64_MAX};
    measure(TG_UINT64, large, 2);
    CHECK_EQ_U(stats.least, UINT64_MAX - 1);
    CHECK_EQ_U(stats.most, UINT64_MAX);
}

TEST(very_large_doubles_have_a_mean)
{
    double values[2] = {1.5e308, 1.7e308};
    measure(TG_FLOAT64, values, 2);
    CHECK_NEAR(stats.mean, 1.6e308, 1e296);
}

TEST(what_is_no_type_is_refused)
{
    CHECK_EQ_I(tg_tensor_measure(99, "", 0, &stats, &error), TG_BAD_ARGUMENT);
    CHECK_EQ_I(tg_tensor_measure(TG_INT8, "", -1, &stats, &error), TG_BAD_ARGUMENT);
}

TEST_MAIN()
