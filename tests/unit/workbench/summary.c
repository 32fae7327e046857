/* SPDX-License-Identifier: Apache-2.0 */
/* `stats` and `histogram`. */
#define _GNU_SOURCE 1
#include "unit/workbench/numbers.h"

#include <float.h>
#include <taskglass/analysis.h>
#include <taskglass/array.h>

#include "analysis/stats.h"
#include "workbench/histogram.h"

static struct tg_error error;

/* --- stats -------------------------------------------------------------------------------------- */

TEST(stats_are_those_of_all_elements)
{
    for (unsigned dtype = 1; dtype < TG_DTYPE_END; dtype++) {
        struct tensor tensor = tensor_random(dtype, 1, (int64_t[]){5001});
        struct tg_tensor_stats want;
        struct tg_value_text text;
        char least[80];
        numbers_open_one(&tensor);
        struct reply reply = ask("stats?record=0");
        CHECK_EQ_I(tg_tensor_measure((int)dtype, tensor.bytes, 5001, &want, &error), TG_OK);
        CHECK_EQ_I((int64_t)reply_number(&reply, "elements"), 5001);
        CHECK_EQ_U((uint64_t)reply_number(&reply, "nan"), want.nan);
        CHECK_EQ_U((uint64_t)reply_number(&reply, "infinite"), want.infinite);
        CHECK_EQ_U((uint64_t)reply_number(&reply, "finite"), want.finite);
        CHECK_EQ_U((uint64_t)reply_number(&reply, "zero"), want.zero);
        CHECK_EQ_U((uint64_t)reply_number(&reply, "denormal"), want.denormal);
        CHECK_NEAR(reply_number(&reply, "mean"), want.mean, 0);
        CHECK_NEAR(reply_number(&reply, "deviation"), want.deviation, 0);
        snprintf(least, sizeof least, "\"least\": \"%s\"",
                 tg_value_format(dtype, want.least, &text));
        CHECK_HAS(reply.text, least);
        CHECK_HAS(reply.text, "\"complete\": true");
        reply_free(&reply);
        numbers_close();
        free(tensor.bytes);
    }
}

TEST(stats_of_nothing_have_no_range_and_no_mean)
{
    struct tensor tensor = tensor_make(TG_FLOAT32, 1, (int64_t[]){0});
    numbers_open_one(&tensor);
    CHECK_REPLY(200, "\"least\": null", "stats?record=0");
    CHECK_REPLY(200, "\"mean\": null", "stats?record=0");
    CHECK_REPLY(200, "\"complete\": true", "stats?record=0");
    CHECK_REPLY(400, "'level'", "stats?record=0&level=0");
    numbers_close();
    free(tensor.bytes);
}

static bool never(void *context)
{
    (void)context;
    return false;
}

static bool always(void *context)
{
    (void)context;
    return true;
}

static const struct tg_array_asked stop = {.goes_on = never};
static const struct tg_array_asked go_on[] = {{.goes_on = always}, {.goes_on = always}};

static struct tg_array array_of(const struct tensor *tensor)
{
    return (struct tg_array){.dtype = tensor->dtype,
                             .ndim = 1,
                             .shape = {tensor->elements},
                             .elements = tensor->elements,
                             .bytes = tensor->bytes,
                             .size = tensor->size};
}

TEST(stats_that_are_stopped_are_those_of_the_first_elements)
{
    struct tensor tensor = tensor_random(TG_FLOAT16, 1, (int64_t[]){3 << 20});
    struct tg_array array = array_of(&tensor);
    struct tg_tensor_stats got, want;
    CHECK(!tg_array_measure_asking(&array, &stop, &got));
    CHECK(got.elements > 0 && got.elements < 3 << 20);
    CHECK_EQ_I(tg_tensor_measure(TG_FLOAT16, tensor.bytes, (int64_t)got.elements, &want, &error),
               TG_OK);
    CHECK_EQ_U(got.finite, want.finite);
    CHECK_EQ_U(got.least, want.least);
    CHECK_NEAR(got.mean, want.mean, 0);
    CHECK_NEAR(got.deviation, want.deviation, 0);
    free(tensor.bytes);
}

/* --- histogram ---------------------------------------------------------------------------------- */

static struct tg_histogram histogram_of(const struct tensor *tensor, unsigned bins,
                                        const struct tg_array_asked asked[2])
{
    struct tg_histogram histogram;
    struct tg_array array = array_of(tensor);
    CHECK_EQ_I(tg_histogram_make(&array, bins, asked, &histogram, &error), TG_OK);
    return histogram;
}

static uint64_t sum_of(const struct tg_histogram *histogram)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < TG_HISTOGRAM_MOST; i++)
        sum += histogram->count[i];
    return sum;
}

/* Finite elements among the first ones. */
static uint64_t finite_of(const struct tensor *tensor, uint64_t elements)
{
    uint64_t finite = 0;
    for (uint64_t i = 0; i < elements; i++)
        finite += isfinite(tg_load(tensor->dtype, tensor->bytes, (int64_t)i)) != 0;
    return finite;
}

/* Elements in [from, to), by their values; in the last bin also those at its end. */
static uint64_t count_between(const struct tensor *tensor, double from, double to, bool is_last)
{
    uint64_t count = 0;
    for (int64_t i = 0; i < tensor->elements; i++) {
        double value = tg_load(tensor->dtype, tensor->bytes, i);
        count += value >= from && (value < to || (is_last && value == to));
    }
    return count;
}

TEST(every_finite_element_of_every_type_is_in_one_bin)
{
    static const unsigned bins[] = {8, 9, 64, 255, 256};
    for (unsigned dtype = 1; dtype < TG_DTYPE_END; dtype++)
        for (size_t i = 0; i < sizeof bins / sizeof bins[0]; i++) {
            struct tensor tensor = tensor_random(dtype, 1, (int64_t[]){20011});
            struct tg_histogram histogram = histogram_of(&tensor, bins[i], go_on);
            CHECK_EQ_U(sum_of(&histogram), finite_of(&tensor, 20011));
            CHECK_EQ_U(histogram.looked_at, 20011);
            CHECK(histogram.bins >= 1 && histogram.bins <= bins[i]);
            CHECK(histogram.count[0] > 0 && histogram.count[histogram.bins - 1] > 0);
            free(tensor.bytes);
        }
}

TEST(bins_have_the_elements_between_their_edges)
{
    static const unsigned dtypes[] = {TG_FLOAT32, TG_FLOAT64, TG_FLOAT16, TG_INT8,  TG_INT16,
                                      TG_INT32,   TG_UINT32,  TG_INT64,   TG_UINT64};
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++) {
        const unsigned dtype = dtypes[d];
        const double least = tg_dtype_is_signed((int)dtype) ? -30 : 3;
        struct tensor tensor = tensor_make(dtype, 1, (int64_t[]){3000});
        for (int64_t i = 0; i < 3000; i++) /* each of 123 whole numbers */
            tg_store(dtype, tensor.bytes, i, (double)(i % 123) + least);
        struct tg_histogram histogram = histogram_of(&tensor, 64, go_on);
        const double width = (histogram.to - histogram.from) / histogram.bins;
        CHECK_EQ_U(histogram.bins, tg_dtype_is_float((int)dtype) ? 64 : 62);
        CHECK_NEAR(histogram.from, least, 0);
        for (unsigned i = 0; i < histogram.bins; i++)
            CHECK_EQ_U(histogram.count[i],
                       count_between(&tensor, histogram.from + i * width,
                                     histogram.from + (i + 1) * width, i + 1 == histogram.bins));
        free(tensor.bytes);
    }
}

TEST(the_ends_of_integer_types_are_in_the_first_and_the_last_bin)
{
    static const unsigned dtypes[] = {TG_INT4,  TG_INT8,   TG_UINT8, TG_INT16, TG_UINT16,
                                      TG_INT32, TG_UINT32, TG_INT64, TG_UINT64};
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++) {
        const unsigned dtype = dtypes[d], width = tg_bits_of(dtype);
        const uint64_t all = UINT64_MAX >> (64 - width), top = UINT64_C(1) << (width - 1);
        const bool is_signed = tg_dtype_is_signed((int)dtype);
        struct tensor tensor = tensor_make(dtype, 1, (int64_t[]){5});
        tg_store_bits(dtype, tensor.bytes, 0, is_signed ? top : 0);
        tg_store_bits(dtype, tensor.bytes, 1, is_signed ? top - 1 : all);
        tg_store_bits(dtype, tensor.bytes, 2, is_signed ? all : top - 1); /* below the middle */
        tg_store_bits(dtype, tensor.bytes, 3, is_signed ? 0 : top);
        tg_store_bits(dtype, tensor.bytes, 4, is_signed ? top - 1 : all);
        struct tg_histogram histogram = histogram_of(&tensor, 8, go_on);
        CHECK_EQ_U(histogram.bins, 8);
        CHECK_EQ_U(histogram.count[0], 1);
        CHECK_EQ_U(histogram.count[3], 1);
        CHECK_EQ_U(histogram.count[4], 1);
        CHECK_EQ_U(histogram.count[7], 2);
        free(tensor.bytes);
    }
}

TEST(few_whole_numbers_have_a_bin_each)
{
    struct tensor tensor = tensor_make(TG_BOOL, 1, (int64_t[]){7});
    tensor.bytes[2] = 1;
    tensor.bytes[5] = 255; /* true as well */
    struct tg_histogram histogram = histogram_of(&tensor, 64, go_on);
    CHECK_EQ_U(histogram.bins, 2);
    CHECK_EQ_U(histogram.count[0], 5);
    CHECK_EQ_U(histogram.count[1], 2);
    CHECK_NEAR(histogram.from, 0, 0);
    CHECK_NEAR(histogram.to, 2, 0);
    free(tensor.bytes);
}

TEST(one_value_has_one_bin)
{
    static const unsigned dtypes[] = {TG_FLOAT32, TG_FLOAT64, TG_BFLOAT16,
                                      TG_INT32,   TG_INT64,   TG_INT4};
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++)
        for (int64_t n = 1; n < 4; n++) {
            struct tensor tensor = tensor_make(dtypes[d], 1, (int64_t[]){n});
            for (int64_t i = 0; i < n; i++)
                tg_store(dtypes[d], tensor.bytes, i, -3);
            struct tg_histogram histogram = histogram_of(&tensor, 64, go_on);
            CHECK_EQ_U(histogram.bins, 1);
            CHECK_EQ_U(histogram.count[0], (uint64_t)n);
            CHECK_NEAR(histogram.from, -3, 0);
            free(tensor.bytes);
        }
}

TEST(nan_and_infinities_are_in_no_bin)
{
    struct tensor tensor = tensor_make(TG_FLOAT32, 1, (int64_t[]){5});
    const float values[] = {NAN, INFINITY, -INFINITY, 1, 2};
    memcpy(tensor.bytes, values, sizeof values);
    numbers_open_one(&tensor);
    CHECK_REPLY(200, "\"counts\": [1, 0, 0, 0, 0, 0, 0, 1]", "histogram?record=0&bins=8");
    CHECK_REPLY(200, "\"from\": 1.0", "histogram?record=0&bins=8");
    CHECK_REPLY(200, "\"to\": 2.0", "histogram?record=0&bins=8");
    CHECK_REPLY(200, "\"looked_at\": 5", "histogram?record=0");
    CHECK_REPLY(400, "'bins'", "histogram?record=0&bins=7");
    CHECK_REPLY(400, "'bins'", "histogram?record=0&bins=257");
    CHECK_REPLY(400, "'bins'", "histogram?record=0&bins=-8");
    numbers_close();
    free(tensor.bytes);
}

TEST(without_finite_elements_there_is_no_bin)
{
    struct tensor tensor = tensor_make(TG_FLOAT16, 1, (int64_t[]){3}),
                  nothing = tensor_make(TG_INT64, 1, (int64_t[]){0});
    memset(tensor.bytes, 0xff, (size_t)tensor.size);
    numbers_begin();
    numbers_add(&tensor);
    numbers_add(&nothing);
    numbers_open();
    for (int i = 0; i < 2; i++) {
        CHECK_REPLY(200, "\"counts\": []", "histogram?record=%d", i);
        CHECK_REPLY(200, "\"from\": null", "histogram?record=%d", i);
        CHECK_REPLY(200, "\"complete\": true", "histogram?record=%d", i);
    }
    numbers_close();
    free(tensor.bytes);
    free(nothing.bytes);
}

TEST(ranges_that_are_too_wide_or_too_narrow_for_a_double_have_bins)
{
    struct tensor tensor = tensor_make(TG_FLOAT64, 1, (int64_t[]){3});
    memcpy(tensor.bytes, (const double[]){-DBL_MAX, 0, DBL_MAX}, 3 * sizeof(double));
    struct tg_histogram histogram = histogram_of(&tensor, 8, go_on);
    CHECK_EQ_U(histogram.count[0], 1);
    CHECK_EQ_U(histogram.count[4], 1);
    CHECK_EQ_U(histogram.count[7], 1);
    memcpy(tensor.bytes, (const double[]){0, 0x1p-1074, 0x1p-1074}, 3 * sizeof(double));
    histogram = histogram_of(&tensor, 8, go_on);
    CHECK_EQ_U(histogram.count[0], 1);
    CHECK_EQ_U(histogram.count[7], 2);
    free(tensor.bytes);
}

TEST(a_histogram_that_is_stopped_is_that_of_the_first_elements)
{
    static const unsigned dtypes[] = {TG_INT4, TG_INT8, TG_FLOAT16, TG_FLOAT32, TG_INT64};
    static const struct tg_array_asked asked[][2] = {{{.goes_on = never}, {.goes_on = never}},
                                                     {{.goes_on = always}, {.goes_on = never}}};
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++)
        for (int i = 0; i < 2; i++) {
            struct tensor tensor = tensor_random(dtypes[d], 1, (int64_t[]){(5 << 20) + 1});
            struct tg_histogram histogram = histogram_of(&tensor, 64, asked[i]);
            CHECK(histogram.looked_at > 0 && histogram.looked_at < 5 << 20);
            CHECK_EQ_U(sum_of(&histogram), finite_of(&tensor, histogram.looked_at));
            free(tensor.bytes);
        }
}

TEST_MAIN()
