/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two tensors, and checks the result against the simplest possible comparison. */
#define _GNU_SOURCE 1
#include "test.h"

#include "analysis/compare.h"

#include <stdlib.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

static struct tg_error error;

static uint32_t state = 1;
static uint32_t next(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/* --- elements as numbers ---------------------------------------------------------------------- */

static void check_code(struct tg_decoder *decoder, unsigned dtype, uint64_t code)
{
    double want = tg_decode(dtype, code), got;
    if (decoder->is_wide) {
        double value[TG_BLOCK_LANES];
        tg_decode_wide(decoder, &code, 1, value);
        got = value[0];
    } else {
        float value[TG_BLOCK_LANES];
        tg_decode_narrow(decoder, &code, 1, value);
        got = (double)value[0];
    }
    if (!(got == want || (isnan(got) && isnan(want))) || signbit(got) != signbit(want))
        CHECK_NEAR(got, want, 0);
}

TEST(every_code_of_every_short_type_is_the_number_it_stands_for)
{
    for (unsigned dtype = 1; dtype < TG_DTYPE_END; dtype++) {
        struct tg_decoder decoder;
        unsigned bits = tg_dtype_bits((int)dtype);
        tg_decoder_init(&decoder, dtype);
        for (uint32_t code = 0; bits <= 16 && code < 1u << bits; code++)
            check_code(&decoder, dtype, code);
        for (int i = 0; bits > 16 && i < 100000; i++)
            check_code(&decoder, dtype,
                       ((uint64_t)next() << 40 ^ (uint64_t)next() << 20 ^ next()) &
                           (UINT64_MAX >> (64 - bits)));
    }
}

TEST(a_block_is_decoded_as_its_elements_are_one_by_one)
{
    unsigned char bytes[TG_BLOCK * 8 + 1];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)next();
    for (unsigned dtype = 1; dtype < TG_DTYPE_END; dtype++) {
        struct tg_decoder decoder;
        float narrow[TG_BLOCK];
        double wide[TG_BLOCK];
        tg_decoder_init(&decoder, dtype);
        for (int count = 1; count <= TG_BLOCK; count = count * 3 + 1) {
            if (decoder.is_wide)
                tg_decode_wide(&decoder, bytes + 1, count, wide);
            else
                tg_decode_narrow(&decoder, bytes + 1, count, narrow);
            for (int i = 0; i < tg_block_lanes(count); i++) {
                double got = decoder.is_wide ? wide[i] : (double)narrow[i];
                double want = i < count ? tg_load(dtype, bytes + 1, i) : 0;
                if (got != want && !(isnan(got) && isnan(want)))
                    CHECK_NEAR(got, want, 0);
            }
        }
    }
}

TEST(keys_are_in_the_order_of_the_values_and_one_apart)
{
    static const unsigned dtypes[] = {TG_FLOAT16,     TG_BFLOAT16,       TG_FLOAT8_E4M3FN,
                                      TG_FLOAT8_E5M2, TG_FLOAT8_E8M0FNU, TG_FLOAT4_E2M1FN};
    for (size_t k = 0; k < sizeof dtypes / sizeof dtypes[0]; k++) {
        struct tg_decoder decoder;
        tg_decoder_init(&decoder, dtypes[k]);
        for (uint32_t code = 0; code + 1 < 1u << (tg_dtype_bits((int)dtypes[k]) - 1); code++) {
            int32_t key[2][TG_BLOCK_LANES];
            uint32_t above = code + 1;
            tg_decode_keys(&decoder, &code, 1, key[0]);
            tg_decode_keys(&decoder, &above, 1, key[1]);
            CHECK_EQ_I(key[1][0] - key[0][0], 1);
            if (!tg_element_is_nan(dtypes[k], above))
                CHECK_EQ_U(tg_ulp_distance(dtypes[k], code, above), 1);
        }
    }
}

TEST(the_two_zeros_are_no_step_apart)
{
    CHECK_EQ_U(tg_ulp_distance(TG_FLOAT32, 0, 0x80000000), 0);
    CHECK_EQ_U(tg_ulp_distance(TG_FLOAT32, 1, 0x80000001), 2);
    CHECK_EQ_U(tg_ulp_distance(TG_FLOAT64, UINT64_C(0x8000000000000001), 1), 2);
    CHECK_EQ_U(tg_ulp_distance(TG_FLOAT64, tg_double_bits(-1.7976931348623157e308),
                               tg_double_bits(1.7976931348623157e308)),
               2 * UINT64_C(0x7fefffffffffffff));
}

/* --- against the plain way -------------------------------------------------------------------- */

static void plain(unsigned dtype, const void *a, const void *b, int64_t n,
                  const struct tg_tolerance *tolerance, bool equal_nan, struct tg_comparison *want)
{
    long double aa = 0, bb = 0, ab = 0, dd = 0;
    memset(want, 0, sizeof *want);
    want->elements = (uint64_t)n;
    want->identical = true;
    want->max_abs_at.element = want->max_rel_at.element = want->max_ulp_at.element = TG_NONE;
    for (int64_t i = 0; i < n; i++) {
        uint64_t x = tg_load_bits(dtype, a, i), y = tg_load_bits(dtype, b, i);
        double p = tg_decode(dtype, x), q = tg_decode(dtype, y);
        bool finite = isfinite(p) && isfinite(q);
        want->identical = want->identical && x == y;
        want->nan_a += isnan(p) != 0;
        want->nan_b += isnan(q) != 0;
        want->inf_a += isinf(p) != 0;
        want->inf_b += isinf(q) != 0;
        bool agree = x == y || (equal_nan && isnan(p) && isnan(q)) || (isinf(p) && p == q) ||
                     (finite && fabs(p - q) <= tolerance->absolute + tolerance->relative * fabs(q));
        want->mismatches += !agree;
        want->special += !agree && !finite;
        if (!agree && want->n_first < TG_FIRST_MISMATCHES)
            want->first[want->n_first++] = (struct tg_mismatch){(uint64_t)i, x, y};
        if (!finite)
            continue;
        aa += (long double)p * p, bb += (long double)q * q, ab += (long double)p * q;
        dd += ((long double)p - q) * ((long double)p - q);
        if (fabs(p - q) > want->max_abs) {
            want->max_abs = fabs(p - q);
            want->max_abs_at.element = (uint64_t)i;
        }
        if (q != 0 && fabs(p - q) / fabs(q) > want->max_rel) {
            want->max_rel = fabs(p - q) / fabs(q);
            want->max_rel_at.element = (uint64_t)i;
        }
        uint64_t ulp = tg_dtype_is_float((int)dtype) ? tg_ulp_distance(dtype, x, y) : 0;
        if (ulp > want->max_ulp) {
            want->max_ulp = ulp;
            want->max_ulp_at.element = (uint64_t)i;
        }
    }
    want->cosine = aa > 0 && bb > 0 ? (double)(ab / (sqrtl(aa) * sqrtl(bb))) : NAN;
    want->sqnr = dd > 0 ? (double)(10 * log10l(bb / dd)) : INFINITY;
}

static void check_same(const struct tg_comparison *got, const struct tg_comparison *want)
{
    CHECK_EQ_U(got->elements, want->elements);
    CHECK_EQ_I(got->identical, want->identical);
    CHECK_EQ_U(got->mismatches, want->mismatches);
    CHECK_EQ_U(got->n_first, want->n_first);
    for (uint32_t i = 0; i < want->n_first; i++)
        CHECK_EQ_MEM(&got->first[i], &want->first[i], sizeof want->first[i]);
    if (want->identical)
        return;
    CHECK_EQ_U(got->special, want->special);
    CHECK_EQ_U(got->nan_a, want->nan_a);
    CHECK_EQ_U(got->nan_b, want->nan_b);
    CHECK_EQ_U(got->inf_a, want->inf_a);
    CHECK_EQ_U(got->inf_b, want->inf_b);
    CHECK_NEAR(got->max_abs, want->max_abs, 0);
    CHECK_EQ_U(got->max_abs_at.element, want->max_abs_at.element);
    CHECK_NEAR(got->max_rel, want->max_rel, 0);
    CHECK_EQ_U(got->max_rel_at.element, want->max_rel_at.element);
    CHECK_EQ_U(got->max_ulp, want->max_ulp);
    CHECK_EQ_U(got->max_ulp_at.element, want->max_ulp_at.element);
    CHECK_NEAR(got->cosine, want->cosine, 1e-12);
    CHECK_NEAR(got->sqnr, want->sqnr, 1e-6);
}

/* One of `rare` elements is changed. */
static void check_random(unsigned dtype, int64_t n, unsigned rare, bool equal_nan)
{
    size_t size = (size_t)n * 8 + 16;
    unsigned char *a = calloc(1, size), *b = calloc(1, size);
    struct tg_tolerance tolerance = tg_tolerance_default((int)dtype);
    struct tg_comparison got, want;
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = (uint64_t)next() << 40 ^ (uint64_t)next() << 20 ^ next();
        if (dtype == TG_INT64 || dtype == TG_UINT64)
            bits &= 0xffffffffff; /* so that doubles are exact, as in the simple comparison */
        tg_store_bits(dtype, a + 1, i, bits);
        tg_store_bits(dtype, b + 1, i, next() % rare ? bits : bits ^ (1u << next() % 4));
    }
    plain(dtype, a + 1, b + 1, n, &tolerance, equal_nan, &want);
    CHECK_EQ_I(tg_tensor_compare((int)dtype, a + 1, b + 1, n, NULL, equal_nan, &got, &error),
               TG_OK);
    check_same(&got, &want);
    free(a);
    free(b);
}

TEST(random_bits_of_every_type_compare_as_the_plain_way_says)
{
    for (unsigned dtype = 1; dtype < TG_DTYPE_END; dtype++) {
        check_random(dtype, 1, 1, false);
        check_random(dtype, 77, 3, false);
        check_random(dtype, 1024, 2, true);
        check_random(dtype, 5001, 2000, false);
    }
}

TEST(what_is_equal_for_long_and_then_is_not_has_all_its_elements_in_the_sums)
{
    enum { N = TG_COMPARE_WINDOW * 2 + 1000 };
    float *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
    struct tg_tolerance tolerance = tg_tolerance_default(TG_FLOAT32);
    struct tg_comparison got, want;
    for (int i = 0; i < N; i++)
        a[i] = b[i] = (float)next() / 65536;
    a[17] = b[17] = NAN; /* the same bits */
    b[N - 3] += 1;
    plain(TG_FLOAT32, a, b, N, &tolerance, false, &want);
    CHECK_EQ_I(tg_tensor_compare(TG_FLOAT32, a, b, N, NULL, false, &got, &error), TG_OK);
    check_same(&got, &want);
    CHECK_EQ_U(got.mismatches, 1);
    CHECK_EQ_U(got.nan_a, 1);
    free(a);
    free(b);
}

/* --- the tolerance ---------------------------------------------------------------------------- */

static struct tg_comparison compare_floats(const float *a, const float *b, int64_t n,
                                           struct tg_tolerance tolerance, bool equal_nan)
{
    struct tg_comparison result;
    CHECK_EQ_I(tg_tensor_compare(TG_FLOAT32, a, b, n, &tolerance, equal_nan, &result, &error),
               TG_OK);
    return result;
}

TEST(equal_arrays_are_identical_and_empty_ones_too)
{
    float a[3] = {1, NAN, -INFINITY};
    struct tg_comparison result = compare_floats(a, a, 3, (struct tg_tolerance){0, 0}, false);
    CHECK(result.identical && result.mismatches == 0);
    CHECK_NEAR(result.sqnr, INFINITY, 0);
    result = compare_floats(a, a, 0, (struct tg_tolerance){0, 0}, false);
    CHECK(result.identical && result.elements == 0);
}

TEST(the_second_one_is_what_the_tolerance_is_relative_to)
{
    float a[1] = {100}, b[1] = {110};
    CHECK_EQ_U(compare_floats(a, b, 1, (struct tg_tolerance){0, 0.095}, false).mismatches, 0);
    CHECK_EQ_U(compare_floats(b, a, 1, (struct tg_tolerance){0, 0.095}, false).mismatches, 1);
    CHECK_EQ_U(compare_floats(a, b, 1, (struct tg_tolerance){10, 0}, false).mismatches, 0);
    CHECK_EQ_U(compare_floats(a, b, 1, (struct tg_tolerance){9.99, 0}, false).mismatches, 1);
}

TEST(nan_equals_nan_of_other_bits_only_when_asked)
{
    uint32_t a[2] = {0x7fc00000, 0x3f800000}, b[2] = {0xffc00001, 0x3f800000};
    struct tg_tolerance none = {0, 0};
    struct tg_comparison result;
    tg_tensor_compare(TG_FLOAT32, a, b, 2, &none, false, &result, &error);
    CHECK_EQ_U(result.mismatches, 1);
    CHECK_EQ_U(result.special, 1);
    tg_tensor_compare(TG_FLOAT32, a, b, 2, &none, true, &result, &error);
    CHECK_EQ_U(result.mismatches, 0);
    CHECK(!result.identical);
}

TEST(an_infinity_equals_itself_and_no_tolerance_reaches_it)
{
    float a[3] = {INFINITY, INFINITY, 1e30f}, b[3] = {INFINITY, -INFINITY, INFINITY};
    struct tg_comparison result = compare_floats(a, b, 3, (struct tg_tolerance){1e38, 1}, true);
    CHECK_EQ_U(result.mismatches, 2);
    CHECK_EQ_U(result.special, 2);
    CHECK_EQ_U(result.inf_a, 2);
    CHECK_EQ_U(result.inf_b, 3);
}

TEST(zero_and_minus_zero_agree_but_are_not_identical)
{
    float a[1] = {0.0f}, b[1] = {-0.0f};
    struct tg_comparison result = compare_floats(a, b, 1, (struct tg_tolerance){0, 0}, false);
    CHECK_EQ_U(result.mismatches, 0);
    CHECK(!result.identical);
    CHECK_EQ_U(result.max_abs_at.element, TG_NONE);
    CHECK(isnan(result.cosine));
}

TEST(integers_of_64_bits_are_exact)
{
    int64_t a[3] = {INT64_MAX, INT64_MIN, 0}, b[3] = {INT64_MAX - 1, INT64_MAX, 0};
    struct tg_comparison result;
    tg_tensor_compare(TG_INT64, a, b, 3, NULL, false, &result, &error);
    CHECK_EQ_U(result.mismatches, 2);
    CHECK_EQ_U(result.max_abs_at.element, 1);
    CHECK_NEAR(result.max_abs, 0x1p64, 0);
    uint64_t c[1] = {UINT64_MAX}, d[1] = {UINT64_MAX - 1};
    tg_tensor_compare(TG_UINT64, c, d, 1, &(struct tg_tolerance){1, 0}, false, &result, &error);
    CHECK_EQ_U(result.mismatches, 0);
    tg_tensor_compare(TG_UINT64, c, d, 1, &(struct tg_tolerance){0.5, 0}, false, &result, &error);
    CHECK_EQ_U(result.mismatches, 1);
}

TEST(truth_values_compare_by_their_truth)
{
    unsigned char a[3] = {0, 1, 2}, b[3] = {0, 255, 0};
    struct tg_comparison result;
    tg_tensor_compare(TG_BOOL, a, b, 3, NULL, false, &result, &error);
    CHECK_EQ_U(result.mismatches, 1);
    CHECK_EQ_U(result.first[0].element, 2);
}

TEST(squares_of_very_large_and_very_small_doubles_do_not_spoil_the_sums)
{
    double a[4] = {1e300, -1e300, 1e300, 1e300}, b[4] = {1e300, -1e300, 1e300, 2e300};
    double c[2] = {1e-300, 3e-300}, d[2] = {1e-300, 4e-300};
    struct tg_comparison result;
    tg_tensor_compare(TG_FLOAT64, a, b, 4, NULL, false, &result, &error);
    CHECK_NEAR(result.cosine, 5 / (2 * sqrt(7)), 1e-12);
    CHECK_NEAR(result.sqnr, 10 * log10(7), 1e-9);
    tg_tensor_compare(TG_FLOAT64, c, d, 2, &(struct tg_tolerance){0, 0}, false, &result, &error);
    CHECK_NEAR(result.cosine, 13 / sqrt(10 * 17), 1e-12);
    CHECK_NEAR(result.sqnr, 10 * log10(17), 1e-9);
}

TEST(what_is_no_type_is_refused)
{
    struct tg_comparison result;
    CHECK_EQ_I(tg_tensor_compare(0, "", "", 0, NULL, false, &result, &error), TG_BAD_ARGUMENT);
    CHECK_HAS(error.text, "0 is not a dtype");
    CHECK_EQ_I(tg_tensor_compare(TG_INT8, "", "", -1, NULL, false, &result, &error),
               TG_BAD_ARGUMENT);
}

TEST_MAIN()
