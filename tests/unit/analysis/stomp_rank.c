/* SPDX-License-Identifier: Apache-2.0 */
/* The suspects of stomps in recordings that were made up for the test; they have no times. */
#define _GNU_SOURCE 1
#include "unit/recording/made.h"

#include <taskglass/answers.h>

static struct made made;
static struct tg_find *find;
static struct tg_find_answer *answer;
static struct tg_find_suspect suspect;
static struct tg_error error;

enum { X = 0x1000, N = 4 * sizeof(float) };
#define READ(id, number, where, ...)                                   \
    made_add(&made, (struct made_record){.task = (id),                 \
                                         .arg = (number),              \
                                         .address = (uint64_t)(where), \
                                         VALUES(__VA_ARGS__)})
#define WRITE(id, number, where, ...)                        \
    made_add(&made, (struct made_record){.task = (id),       \
                                         .arg = (number),    \
                                         .after = true,      \
                                         .address = (where), \
                                         VALUES(__VA_ARGS__)})

static void must_find(void)
{
    made_end(&made);
    REQUIRE(tg_find_open(made.recording, TG_FIND_STOMP, NULL, NULL, &find, &error) == TG_OK);
    REQUIRE(tg_find_answer_open(find, NULL, NULL, &answer, &error) == TG_OK);
}

static void done(void)
{
    tg_find_answer_close(answer);
    tg_find_close(find);
    tg_recording_close(made.recording);
}

static void check_suspect(uint64_t number, uint64_t task, const char *place, uint64_t distance)
{
    REQUIRE(tg_find_answer_suspect(answer, 0, number, &suspect));
    CHECK_EQ_U(suspect.task_id, task);
    CHECK_EQ_S(tg_find_place_name(suspect.place), place);
    CHECK_EQ_U(suspect.distance, distance);
}

TEST(the_task_whose_output_is_nearest_to_the_change_comes_first)
{
    made_begin(&made);
    WRITE(0, 0, X, 1, 2, 3, 4);
    READ(1, 0, X, 1, 2, 3, 4);
    WRITE(2, 0, X + 4 * N, 7, 7, 7, 7); /* far behind the change */
    WRITE(3, 1, X + N, 7, 7, 7, 7);     /* two elements behind it */
    WRITE(4, 2, X - N, 7, 7, 7, 7);     /* one element before it */
    READ(5, 0, X, 1, 9, 3, 4);
    must_find();
    check_suspect(0, 4, "behind", sizeof(float));
    CHECK_EQ_U(suspect.argument, 2);
    check_suspect(1, 3, "before", 2 * sizeof(float));
    check_suspect(2, 2, "before", 3 * N + 2 * sizeof(float));
    CHECK(!tg_find_answer_suspect(answer, 0, 3, &suspect));
    done();
}

TEST(nearness_alone_names_nobody)
{
    made_begin(&made);
    WRITE(0, 0, X, 1, 2, 3, 4);
    READ(1, 0, X, 1, 2, 3, 4);
    WRITE(2, 0, X - N, 7, 7, 7, 7);
    READ(3, 0, X, 9, 2, 3, 4);
    must_find();
    check_suspect(0, 2, "behind", 0);
    CHECK(tg_find_answer_evidence(answer, 0) == TG_FIND_EVIDENCE_NONE);
    done();
}

TEST(a_task_that_was_given_the_bytes_comes_before_one_that_is_far_away)
{
    made_begin(&made);
    WRITE(0, 0, X, 1, 2, 3, 4);
    READ(1, 0, X, 1, 2, 3, 4);
    WRITE(1, 1, X + (1 << 21), 5);
    WRITE(2, 0, X + (1 << 20), 7, 7, 7, 7);
    READ(3, 0, X, 9, 2, 3, 4);
    must_find();
    REQUIRE(tg_find_answer_suspect(answer, 0, 0, &suspect));
    CHECK(suspect.task_id == 1 && suspect.is_given);
    REQUIRE(tg_find_answer_suspect(answer, 0, 1, &suspect));
    CHECK(suspect.task_id == 2 && !suspect.is_given);
    done();
}

TEST(other_kinds_and_findings_that_are_not_there_have_no_suspects)
{
    made_begin(&made);
    WRITE(0, 0, X, 0, 0);
    made_end(&made);
    REQUIRE(tg_find_open(made.recording, TG_FIND_UNWRITTEN, NULL, NULL, &find, &error) == TG_OK);
    REQUIRE(tg_find_answer_open(find, NULL, NULL, &answer, &error) == TG_OK);
    CHECK(!tg_find_answer_suspect(answer, 0, 0, &suspect));
    CHECK(!tg_find_answer_suspect(NULL, 0, 0, &suspect));
    CHECK(tg_find_answer_evidence(answer, 7) == TG_FIND_EVIDENCE_NONE);
    done();
}

TEST_MAIN()
