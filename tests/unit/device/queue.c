/* SPDX-License-Identifier: Apache-2.0 */
#include "device/queue.h"
#include "test.h"

enum { SLOTS = 64 };

static uint64_t slots[SLOTS];
static struct tg_queue queue;
static struct tg_deque own;

/* A queue with `count` tasks, and the counters as they would be after `at` tasks. */
static void start(uint32_t at, uint32_t count)
{
    uint32_t ready[SLOTS] = {0};
    memset(&own, 0, sizeof own);
    for (uint32_t i = 0; i < count; i++)
        ready[i] = i + 1;
    tg_queue_reset(&queue, slots, SLOTS, at, at ? 0 : count, 16);
    tg_queue_fill(&queue, ready, 0, 1);
    for (uint32_t i = 0; at && i < count; i++)
        tg_queue_push(&queue, i);
}

static void expect_ring(uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        CHECK_EQ_U(tg_deque_pop(&own), first + i);
    CHECK_EQ_U(tg_deque_pop(&own), TG_NO_TASK);
}

TEST(an_empty_queue_has_nothing_to_pop)
{
    start(0, 0);
    CHECK(!tg_queue_occupied(&queue));
    CHECK_EQ_U(tg_queue_pop(&queue, 1, TG_BATCH_MAX, &own), TG_NO_TASK);
    CHECK_EQ_U(tg_queue_pop(&queue, 1, TG_BATCH_MAX, 0), TG_NO_TASK);
}

TEST(a_queue_starts_with_the_first_tasks_and_takes_more_behind_them)
{
    start(0, 3);
    tg_queue_push(&queue, 3);
    CHECK(tg_queue_occupied(&queue));
    for (uint32_t i = 0; i < 4; i++)
        CHECK_EQ_U(tg_queue_pop(&queue, 1, TG_BATCH_MAX, 0), i);
    CHECK(!tg_queue_occupied(&queue));
}

TEST(nothing_of_the_last_run_is_left_after_a_reset)
{
    start(0, SLOTS);
    start(0, 1);
    CHECK_EQ_U(tg_queue_pop(&queue, 1, TG_BATCH_MAX, 0), 0);
    CHECK_EQ_U(tg_queue_pop(&queue, 1, TG_BATCH_MAX, 0), TG_NO_TASK);
    tg_queue_push(&queue, 9); /* would wait forever if the slot were not empty */
    CHECK_EQ_U(tg_queue_pop(&queue, 1, TG_BATCH_MAX, 0), 9);
}

TEST(a_taker_gets_its_share_and_the_rest_goes_to_its_ring)
{
    start(0, 40);
    CHECK_EQ_U(tg_queue_pop(&queue, 4, TG_BATCH_MAX, &own), 0); /* 40 / 4 + 1 */
    expect_ring(1, 10);
    CHECK_EQ_U(tg_queue_pop(&queue, 1, TG_BATCH_MAX, &own), 11); /* all of it */
    expect_ring(12, 28);
    CHECK(!tg_queue_occupied(&queue));
}

TEST(a_share_is_at_least_one_task_and_never_more_than_a_batch)
{
    static uint64_t many[1024];
    static uint32_t ready[1024];
    start(0, 2);
    CHECK_EQ_U(tg_queue_pop(&queue, 100, TG_BATCH_MAX, &own), 0);
    expect_ring(0, 0);
    for (uint32_t i = 0; i < 1024; i++)
        ready[i] = i + 1;
    tg_queue_reset(&queue, many, 1024, 0, 1024, 16);
    tg_queue_fill(&queue, ready, 1, 2); /* filled in two parts, in any order */
    tg_queue_fill(&queue, ready, 0, 2);
    CHECK_EQ_U(tg_queue_pop(&queue, 1, TG_BATCH_MAX, &own), 0);
    expect_ring(1, TG_BATCH_MAX - 1);
}

TEST(a_queue_of_one_slot_works)
{
    uint64_t slot;
    uint32_t ready = 1;
    tg_queue_reset(&queue, &slot, 1, 0, 1, 16);
    tg_queue_fill(&queue, &ready, 0, 1);
    for (uint32_t i = 0; i < 5; i++) {
        CHECK_EQ_U(tg_queue_pop(&queue, 2, TG_BATCH_MAX, &own), i);
        CHECK_EQ_U(tg_queue_pop(&queue, 2, TG_BATCH_MAX, &own), TG_NO_TASK);
        tg_queue_push(&queue, i + 1);
    }
}

TEST(counters_wrap_at_32_bits_unnoticed)
{
    for (uint32_t before = 0; before <= SLOTS; before++) {
        start(UINT32_MAX - before, SLOTS);
        CHECK_EQ_U(tg_queue_pop(&queue, 2, TG_BATCH_MAX, &own), 0);
        expect_ring(1, SLOTS / 2);
        for (uint32_t i = 0; i <= SLOTS / 2; i++)
            tg_queue_push(&queue, SLOTS + i);
        for (uint32_t i = SLOTS / 2 + 1; i <= SLOTS + SLOTS / 2; i++)
            CHECK_EQ_U(tg_queue_pop(&queue, 1, TG_BATCH_MAX, 0), i);
        CHECK(!tg_queue_occupied(&queue));
    }
}

/* Slots that look as if this run had filled them, which is what an earlier run can leave. */
TEST(slots_are_cleaned_when_they_are_needed_whatever_they_held)
{
    enum { MANY = 32768, STALE = 7 };
    static uint64_t many[MANY];
    for (uint32_t at = 0; at < 2; at++) {
        uint32_t start = at ? UINT32_MAX - 100 : 0;
        for (uint32_t i = 0; i < MANY; i++)
            many[(start + i) % MANY] = (uint64_t)(start + i) << 32 | STALE;
        tg_queue_reset(&queue, many, MANY, start, 0, 16);
        tg_queue_fill(&queue, NULL, 0, 1);
        CHECK_EQ_U(tg_queue_pop(&queue, 1, 1, 0), TG_NO_TASK);
        tg_queue_push(&queue, 1);
        CHECK_EQ_U(tg_queue_pop(&queue, 1, 1, 0), 1);
        CHECK_EQ_U((uint32_t)many[(start + MANY - 1) % MANY], STALE); /* nobody needed it */
        for (uint32_t i = 0; i < 3 * MANY; i++) {
            tg_queue_push(&queue, i);
            REQUIRE(tg_queue_pop(&queue, 1, 1, 0) == i);
        }
    }
}

TEST_MAIN()
