/* SPDX-License-Identifier: Apache-2.0 */
/* The ladder that every thread of the device program waits on. */
#include "device/wait.h"
#include "stress.h"

TEST(rounds_end_when_patience_does)
{
    static const struct tg_patience patience = {.spin = 3, .yields = 2};
    uint32_t round = 0, rounds = 0;
    while (tg_wait_round(&patience, &round))
        rounds++;
    CHECK_EQ_U(rounds, 5);
    CHECK_EQ_U(round, 5);
    CHECK(!tg_wait_round(&patience, &round)); /* and stay used up until the caller begins anew */
    round = 0;
    CHECK(tg_wait_round(&patience, &round));
}

TEST(without_patience_a_thread_sleeps_at_once)
{
    static const struct tg_patience none;
    uint32_t round = 0;
    CHECK(!tg_wait_round(&none, &round));
    CHECK_EQ_U(round, 0);
}

static uint32_t word;

static void *change(void *argument)
{
    (void)argument;
    stress_sleep(2000);
    tg_store_release(&word, 1u);
    tg_target_wake(&word, 1);
    return NULL;
}

/* Each rung in turn is the one on which the thread waits. */
TEST(a_change_ends_the_wait_on_every_rung)
{
    static const struct tg_patience patience[] = {
        {.spin = UINT32_MAX, .yields = 0}, {.spin = 0, .yields = UINT32_MAX}, {0, 0}};
    for (uint32_t i = 0; i < sizeof patience / sizeof patience[0]; i++) {
        pthread_t thread;
        stress_watch("waiting with patience %u", i);
        tg_store_relaxed(&word, 0u);
        REQUIRE(pthread_create(&thread, NULL, change, NULL) == 0);
        tg_wait_for_change(&patience[i], &word, 0);
        CHECK_EQ_U(word, 1);
        pthread_join(thread, NULL);
    }
    stress_calm();
}

TEST(a_word_that_has_changed_is_not_waited_for)
{
    static const struct tg_patience none;
    uint32_t changed = 7;
    tg_wait_for_change(&none, &changed, 6);
    CHECK_EQ_U(changed, 7);
}

TEST_MAIN()
