/* SPDX-License-Identifier: Apache-2.0 */
#include "host/check.h"

#include "test.h"
#include <taskglass/dtype.h>

static struct tg_output_check close_to(const float *got, const double *expected, uint64_t n,
                                       double atol, double rtol)
{
    struct tg_output_check check = {0};
    tg_check_close(TG_FLOAT32, got, expected, n, atol, rtol, &check);
    return check;
}

TEST(equal_values_match_without_tolerance)
{
    struct tg_output_check c = close_to((float[]){1, -2, 0}, (double[]){1, -2, 0}, 3, 0, 0);
    CHECK_EQ_U(c.mismatches, 0);
    CHECK_EQ_U(c.elements, 3);
    CHECK_EQ_S(c.dtype, "float32");
    CHECK(!c.exact);
}

TEST(a_difference_of_exactly_the_tolerance_matches)
{
    CHECK_EQ_U(close_to((float[]){1.5}, (double[]){1}, 1, 0.5, 0).mismatches, 0);
    CHECK_EQ_U(close_to((float[]){3}, (double[]){2}, 1, 0, 0.5).mismatches, 0);
    CHECK_EQ_U(close_to((float[]){-3.5}, (double[]){-2}, 1, 0.5, 0.5).mismatches, 0);
}

TEST(a_difference_beyond_the_tolerance_does_not_match)
{
    CHECK_EQ_U(close_to((float[]){1.75}, (double[]){1}, 1, 0.5, 0).mismatches, 1);
    CHECK_EQ_U(close_to((float[]){2}, (double[]){3}, 1, 0, 0.25).mismatches, 1);
}

TEST(the_relative_tolerance_is_of_the_expected_value)
{
    CHECK_EQ_U(close_to((float[]){2}, (double[]){1}, 1, 0, 0.5).mismatches, 1);
    CHECK_EQ_U(close_to((float[]){1}, (double[]){2}, 1, 0, 0.5).mismatches, 0);
}

TEST(nan_matches_nan_and_nothing_else)
{
    CHECK_EQ_U(close_to((float[]){NAN}, (double[]){NAN}, 1, 0, 0).mismatches, 0);
    CHECK_EQ_U(close_to((float[]){1}, (double[]){NAN}, 1, 9, 9).mismatches, 1);
    CHECK_EQ_U(close_to((float[]){NAN}, (double[]){1}, 1, 9, 9).mismatches, 1);
}

TEST(an_infinity_matches_itself_and_nothing_else)
{
    CHECK_EQ_U(close_to((float[]){INFINITY}, (double[]){INFINITY}, 1, 0, 0).mismatches, 0);
    CHECK_EQ_U(close_to((float[]){-INFINITY}, (double[]){INFINITY}, 1, 1, 1).mismatches, 1);
    CHECK_EQ_U(close_to((float[]){1}, (double[]){INFINITY}, 1, 1, 1).mismatches, 1);
    CHECK_EQ_U(close_to((float[]){INFINITY}, (double[]){1}, 1, 1, 1).mismatches, 1);
}

TEST(a_value_where_nan_is_expected_is_an_infinite_error)
{
    CHECK(isinf(close_to((float[]){1}, (double[]){NAN}, 1, 0, 0).max_error));
}

TEST(the_largest_error_counts_those_within_tolerance)
{
    struct tg_output_check c = close_to((float[]){1.25, 2.5, 3}, (double[]){1, 2, 3}, 3, 1, 0);
    CHECK_EQ_U(c.mismatches, 0);
    CHECK_NEAR(c.max_error, 0.5, 0);
}

TEST(the_first_mismatch_is_reported_with_both_values)
{
    struct tg_output_check c = close_to((float[]){1, 5, 7}, (double[]){1, 2, 3}, 3, 0, 0);
    CHECK_EQ_U(c.mismatches, 2);
    CHECK_EQ_U(c.first, 1);
    CHECK_NEAR(c.first_got, 5, 0);
    CHECK_NEAR(c.first_expected, 2, 0);
}

TEST(no_element_at_all_matches)
{
    float nothing = 0;
    double expected = 0;
    struct tg_output_check exact = {0};
    CHECK_EQ_U(close_to(&nothing, &expected, 0, 0, 0).mismatches, 0);
    tg_check_exact(TG_FLOAT32, &nothing, &expected, 0, &exact);
    CHECK_EQ_U(exact.mismatches, 0);
}

/* Every type: equal arrays match, and one changed element is found at its place. */
TEST(exact_finds_one_changed_element_of_every_type)
{
    for (int dtype = TG_DTYPE_NONE + 1; dtype < TG_DTYPE_END; dtype++) {
        unsigned char got[9 * 8] = {0}, expected[9 * 8] = {0};
        struct tg_output_check c = {0};
        for (size_t i = 0; i < 9; i++) {
            tg_dtype_store(dtype, got, i, 1);
            tg_dtype_store(dtype, expected, i, 1);
        }
        tg_check_exact(dtype, got, expected, 9, &c);
        CHECK_EQ_U(c.mismatches, 0);
        CHECK(c.exact);
        tg_dtype_store(dtype, got, 7, dtype == TG_BOOL ? 0 : 2);
        tg_check_exact(dtype, got, expected, 9, &c);
        CHECK_EQ_U(c.mismatches, 1);
        CHECK_EQ_U(c.first, 7);
        CHECK_NEAR(c.max_error, 1, 0);
    }
}

TEST(exact_tells_minus_zero_from_zero)
{
    struct tg_output_check c = {0};
    tg_check_exact(TG_FLOAT32, (float[]){-0.0f}, (float[]){0.0f}, 1, &c);
    CHECK_EQ_U(c.mismatches, 1);
    CHECK_NEAR(c.max_error, 0, 0);
}

TEST(exact_does_not_look_at_the_twin_of_a_last_odd_nibble)
{
    unsigned char got[2] = {0x21, 0xf3}, expected[2] = {0x21, 0x03};
    struct tg_output_check c = {0};
    tg_check_exact(TG_INT4, got, expected, 3, &c);
    CHECK_EQ_U(c.mismatches, 0);
}

TEST(exact_looks_at_a_last_odd_nibble)
{
    unsigned char got[2] = {0x21, 0x03}, expected[2] = {0x21, 0x02};
    struct tg_output_check c = {0};
    tg_check_exact(TG_INT4, got, expected, 3, &c);
    CHECK_EQ_U(c.mismatches, 1);
    CHECK_EQ_U(c.first, 2);
}

TEST(pieces_add_up_to_the_whole)
{
    struct tg_output_check all = {0}, piece = close_to((float[]){1, 2}, (double[]){1, 2}, 2, 0, 0);
    tg_check_add(&all, 0, &piece);
    piece = close_to((float[]){3, 4}, (double[]){3, 6}, 2, 0, 0);
    tg_check_add(&all, 2, &piece);
    piece = close_to((float[]){0}, (double[]){1}, 1, 0, 0);
    tg_check_add(&all, 4, &piece);
    CHECK_EQ_U(all.elements, 5);
    CHECK_EQ_U(all.mismatches, 2);
    CHECK_EQ_U(all.first, 3);
    CHECK(all.first_got == 4 && all.first_expected == 6 && all.max_error == 2);
    CHECK_EQ_S(all.dtype, "float32");
}

TEST_MAIN()
