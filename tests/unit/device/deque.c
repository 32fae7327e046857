/* SPDX-License-Identifier: Apache-2.0 */
#include "device/queue.h"
#include "test.h"

static struct tg_ring ring, own;

/* Empty, with the counters where they would be after `at` tasks. */
static void start(struct tg_ring *r, uint32_t at)
{
    memset(r, 0, sizeof *r);
    r->head = r->tail = at;
}

static void push(struct tg_ring *r, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        CHECK(tg_ring_push(r, first + i));
}

static void expect(struct tg_ring *r, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        CHECK_EQ_U(tg_ring_pop(r), first + i);
}

TEST(an_empty_ring_has_nothing_to_pop_or_steal)
{
    start(&ring, 0);
    start(&own, 0);
    CHECK(!tg_ring_occupied(&ring));
    CHECK_EQ_U(tg_ring_pop(&ring), TG_NO_TASK);
    CHECK_EQ_U(tg_ring_steal(&ring, &own), TG_NO_TASK);
    CHECK(!tg_ring_occupied(&own));
}

TEST(tasks_come_out_in_the_order_they_went_in)
{
    start(&ring, 0);
    push(&ring, 0, 5); /* task 0 is a task */
    CHECK(tg_ring_occupied(&ring));
    expect(&ring, 0, 5);
    CHECK(!tg_ring_occupied(&ring));
}

TEST(a_full_ring_refuses_and_takes_again_after_a_pop)
{
    start(&ring, 0);
    push(&ring, 100, TG_RING_SIZE);
    CHECK(!tg_ring_push(&ring, 7));
    expect(&ring, 100, 1);
    CHECK(tg_ring_push(&ring, 7));
    CHECK(!tg_ring_push(&ring, 8));
    expect(&ring, 101, TG_RING_SIZE - 1);
    expect(&ring, 7, 1);
}

TEST(a_thief_takes_half_rounded_up_from_the_old_end)
{
    for (uint32_t count = 1; count <= TG_RING_SIZE; count++) {
        uint32_t half = count - count / 2;
        start(&ring, 0);
        start(&own, 0);
        push(&ring, 0, count);
        CHECK_EQ_U(tg_ring_steal(&ring, &own), 0);
        CHECK_EQ_U(own.tail - own.head, half - 1);
        CHECK_EQ_U(ring.tail - ring.head, count - half);
        expect(&own, 1, half - 1);
        expect(&ring, half, count - half);
    }
}

TEST(stealing_empties_a_ring_in_the_end)
{
    start(&ring, 3);
    start(&own, 9);
    push(&ring, 0, 10);
    for (uint32_t next = 0; next < 10;) {
        CHECK_EQ_U(tg_ring_steal(&ring, &own), next++);
        for (uint32_t task; (task = tg_ring_pop(&own)) != TG_NO_TASK; next++)
            CHECK_EQ_U(task, next);
    }
    CHECK_EQ_U(tg_ring_steal(&ring, &own), TG_NO_TASK);
}

TEST(counters_wrap_at_32_bits_unnoticed)
{
    for (uint32_t before = 0; before <= TG_RING_SIZE + 1; before++) {
        start(&ring, UINT32_MAX - before);
        start(&own, UINT32_MAX - before / 2);
        push(&ring, 0, TG_RING_SIZE);
        CHECK(!tg_ring_push(&ring, 0));
        CHECK(tg_ring_occupied(&ring));
        CHECK_EQ_U(tg_ring_steal(&ring, &own), 0);
        expect(&own, 1, TG_RING_SIZE / 2 - 1);
        push(&ring, TG_RING_SIZE, TG_RING_SIZE / 2);
        CHECK(!tg_ring_push(&ring, 0));
        expect(&ring, TG_RING_SIZE / 2, TG_RING_SIZE);
        CHECK(!tg_ring_occupied(&ring));
    }
}

TEST_MAIN()
