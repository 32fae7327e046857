/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "test.h"

#include "base/signals.h"

static volatile sig_atomic_t n_handled;

static void count(int number)
{
    (void)number;
    n_handled = n_handled + 1;
}

TEST(signals_that_would_end_the_program_come_after_the_work)
{
    static const int held[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction counted = {.sa_handler = count};
    sigset_t before;
    n_handled = 0;
    for (int i = 0; i < 3; i++)
        REQUIRE(sigaction(held[i], &counted, NULL) == 0);
    tg_signals_hold(&before);
    for (int i = 0; i < 3; i++)
        raise(held[i]);
    CHECK_EQ_I(n_handled, 0);
    tg_signals_release(&before);
    CHECK_EQ_I(n_handled, 3);
}

TEST(a_program_that_hangs_in_the_work_can_still_be_ended)
{
    struct sigaction counted = {.sa_handler = count};
    sigset_t before;
    n_handled = 0;
    REQUIRE(sigaction(SIGQUIT, &counted, NULL) == 0);
    tg_signals_hold(&before);
    raise(SIGQUIT);
    CHECK_EQ_I(n_handled, 1);
    tg_signals_release(&before);
}

TEST(a_signal_that_was_held_before_stays_held)
{
    sigset_t term, before, after;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    REQUIRE(pthread_sigmask(SIG_BLOCK, &term, NULL) == 0);
    tg_signals_hold(&before);
    tg_signals_release(&before);
    REQUIRE(pthread_sigmask(SIG_UNBLOCK, &term, &after) == 0);
    CHECK(sigismember(&after, SIGTERM));
    CHECK(!sigismember(&after, SIGINT));
}

TEST_MAIN()
