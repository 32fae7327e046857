/* SPDX-License-Identifier: Apache-2.0 */
#include "device/queue.h"
#include "test.h"

static struct tg_deque deque, own;

/* An empty deque, with the counters as they would be after `at` tasks. */
static void start(struct tg_deque *r, uint32_t at)
{
    memset(r, 0, sizeof *r);
    r->head = r->tail = at;
}

static void push(struct tg_deque *r, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        CHECK(tg_deque_push(r, first + i));
}

static void expect(struct tg_deque *r, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        CHECK_EQ_U(tg_deque_pop(r), first + i);
}

TEST(an_empty_ring_has_nothing_to_pop_or_steal)
{
    start(&deque, 0);
    start(&own, 0);
    CHECK(!tg_deque_occupied(&deque));
    CHECK_EQ_U(tg_deque_pop(&deque), TG_NO_TASK);
    CHECK_EQ_U(tg_deque_steal(&deque, &own), TG_NO_TASK);
    CHECK(!tg_deque_occupied(&own));
}

TEST(tasks_come_out_in_the_order_they_went_in)
{
    start(&deque, 0);
    push(&deque, 0, 5); /* task 0 is a valid task */
    CHECK(tg_deque_occupied(&deque));
    expect(&deque, 0, 5);
    CHECK(!tg_deque_occupied(&deque));
}

TEST(a_full_ring_refuses_and_takes_again_after_a_pop)
{
    start(&deque, 0);
    push(&deque, 100, TG_DEQUE_SIZE);
    CHECK(!tg_deque_push(&deque, 7));
    expect(&deque, 100, 1);
    CHECK(tg_deque_push(&deque, 7));
    CHECK(!tg_deque_push(&deque, 8));
    expect(&deque, 101, TG_DEQUE_SIZE - 1);
    expect(&deque, 7, 1);
}

TEST(a_thief_takes_half_rounded_up_from_the_old_end)
{
    for (uint32_t count = 1; count <= TG_DEQUE_SIZE; count++) {
        uint32_t half = count - count / 2;
        start(&deque, 0);
        start(&own, 0);
        push(&deque, 0, count);
        CHECK_EQ_U(tg_deque_steal(&deque, &own), 0);
        CHECK_EQ_U(own.tail - own.head, half - 1);
        CHECK_EQ_U(deque.tail - deque.head, count - half);
        expect(&own, 1, half - 1);
        expect(&deque, half, count - half);
    }
}

TEST(stealing_empties_a_ring_in_the_end)
{
    start(&deque, 3);
    start(&own, 9);
    push(&deque, 0, 10);
    for (uint32_t next = 0; next < 10;) {
        CHECK_EQ_U(tg_deque_steal(&deque, &own), next++);
        for (uint32_t task; (task = tg_deque_pop(&own)) != TG_NO_TASK; next++)
            CHECK_EQ_U(task, next);
    }
    CHECK_EQ_U(tg_deque_steal(&deque, &own), TG_NO_TASK);
}

TEST(counters_wrap_at_32_bits_unnoticed)
{
    for (uint32_t before = 0; before <= TG_DEQUE_SIZE + 1; before++) {
        start(&deque, UINT32_MAX - before);
        start(&own, UINT32_MAX - before / 2);
        push(&deque, 0, TG_DEQUE_SIZE);
        CHECK(!tg_deque_push(&deque, 0));
        CHECK(tg_deque_occupied(&deque));
        CHECK_EQ_U(tg_deque_steal(&deque, &own), 0);
        expect(&own, 1, TG_DEQUE_SIZE / 2 - 1);
        push(&deque, TG_DEQUE_SIZE, TG_DEQUE_SIZE / 2);
        CHECK(!tg_deque_push(&deque, 0));
        expect(&deque, TG_DEQUE_SIZE / 2, TG_DEQUE_SIZE);
        CHECK(!tg_deque_occupied(&deque));
    }
}

TEST_MAIN()
