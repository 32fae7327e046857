/* SPDX-License-Identifier: Apache-2.0 */
/* Workers that stand in line at a queue, as on a GPU: the queue is compiled for such a target here. */
#include "test.h"
#include "device/target.h"
#undef TG_TARGET_LINES_UP
#undef TG_TARGET_FILLS_QUEUES
#define TG_TARGET_LINES_UP 1
#define TG_TARGET_FILLS_QUEUES 1
#include "device/queue.c"

enum { SLOTS = 64, WORKERS = 16 };

static uint64_t slots[SLOTS];
static struct tg_queue queue;

static void start(uint32_t at)
{
    uint32_t ready[1] = {0};
    tg_queue_reset(&queue, slots, SLOTS, at, 0, WORKERS);
    tg_queue_fill(&queue, ready, 0, 1);
}

static struct tg_place join(void)
{
    struct tg_place place = {0};
    CHECK(tg_queue_line_up(&queue, WORKERS, &place));
    return place;
}

TEST(a_task_comes_to_the_worker_that_waits_longest)
{
    for (uint32_t before = 0; before <= SLOTS; before++) { /* also where positions wrap */
        struct tg_place first, second;
        start(UINT32_MAX - before);
        first = join();
        second = join();
        CHECK_EQ_U(tg_queue_look(first), TG_NO_TASK);
        CHECK(!tg_queue_occupied(&queue));
        CHECK_EQ_U(tg_queue_pop(&queue, 1, 1, 0), TG_NO_TASK);
        tg_queue_push(&queue, 5);
        CHECK_EQ_U(tg_queue_look(second), TG_NO_TASK);
        CHECK_EQ_U(tg_queue_look(first), 5);
        tg_queue_push(&queue, 6);
        tg_queue_push(&queue, 7);
        CHECK_EQ_U(tg_queue_look(second), 6);
        CHECK_EQ_U(tg_queue_pop(&queue, 1, 1, 0), 7); /* the line has ended */
        CHECK(!tg_queue_occupied(&queue));
    }
}

TEST(nobody_stands_in_line_while_there_are_tasks)
{
    struct tg_place place;
    start(0);
    tg_queue_push(&queue, 3);
    CHECK(!tg_queue_line_up(&queue, WORKERS, &place));
}

TEST(a_task_passes_by_the_places_of_those_who_have_left)
{
    struct tg_place place[8];
    start(0);
    for (uint32_t i = 0; i < 8; i++)
        place[i] = join();
    for (uint32_t i = 0; i < 8; i++)
        if (i % 3 != 2)
            CHECK_EQ_U(tg_queue_leave(&queue, place[i]), TG_NO_TASK);
    tg_queue_push(&queue, 1);
    tg_queue_push(&queue, 2);
    tg_queue_push(&queue, 3);
    CHECK_EQ_U(tg_queue_look(place[2]), 1);
    CHECK_EQ_U(tg_queue_look(place[5]), 2);
    CHECK_EQ_U(tg_queue_pop(&queue, 1, 1, 0), 3);
}

TEST(a_worker_that_leaves_late_takes_the_task_along)
{
    struct tg_place place;
    start(0);
    place = join();
    tg_queue_push(&queue, 9);
    CHECK_EQ_U(tg_queue_leave(&queue, place), 9);
    tg_queue_push(&queue, 10);
    CHECK_EQ_U(tg_queue_pop(&queue, 1, 1, 0), 10);
}

/* Places that were left stay in the line until pushes have passed them. */
TEST(a_line_never_gets_as_long_as_the_queue)
{
    struct tg_place place;
    uint32_t left = 0;
    start(0);
    while (tg_queue_line_up(&queue, WORKERS, &place)) {
        CHECK_EQ_U(tg_queue_leave(&queue, place), TG_NO_TASK);
        left++;
    }
    CHECK_EQ_U(left, SLOTS - WORKERS + 1);
    for (uint32_t task = 0; task < 4 * SLOTS; task++) {
        tg_queue_push(&queue, task);
        CHECK_EQ_U(tg_queue_pop(&queue, 1, 1, 0), task);
    }
}

TEST(slots_are_used_again_lap_after_lap)
{
    start(0);
    for (uint32_t task = 0; task < 10 * SLOTS; task++) {
        struct tg_place place = join(), other = join();
        if (task % 2)
            CHECK_EQ_U(tg_queue_leave(&queue, place), TG_NO_TASK);
        tg_queue_push(&queue, task);
        CHECK_EQ_U(tg_queue_look(task % 2 ? other : place), task);
        if (task % 2 == 0)
            CHECK_EQ_U(tg_queue_leave(&queue, other), TG_NO_TASK);
    }
}

TEST_MAIN()
