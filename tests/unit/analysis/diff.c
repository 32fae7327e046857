/* SPDX-License-Identifier: Apache-2.0 */
/* How a pair is decided, which tolerance applies to it, and the result over all pairs. */
#define _GNU_SOURCE 1
#include "unit/recording/made.h"

static struct made a, b;
static struct tg_error error;
static struct tg_diff_summary summary;

/* Compares one record on each side. */
static struct tg_diff_result compare_with(struct made_record left, struct made_record right,
                                          const struct tg_diff_options *options)
{
    struct tg_diff *diff;
    struct tg_diff_result result = {.reason = TG_REASONS};
    const char *head_a = a.head, *head_b = b.head;
    made_begin(&a);
    made_begin(&b);
    a.head = head_a ? head_a : "";
    b.head = head_b ? head_b : "";
    made_add(&a, left);
    made_add(&b, right);
    made_end(&a);
    made_end(&b);
    REQUIRE(tg_diff_open(a.recording, b.recording, options, &diff, &error) == TG_OK);
    CHECK(tg_diff_compare(diff, 0, &result));
    tg_diff_summarize(diff, &summary);
    tg_diff_close(diff);
    tg_recording_close(a.recording);
    tg_recording_close(b.recording);
    a.head = b.head = "";
    return result;
}

static struct tg_diff_result compare(struct made_record left, struct made_record right)
{
    return compare_with(left, right, NULL);
}

TEST(equal_hashes_settle_a_pair_that_is_not_stored)
{
    struct tg_diff_result result =
        compare((struct made_record){VALUES(1, 2), .meta = true, .hash = 5},
                (struct made_record){VALUES(1, 2), .hash = 5});
    CHECK_EQ_S(tg_reason_name(result.reason), "hash");
    CHECK(!result.has_values);
    CHECK_EQ_I(summary.verdict, TG_VERDICT_SAME);
}

TEST(a_hash_is_made_of_what_is_stored_where_the_other_side_has_only_that)
{
    struct made_record stored = {VALUES(1, 2)};
    struct made_record hashed = {VALUES(1, 2), .meta = true};
    hashed.hash = tg_content_hash(hashed.values, 8);
    stored.hash = 77; /* not used: the values are there */
    CHECK_EQ_S(tg_reason_name(compare(hashed, (struct made_record){VALUES(1, 2)}).reason), "hash");
    CHECK_EQ_S(tg_reason_name(compare(hashed, stored).reason), "other_hash");
    CHECK_EQ_I(summary.verdict, TG_VERDICT_UNKNOWN);
}

TEST(other_hashes_of_integers_are_a_difference)
{
    struct made_record left = {VALUES(1), .meta = true, .hash = 1, .dtype = "int32"}, right = left;
    right.hash = 2;
    CHECK_EQ_S(tg_reason_name(compare(left, right).reason), "integer_hash");
    CHECK_EQ_I(summary.verdict, TG_VERDICT_DIFFERS);
    left.dtype = right.dtype = "float32";
    CHECK_EQ_S(tg_reason_name(compare(left, right).reason), "other_hash");
    left.dtype = right.dtype = "bool";
    CHECK_EQ_S(tg_reason_name(compare(left, right).reason), "other_hash");
}

TEST(values_are_the_same_close_or_different)
{
    struct made_record one = {VALUES(1, 2)};
    CHECK_EQ_S(tg_reason_name(compare(one, (struct made_record){VALUES(1, 2)}).reason), "hash");
    CHECK_EQ_S(tg_reason_name(compare(one, (struct made_record){VALUES(1, 2.000001f)}).reason),
               "tolerance");
    CHECK_EQ_I(summary.verdict, TG_VERDICT_CLOSE);
    struct tg_diff_result result = compare(one, (struct made_record){VALUES(1, 2.1f)});
    CHECK_EQ_S(tg_reason_name(result.reason), "values");
    CHECK_EQ_U(result.values.mismatches, 1);
    CHECK_EQ_I(summary.verdict, TG_VERDICT_DIFFERS);
}

TEST(a_payload_without_its_hash_is_damaged_and_not_compared)
{
    struct made_record good = {VALUES(1, 2)}, damaged = {VALUES(1, 900), .hash = 77};
    struct tg_diff_result result = compare(damaged, good);
    CHECK_EQ_S(tg_reason_name(result.reason), "other_hash");
    CHECK(!result.has_values);
    CHECK_EQ_I(summary.verdict, TG_VERDICT_UNKNOWN);
}

TEST(another_dtype_and_another_shape_are_differences)
{
    struct made_record one = {VALUES(1, 2)}, other = one;
    other.dtype = "int32";
    CHECK_EQ_S(tg_reason_name(compare(one, other).reason), "dtype");
    CHECK_EQ_S(tg_reason_name(compare(one, (struct made_record){VALUES(1)}).reason), "shape");
    CHECK_EQ_I(summary.verdict, TG_VERDICT_DIFFERS);
}

TEST(what_is_cut_off_is_never_equal_but_may_differ)
{
    struct made_record whole = {VALUES(1, 2, 3, 4)};
    struct made_record cut = {VALUES(1, 2, 3, 4), .cut = true, .hash = 9};
    struct tg_diff_result result = compare(whole, cut);
    CHECK_EQ_S(tg_reason_name(result.reason), "cut");
    CHECK_EQ_U(result.values.elements, 2);
    CHECK_EQ_I(summary.verdict, TG_VERDICT_UNKNOWN);
    struct made_record other = {VALUES(1, 5, 3, 4), .cut = true, .hash = 9};
    CHECK_EQ_S(tg_reason_name(compare(whole, other).reason), "values");
}

TEST(neither_hashes_nor_payloads_tell_nothing)
{
    struct made_record meta = {VALUES(1), .meta = true};
    CHECK_EQ_S(tg_reason_name(compare(meta, meta).reason), "not_stored");
    CHECK_EQ_I(summary.verdict, TG_VERDICT_UNKNOWN);
}

TEST(a_recording_with_losses_or_without_an_end_is_never_equal)
{
    struct made_record one = {VALUES(1)};
    a.head = "\"lost\": {\"full\": 2}, ";
    compare(one, one);
    CHECK_EQ_I(summary.verdict, TG_VERDICT_UNKNOWN);
    CHECK_EQ_U(summary.gaps, TG_GAP_LOST_A);
    b.head = "\"complete\": false, ";
    compare(one, one);
    CHECK_EQ_U(summary.gaps, TG_GAP_INCOMPLETE_B);
    compare(one, one);
    CHECK_EQ_I(summary.verdict, TG_VERDICT_SAME);
}

TEST(a_task_that_a_lossless_side_does_not_have_did_not_run_there)
{
    struct made_record one = {VALUES(1)}, other = {VALUES(1), .task = 1};
    struct tg_diff *diff;
    made_begin(&a);
    made_begin(&b);
    made_add(&a, one);
    made_add(&a, other);
    made_add(&b, one);
    made_end(&a);
    made_end(&b);
    REQUIRE(tg_diff_open(a.recording, b.recording, NULL, &diff, &error) == TG_OK);
    tg_diff_summarize(diff, &summary);
    CHECK(summary.graphs_differ);
    CHECK_EQ_U(summary.gaps, 0);
    tg_diff_close(diff);
    b.recording->info.level = 3; /* marked: other records need not be there */
    REQUIRE(tg_diff_open(a.recording, b.recording, NULL, &diff, &error) == TG_OK);
    tg_diff_summarize(diff, &summary);
    CHECK(!summary.graphs_differ);
    CHECK_EQ_U(summary.gaps, TG_GAP_TASKS_B);
    tg_diff_close(diff);
    tg_recording_close(a.recording);
    tg_recording_close(b.recording);
}

TEST(the_same_two_contents_are_looked_at_once_and_are_the_same_twice)
{
    struct tg_diff *diff;
    struct tg_diff_result first, second;
    made_begin(&a);
    made_begin(&b);
    for (unsigned task = 0; task < 2; task++) {
        made_add(&a, (struct made_record){.task = task, VALUES(1, 2, 3)});
        made_add(&b, (struct made_record){.task = task, VALUES(1, 5, 3)});
    }
    made_end(&a);
    made_end(&b);
    REQUIRE(tg_diff_open(a.recording, b.recording, NULL, &diff, &error) == TG_OK);
    tg_diff_compare(diff, 0, &first);
    tg_diff_compare(diff, 1, &second);
    CHECK_EQ_MEM(&first, &second, sizeof first);
    CHECK(!tg_diff_compare(diff, 2, &second));
    tg_diff_close(diff);
    tg_recording_close(a.recording);
    tg_recording_close(b.recording);
}

/* --- tolerances ------------------------------------------------------------------------------- */

static struct tg_tolerance_rule rule(const char *text, bool relative)
{
    struct tg_tolerance_rule result;
    if (!CHECK_EQ_I(tg_tolerance_rule_parse(text, relative, &result, &error), TG_OK))
        fprintf(stderr, "    %s\n", error.text);
    return result;
}

TEST(a_rule_has_a_number_and_may_name_what_it_is_for)
{
    struct tg_tolerance_rule plain = rule("1e-3", false),
                             full = rule("kernel=soft*,arg=2-3,dtype=float16:0.5", true);
    CHECK_NEAR(plain.absolute, 1e-3, 0);
    CHECK(isnan(plain.relative));
    CHECK_EQ_S(full.kernel, "soft*");
    CHECK_EQ_S(full.dtype, "float16");
    CHECK_EQ_U(full.first_arg, 2);
    CHECK_EQ_U(full.last_arg, 3);
    CHECK_NEAR(full.relative, 0.5, 0);
    CHECK(isnan(full.absolute));
}

TEST(a_rule_that_makes_no_sense_is_refused)
{
    static const char *const bad[] = {"",          "x",         "-1",       "1e-3x",
                                      "inf",       "nan",       "arg=2",    "arg=x:1",
                                      "arg=2-1:1", "kernel=:1", "size=3:1", "kernel:1",
                                      "dtype=f:1", "arg=1,:1",  "arg=300:1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tg_tolerance_rule result;
        CHECK_EQ_I(tg_tolerance_rule_parse(bad[i], true, &result, &error), TG_BAD_ARGUMENT);
        CHECK_HAS(error.text, "--rtol: '");
    }
}

static struct tg_tolerance tolerance_of(struct made_record record, const char *const *texts)
{
    struct tg_tolerance_rule rules[8];
    struct tg_diff_options options = {.rules = rules};
    for (; texts[options.n_rules]; options.n_rules++)
        rules[options.n_rules] = rule(texts[options.n_rules] + 1, texts[options.n_rules][0] == 'r');
    return compare_with(record, record, &options).tolerance;
}

TEST(the_rule_that_names_most_wins_and_among_equals_the_last)
{
    struct made_record record = {VALUES(1), .kernel = "softmax", .arg = 2};
    const char *const texts[] = {
        "rkernel=soft*,arg=2:3", "r1", "rkernel=softmax:2", "a7", "a8", NULL};
    CHECK_NEAR(tolerance_of(record, texts).relative, 3, 0);
    CHECK_NEAR(tolerance_of(record, texts).absolute, 8, 0);
    record.arg = 1;
    CHECK_NEAR(tolerance_of(record, texts).relative, 2, 0);
    record.kernel = "add";
    CHECK_NEAR(tolerance_of(record, texts).relative, 1, 0);
}

TEST(integers_stay_exact_unless_their_dtype_is_named)
{
    struct made_record record = {VALUES(1), .dtype = "int32"};
    const char *const plain[] = {"a1", "rkernel=k:1", NULL}, *const named[] = {"adtype=int*:2",
                                                                               NULL};
    CHECK_NEAR(tolerance_of(record, plain).absolute, 0, 0);
    CHECK_NEAR(tolerance_of(record, plain).relative, 0, 0);
    CHECK_NEAR(tolerance_of(record, named).absolute, 2, 0);
}

TEST(every_float_has_a_tolerance_and_shorter_ones_more)
{
    CHECK(tg_tolerance_default(TG_FLOAT64).relative < tg_tolerance_default(TG_FLOAT32).relative);
    CHECK(tg_tolerance_default(TG_FLOAT32).relative < tg_tolerance_default(TG_FLOAT16).relative);
    CHECK(tg_tolerance_default(TG_FLOAT16).relative < tg_tolerance_default(TG_BFLOAT16).relative);
    CHECK(tg_tolerance_default(TG_BFLOAT16).relative <
          tg_tolerance_default(TG_FLOAT8_E4M3FN).relative);
    CHECK_NEAR(tg_tolerance_default(TG_INT8).relative, 0, 0);
    CHECK_NEAR(tg_tolerance_default(TG_BOOL).absolute, 0, 0);
}

TEST_MAIN()
