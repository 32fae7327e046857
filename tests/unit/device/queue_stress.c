/* SPDX-License-Identifier: Apache-2.0 */
#include "device/queue.h"
#include "stress.h"

enum { PUSHERS = 2, TAKERS = 3, TASKS = 20000, SLOTS = 32768, FEW_SLOTS = 8, ROUNDS = 30 };

struct traffic {
    struct tg_queue queue;
    uint64_t slots[SLOTS];
    struct tg_deque deque[TAKERS];
    uint32_t taken[TASKS]; /* __atomic */
    uint64_t result[TASKS];
    uint32_t n_pushed, n_taken;
};

static struct traffic traffic;

static void take(uint32_t task)
{
    CHECK_EQ_U(traffic.result[task], task + 1u);
    __atomic_fetch_add(&traffic.taken[task], 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&traffic.n_taken, 1, __ATOMIC_RELAXED);
}

static void push_all(void)
{
    for (;;) {
        uint32_t task = __atomic_fetch_add(&traffic.n_pushed, 1, __ATOMIC_RELAXED);
        if (task >= TASKS)
            return;
        traffic.result[task] = task + 1;
        tg_queue_push(&traffic.queue, task);
    }
}

static void take_all(uint32_t taker)
{
    uint32_t seed = 5 + taker;
    while (__atomic_load_n(&traffic.n_taken, __ATOMIC_RELAXED) < TASKS) {
        struct tg_deque *own = stress_random(&seed, 3) ? &traffic.deque[taker] : NULL;
        uint32_t task = tg_queue_pop(&traffic.queue, TAKERS, TG_BATCH_MAX, own);
        if (task == TG_NO_TASK)
            tg_target_yield();
        for (; task != TG_NO_TASK; task = tg_deque_pop(&traffic.deque[taker]))
            take(task);
    }
}

static void work(void *shared, uint32_t number)
{
    (void)shared;
    if (number < PUSHERS)
        push_all();
    else
        take_all(number - PUSHERS);
}

/* There may be fewer slots than tasks: a pusher that is one lap ahead waits for the thread that
 * takes its slot. */
static void run_traffic(uint32_t at, uint32_t slots)
{
    memset(&traffic, 0, sizeof traffic);
    for (uint32_t i = 0; i < slots; i++) /* as if a run had left a task at every position */
        traffic.slots[(at + i) % slots] = (uint64_t)(at + i) << 32 | 1;
    tg_queue_reset(&traffic.queue, traffic.slots, slots, at, 0, PUSHERS);
    tg_queue_fill(&traffic.queue, NULL, 0, 1);
    stress_watch("a queue with %d pushers and %d takers, counters from %u", PUSHERS, TAKERS, at);
    stress_threads(PUSHERS + TAKERS, work, NULL);
    stress_calm();
    CHECK_EQ_U(traffic.n_taken, TASKS);
    stress_check_once(traffic.taken, TASKS);
}

TEST(pushers_and_takers_pass_each_task_once)
{
    for (uint32_t i = 0; i < ROUNDS; i++)
        run_traffic(0, SLOTS);
}

TEST(pushers_and_takers_pass_each_task_once_while_the_counters_wrap)
{
    for (uint32_t i = 0; i < ROUNDS; i++)
        run_traffic(UINT32_MAX - TASKS / ROUNDS * i, SLOTS);
}

TEST(pushers_and_takers_pass_each_task_once_through_slots_used_again)
{
    for (uint32_t i = 0; i < ROUNDS; i++)
        run_traffic(UINT32_MAX - i, i % 2 ? 1 : FEW_SLOTS);
}

TEST_MAIN()
