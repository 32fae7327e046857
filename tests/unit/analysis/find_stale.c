/* SPDX-License-Identifier: Apache-2.0 */
/* When a range that did not change is reported, and when it is not. */
#define _GNU_SOURCE 1
#include "unit/recording/made.h"

#include "analysis/find.h"

enum { N = 40, KEPT = 12 }; /* elements of the output, and those at its end that do not change */
enum { X = 0x1000, Y = 0x2000, Z = 0x3000 };

static struct made made;
static const char *head; /* of the manifest */
static struct tg_find_info info;
static struct tg_find_finding finding;
static float first_in[N], first_out[N], second_in[N], second_out[N];

/* Two tasks that share nothing; the second leaves the end of the first one's output. */
static void plan(void)
{
    for (int i = 0; i < N; i++) {
        first_in[i] = (float)i + 1000;
        first_out[i] = (float)i + 1;
        second_in[i] = (float)i + 2000;
        second_out[i] = i < N - KEPT ? -(float)i - 1 : first_out[i];
    }
}

static void add(uint64_t task, const char *kernel, bool after, uint64_t address,
                const float *values)
{
    made_add(&made, (struct made_record){.task = task,
                                         .kernel = kernel,
                                         .arg = after,
                                         .after = after,
                                         .address = address,
                                         .values = values,
                                         .n_values = N});
}

/* Runs both tasks, and searches. */
static uint64_t findings(const char *second_kernel)
{
    struct tg_find *find;
    struct tg_error error;
    made_begin(&made);
    made.head = head ? head : "";
    add(0, "f", false, X, first_in);
    add(0, "f", true, Z, first_out);
    add(1, second_kernel, false, Y, second_in);
    add(1, second_kernel, true, Z, second_out);
    made_end(&made);
    REQUIRE(tg_find_open(made.recording, TG_FIND_UNWRITTEN, NULL, NULL, &find, &error) == TG_OK);
    tg_find_get_info(find, &info);
    if (info.findings > 0)
        CHECK(tg_find_get_finding(find, 0, &finding));
    tg_find_close(find);
    tg_recording_close(made.recording);
    return info.findings;
}

TEST(what_another_kernel_left_is_possible)
{
    plan();
    CHECK_EQ_U(findings("g"), 1);
    CHECK(!finding.is_proved); /* both may have written the same table */
    CHECK_EQ_S(tg_sign_name(finding.sign), "stale");
    CHECK_EQ_U(finding.record, 3);
    CHECK_EQ_U(finding.first, N - KEPT);
    CHECK_EQ_U(finding.count, KEPT);
    CHECK_EQ_U(finding.before, 1);
    CHECK_EQ_U(info.proved, 0);
}

TEST(the_pattern_disproves_it)
{
    plan();
    head = "\"poison\": \"0x7ffb7fd3\", ";
    CHECK_EQ_U(findings("g"), 0);
    head = NULL;
}

TEST(the_same_kernel_may_compute_a_part_again)
{
    plan();
    CHECK_EQ_U(findings("f"), 0);
}

TEST(what_an_input_has_may_be_copied)
{
    plan();
    memcpy(second_in + 3, first_out + N - KEPT, KEPT * sizeof(float));
    CHECK_EQ_U(findings("g"), 0);
    for (int i = 0; i < KEPT; i++)
        second_in[2 * i] = first_out[N - 1 - i]; /* in another order, with others between */
    CHECK_EQ_U(findings("g"), 0);
}

TEST(constants_may_be_written_again)
{
    plan();
    for (int i = N - KEPT; i < N; i++)
        first_out[i] = second_out[i] = 0.5f;
    CHECK_EQ_U(findings("g"), 0);
}

TEST(a_few_elements_may_be_chance)
{
    plan();
    for (int i = 0; i < N - 7; i++)
        second_out[i] = -(float)i - 1;
    CHECK_EQ_U(findings("g"), 0);
}

TEST(other_elements_that_did_not_change_disprove_nothing)
{
    plan();
    second_out[5] = first_out[5];
    CHECK_EQ_U(findings("g"), 0);
}

TEST(tasks_with_a_common_input_may_have_common_results)
{
    plan();
    memcpy(second_in, first_in, sizeof first_in);
    CHECK_EQ_U(findings("g"), 0);
}

TEST(an_output_that_did_not_change_at_all_is_only_possible)
{
    plan();
    memcpy(second_out, first_out, sizeof first_out);
    CHECK_EQ_U(findings("g"), 1);
    CHECK(!finding.is_proved);
    CHECK_EQ_S(tg_sign_name(finding.sign), "same");
    memcpy(second_in, first_in, sizeof first_in);
    CHECK_EQ_U(findings("f"), 0); /* the same work again */
}

TEST_MAIN()
