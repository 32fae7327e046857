/* SPDX-License-Identifier: Apache-2.0 */
/* What good runs differ by, and what an argument is held against then. */
#define _GNU_SOURCE 1
#include "unit/recording/made.h"

#include <math.h>

static struct made a, b, c;
static struct tg_error error;

static void record(struct made *made, struct made_record one)
{
    made_begin(made);
    made_add(made, one);
    made_end(made);
}

/* Compares one record of A with B, where C is known to be good. */
static struct tg_diff_result compare(struct made_record in_a, struct made_record in_b,
                                     struct made_record in_c)
{
    struct tg_diff *diff;
    struct tg_diff_result result = {.reason = TG_REASONS};
    record(&a, in_a);
    record(&b, in_b);
    record(&c, in_c);
    REQUIRE(tg_diff_open(a.recording, b.recording, NULL, &diff, &error) == TG_OK);
    CHECK_EQ_I(tg_diff_add_noise(diff, c.recording, &error), TG_OK);
    tg_recording_close(c.recording);
    CHECK(tg_diff_compare(diff, 0, &result));
    tg_diff_close(diff);
    tg_recording_close(a.recording);
    tg_recording_close(b.recording);
    return result;
}

TEST(a_difference_up_to_four_times_the_floor_is_noise)
{
    struct made_record good = {VALUES(1, 2)}, other = {VALUES(1, 2.25f)};
    struct tg_diff_result result = compare((struct made_record){VALUES(2, 2)}, good, other);
    CHECK_EQ_S(tg_reason_name(result.reason), "noise");
    CHECK(result.floor == 0.25 && result.tolerance.absolute == 1.0);
    result = compare((struct made_record){VALUES(2.125f, 2)}, good, other);
    CHECK_EQ_S(tg_reason_name(result.reason), "values");
    CHECK_EQ_U(result.values.mismatches, 1);
}

TEST(an_argument_without_noise_must_be_the_same_whatever_the_type_tolerates)
{
    struct made_record good = {VALUES(1, 2)};
    struct tg_diff_result result = compare((struct made_record){VALUES(1, 2.000001f)}, good, good);
    CHECK(result.floor == 0);
    CHECK_EQ_S(tg_reason_name(result.reason), "values");
}

TEST(nan_is_never_noise_and_hides_nothing)
{
    struct made_record good = {VALUES(1, 2)}, odd = {VALUES(1, NAN)}, near = {VALUES(1, 2.5f)};
    CHECK_EQ_S(tg_reason_name(compare(odd, good, near).reason), "values");
    CHECK_EQ_S(tg_reason_name(compare(odd, good, odd).reason), "values");
    CHECK_EQ_S(tg_reason_name(compare(near, good, odd).reason), "values");
}

TEST(without_a_measured_floor_the_tolerance_of_the_type_counts)
{
    struct made_record good = {VALUES(1, 2)}, elsewhere = {VALUES(1, 2), .arg = 3};
    struct tg_diff_result result =
        compare((struct made_record){VALUES(1, 2.000001f)}, good, elsewhere);
    CHECK(isnan(result.floor));
    CHECK_EQ_S(tg_reason_name(result.reason), "tolerance");
}

TEST(hashes_that_differ_among_good_runs_leave_the_question_open)
{
    struct made_record good = {VALUES(1), .meta = true, .hash = 1, .dtype = "int32"};
    struct made_record other = good, third = good;
    other.hash = 2;
    third.hash = 3;
    CHECK_EQ_S(tg_reason_name(compare(third, good, other).reason), "other_hash");
}

TEST_MAIN()
