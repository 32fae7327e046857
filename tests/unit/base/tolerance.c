/* SPDX-License-Identifier: Apache-2.0 */
/* When two values agree. */
#include "test.h"

#include "base/tolerance.h"

static bool is_close(double value, double trusted, double absolute, double relative)
{
    return tg_is_close(value, trusted, fabs(value - trusted), absolute, relative, false);
}

TEST(an_error_of_exactly_the_tolerance_agrees)
{
    CHECK(is_close(1.5, 1, 0.5, 0));
    CHECK(!is_close(1.75, 1, 0.5, 0));
    CHECK(is_close(-3.5, -2, 0.5, 0.5));
}

TEST(the_relative_tolerance_is_of_the_value_that_is_trusted)
{
    CHECK(!is_close(2, 1, 0, 0.5));
    CHECK(is_close(1, 2, 0, 0.5));
}

TEST(nan_agrees_with_nan_only_where_that_is_asked_for)
{
    CHECK(!tg_is_close(NAN, NAN, NAN, 9, 9, false));
    CHECK(tg_is_close(NAN, NAN, NAN, 0, 0, true));
    CHECK(!tg_is_close(NAN, 1, NAN, 9, 9, true));
    CHECK(!tg_is_close(1, NAN, NAN, 9, 9, true));
}

TEST(an_infinity_agrees_with_itself_alone)
{
    CHECK(is_close(INFINITY, INFINITY, 0, 0));
    CHECK(!is_close(-INFINITY, INFINITY, 9, 9));
    CHECK(!is_close(1, INFINITY, 9, 9));
    CHECK(!is_close(INFINITY, 1, 9, 9));
}

TEST(a_difference_that_is_no_number_is_infinite)
{
    CHECK_NEAR(tg_distance(1.25, 1), 0.25, 0);
    CHECK_NEAR(tg_distance(NAN, NAN), 0, 0);
    CHECK_NEAR(tg_distance(INFINITY, INFINITY), 0, 0);
    CHECK(isinf(tg_distance(NAN, 1)));
    CHECK(isinf(tg_distance(INFINITY, -INFINITY)));
}

TEST_MAIN()
