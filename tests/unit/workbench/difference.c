/* SPDX-License-Identifier: Apache-2.0 */
/* The difference of two tensors, against a model that looks at one element after the other. */
#define _GNU_SOURCE 1
#include "unit/workbench/numbers.h"

#include <float.h>

static const char *key(void)
{
    return numbers_bench->fixed[0]->key;
}

/* The place of a value among all values of its type: sign and magnitude, both zeros at 0. */
static long double place_of(unsigned dtype, uint64_t bits)
{
    const unsigned width = tg_bits_of(dtype);
    const uint64_t sign = UINT64_C(1) << (width - 1);
    if (tg_number_of(dtype) == TG_NUMBER_POWER || !tg_dtype_is_float((int)dtype))
        return tg_number_of(dtype) == TG_NUMBER_POWER ? (long double)bits
               : dtype == TG_INT64                    ? (long double)(int64_t)bits
               : dtype == TG_UINT64                   ? (long double)bits
                                                      : (long double)tg_decode(dtype, bits);
    return bits & sign ? -(long double)(bits & ~sign) : (long double)bits;
}

/* NaN: special; infinite: the relative difference from 0. */
static double want_of(unsigned dtype, const char *mode, uint64_t a, uint64_t b)
{
    const double x = tg_decode(dtype, a), y = tg_decode(dtype, b);
    if (!isfinite(x) || !isfinite(y))
        return a == b || x == y ? 0 : (double)NAN;
    const bool is_long = dtype == TG_INT64 || dtype == TG_UINT64;
    long double error = is_long ? fabsl(place_of(dtype, a) - place_of(dtype, b))
                                : fabsl((long double)x - (long double)y);
    if (strcmp(mode, "ulp") == 0)
        return (double)fabsl(place_of(dtype, a) - place_of(dtype, b));
    if (strcmp(mode, "abs") == 0 || error == 0)
        return (double)error;
    return y == 0 ? (double)INFINITY : (double)(error / fabsl((long double)y));
}

static bool is_near(float got, double want)
{
    const double most = (double)FLT_MAX;
    if (!isfinite(want))
        return isnan(got);
    want = want > most ? most : want;
    return fabs((double)got - want) <= want * 1e-6 || got == (float)want;
}

static void check(const struct tensor *a, const struct tensor *b, const char *mode)
{
    struct reply reply =
        ask("difference?record=0&other=%s&other_record=1&mode=%s&level=0", key(), mode);
    const float *mean = reply_column(&reply, "mean");
    const uint8_t *kinds = reply_column(&reply, "kinds");
    bool good = CHECK_EQ_I(reply.answer.status, 200) && CHECK(mean && kinds);
    for (int64_t i = 0; good && i < a->elements; i++) {
        const uint64_t x = tg_load_bits(a->dtype, a->bytes, i),
                       y = tg_load_bits(b->dtype, b->bytes, i);
        const double want = want_of(a->dtype, mode, x, y);
        const unsigned kind = isnan(want) ? 1 : isinf(want) ? 2 : want == 0 ? 4 : 0;
        good = CHECK(is_near(mean[i], want)) && CHECK_EQ_U(kinds[i], kind);
        if (!good)
            fprintf(stderr, "%s of %s: %" PRIx64 " and %" PRIx64 " are %g, expected %g\n", mode,
                    tg_dtype_name((int)a->dtype), x, y, (double)mean[i], want);
    }
    reply_free(&reply);
}

TEST(differences_of_every_type_are_those_of_the_model)
{
    for (unsigned dtype = 1; dtype < TG_DTYPE_END; dtype++) {
        struct tensor a = tensor_random(dtype, 2, (int64_t[]){101, 111});
        struct tensor b = tensor_random(dtype, 2, (int64_t[]){101, 111});
        memcpy(b.bytes, a.bytes, (size_t)a.size / 3); /* some are equal, and some are close */
        for (int64_t i = a.elements / 3; i < a.elements / 2; i++)
            tg_store_bits(dtype, b.bytes, i, tg_load_bits(dtype, a.bytes, i) + (uint64_t)(i % 3));
        numbers_begin();
        numbers_add(&a);
        numbers_add(&b);
        numbers_open();
        check(&a, &b, "abs");
        check(&a, &b, "rel");
        check(&a, &b, "ulp");
        numbers_close();
        free(a.bytes);
        free(b.bytes);
    }
}

TEST(cells_of_higher_levels_sum_up_the_differences)
{
    struct tensor a = tensor_make(TG_FLOAT32, 2, (int64_t[]){256, 256});
    struct tensor b = tensor_make(TG_FLOAT32, 2, (int64_t[]){256, 256});
    tg_store(TG_FLOAT32, a.bytes, 0, 3);
    tg_store(TG_FLOAT32, a.bytes, 257, 1);
    tg_store(TG_FLOAT32, a.bytes, 2, (double)NAN);
    numbers_begin();
    numbers_add(&a);
    numbers_add(&b);
    numbers_open();
    struct reply reply = ask("difference?record=0&other=%s&other_record=1&level=1", key());
    const float *mean = reply_column(&reply, "mean"), *most = reply_column(&reply, "most");
    const uint8_t *kinds = reply_column(&reply, "kinds"), *zero = reply_column(&reply, "all_zero");
    REQUIRE(mean && most && kinds && zero);
    CHECK_NEAR((double)mean[0], 1, 0);
    CHECK_NEAR((double)most[0], 3, 0);
    CHECK_EQ_U(kinds[0], 4);
    CHECK_EQ_U(kinds[1], 1 | 4);
    CHECK_EQ_U(zero[0] + zero[1], 0);
    CHECK_EQ_U(kinds[2], 4);
    CHECK_EQ_U(zero[2], 1);
    reply_free(&reply);
    numbers_close();
    free(a.bytes);
    free(b.bytes);
}

TEST(tensors_that_are_not_alike_are_refused_with_the_reason)
{
    struct tensor a = tensor_make(TG_FLOAT32, 2, (int64_t[]){4, 6});
    struct tensor b = tensor_make(TG_INT32, 2, (int64_t[]){4, 6});
    struct tensor c = tensor_make(TG_FLOAT32, 2, (int64_t[]){6, 4});
    numbers_begin();
    numbers_add(&a);
    numbers_add(&b);
    numbers_add(&c);
    numbers_add_part(&a, 40, TG_RECORD_TRUNCATED);
    numbers_add_part(&a, 0, TG_RECORD_OVERWRITTEN);
    numbers_open();
    CHECK_REPLY(409, "float32 and int32", "difference?record=0&other=%s&other_record=1", key());
    CHECK_REPLY(409, "shapes differ", "difference?record=0&other=%s&other_record=2", key());
    CHECK_REPLY(409, "24 and 10 elements", "difference?record=0&other=%s&other_record=3", key());
    CHECK_REPLY(409, "overwritten", "difference?record=0&other=%s&other_record=4", key());
    CHECK_REPLY(200, "\"plane\": [1, 10]", "difference?record=3&other=%s&other_record=3", key());
    CHECK_REPLY(400, "abs, rel or ulp", "difference?record=0&other=%s&other_record=0&mode=x",
                key());
    CHECK_REPLY(400, "'other_record'", "difference?record=0&other=%s", key());
    CHECK_REPLY(400, "'other'", "difference?record=0&other_record=0");
    CHECK_REPLY(404, "x", "difference?record=0&other=x&other_record=0");
    CHECK_REPLY(404, "no record 9", "difference?record=0&other=%s&other_record=9", key());
    CHECK_REPLY(400, "'cols'", "difference?record=0&other=%s&other_record=0&cols=2", key());
    numbers_close();
    free(a.bytes);
    free(b.bytes);
    free(c.bytes);
}

TEST_MAIN()
