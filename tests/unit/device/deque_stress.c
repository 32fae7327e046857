/* SPDX-License-Identifier: Apache-2.0 */
#include "device/queue.h"
#include "stress.h"

enum { THREADS = 4, TASKS = 50000, ROUNDS = 40 };

struct contest {
    struct tg_deque deque[THREADS];
    uint32_t taken[TASKS];  /* __atomic */
    uint64_t result[TASKS]; /* plain: the pusher writes it and publishes it with the task */
    uint32_t n_taken;
};

static struct contest contest;

static void take(uint32_t task)
{
    CHECK_EQ_U(contest.result[task], task + 1u);
    __atomic_fetch_add(&contest.taken[task], 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&contest.n_taken, 1, __ATOMIC_RELAXED);
}

static uint32_t steal(uint32_t thief)
{
    uint32_t task = TG_NO_TASK;
    for (uint32_t i = 1; i < THREADS && task == TG_NO_TASK; i++)
        task = tg_deque_steal(&contest.deque[(thief + i) % THREADS], &contest.deque[thief]);
    return task;
}

/* Thread 0 makes the tasks; all threads pop and steal, so stolen halves are stolen again. */
static void compete(void *shared, uint32_t number)
{
    uint32_t made = number == 0 ? 0 : TASKS;
    uint32_t seed = 77 + number;
    (void)shared;
    while (__atomic_load_n(&contest.n_taken, __ATOMIC_RELAXED) < TASKS) {
        uint32_t burst = stress_random(&seed, 300);
        for (; burst > 0 && made < TASKS; burst--, made++) {
            contest.result[made] = made + 1;
            if (!tg_deque_push(&contest.deque[0], made))
                break;
        }
        uint32_t task = tg_deque_pop(&contest.deque[number]);
        if (task == TG_NO_TASK)
            task = steal(number);
        if (task != TG_NO_TASK)
            take(task);
        else
            tg_target_yield();
    }
}

static void run_contest(uint32_t at)
{
    memset(&contest, 0, sizeof contest);
    for (uint32_t i = 0; i < THREADS; i++)
        contest.deque[i].head = contest.deque[i].tail = at;
    stress_watch("an owner and three thieves, counters from %u", at);
    stress_threads(THREADS, compete, NULL);
    stress_calm();
    CHECK_EQ_U(contest.n_taken, TASKS);
    stress_check_once(contest.taken, TASKS);
}

TEST(owner_and_thieves_take_each_task_once)
{
    for (uint32_t i = 0; i < ROUNDS; i++)
        run_contest(0);
}

TEST(owner_and_thieves_take_each_task_once_while_the_counters_wrap)
{
    for (uint32_t i = 0; i < ROUNDS; i++)
        run_contest(UINT32_MAX - TASKS / ROUNDS * i);
}

TEST_MAIN()
