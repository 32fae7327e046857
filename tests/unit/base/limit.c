/* SPDX-License-Identifier: Apache-2.0 */
/* Limits that count only time in which both sides could run. The processes here really stop; how long
 * anything takes decides no test. */
#define _GNU_SOURCE 1
#include "test.h"

#include "base/limit.h"
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOKS = 1000 };

/* As if the last look had been that long ago. */
static void let_pass(struct tg_limit *limit, double seconds)
{
    limit->at = tg_limit_now() - seconds;
}

static pid_t start_sleeper(void)
{
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    return child;
}

static void wait_until_it_stops(pid_t pid)
{
    int status = 0;
    REQUIRE(waitpid(pid, &status, WUNTRACED) == pid);
    REQUIRE(WIFSTOPPED(status));
}

static void end_child(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

TEST(time_that_passes_in_steps_counts)
{
    struct tg_limit limit;
    int looks = 0;
    tg_limit_start(&limit, 10);
    do
        let_pass(&limit, tg_limit_tick(&limit));
    while (looks++ < LOOKS && !tg_limit_look(&limit, 0));
    CHECK(looks >= 50 && looks <= 101); /* a tick of 0.1 s counts as 0.1 s, or at most twice */
}

TEST(a_long_gap_counts_as_little_more_than_a_step)
{
    struct tg_limit limit;
    tg_limit_start(&limit, 0.3);
    for (int pause = 0; pause < 5; pause++) {
        let_pass(&limit, 3600);
        CHECK(!tg_limit_look(&limit, 0));
    }
    tg_limit_start(&limit, 10);
    let_pass(&limit, 1e9);
    CHECK(!tg_limit_look(&limit, 0));
    CHECK(limit.counted < 0.5);
}

TEST(a_restart_forgets_what_was_counted)
{
    struct tg_limit limit;
    tg_limit_start(&limit, 1);
    let_pass(&limit, 1);
    tg_limit_look(&limit, 0);
    tg_limit_start(&limit, limit.seconds);
    CHECK(limit.counted == 0);
}

TEST(a_limit_of_any_length_has_a_tick_that_poll_can_wait_for)
{
    static const double seconds[] = {0, 1e-9, 1e-3, 0.3, 10, 1e9, (double)INFINITY};
    for (size_t i = 0; i < sizeof seconds / sizeof seconds[0]; i++) {
        struct tg_limit limit;
        tg_limit_start(&limit, seconds[i]);
        CHECK(tg_limit_poll(&limit) >= 1 && tg_limit_poll(&limit) <= 100);
    }
}

TEST(a_process_that_sleeps_runs)
{
    struct tg_limit limit;
    pid_t child = start_sleeper();
    int looks = 0;
    tg_limit_start(&limit, 1);
    do
        let_pass(&limit, tg_limit_tick(&limit));
    while (looks++ < LOOKS && !tg_limit_look(&limit, child));
    CHECK(looks < LOOKS);
    end_child(child);
}

TEST(a_process_that_has_ended_or_never_was_counts_as_running)
{
    struct tg_limit limit;
    pid_t child = start_sleeper();
    int looks = 0;
    end_child(child);
    tg_limit_start(&limit, 1);
    do
        let_pass(&limit, tg_limit_tick(&limit));
    while (looks++ < LOOKS && !tg_limit_look(&limit, child));
    CHECK(looks < LOOKS);
}

/* Looks until the limit reads the state of other processes. */
static void wait_for_quiet(struct tg_limit *limit)
{
    while (limit->counted < 0.5) {
        let_pass(limit, tg_limit_tick(limit));
        REQUIRE(!tg_limit_look(limit, 0));
    }
}

TEST(a_child_that_is_stopped_is_continued_and_the_step_does_not_count)
{
    struct tg_limit limit;
    pid_t child = start_sleeper();
    double before;
    int status = 0;
    kill(child, SIGSTOP);
    wait_until_it_stops(child);
    tg_limit_start(&limit, 10);
    wait_for_quiet(&limit);
    before = limit.counted;
    let_pass(&limit, tg_limit_tick(&limit));
    CHECK(!tg_limit_look(&limit, child));
    CHECK(limit.counted == before);
    CHECK_EQ_I(waitpid(child, &status, WCONTINUED), child);
    CHECK(WIFCONTINUED(status));
    end_child(child);
}

TEST(a_child_that_stops_itself_again_and_again_runs)
{
    struct tg_limit limit;
    pid_t child = start_sleeper();
    int looks = 0;
    bool is_over;
    tg_limit_start(&limit, 1);
    wait_for_quiet(&limit); /* before that nobody looks at the child */
    do {
        kill(child, SIGSTOP);
        wait_until_it_stops(child);
        let_pass(&limit, tg_limit_tick(&limit));
        is_over = tg_limit_look(&limit, child);
    } while (looks++ < LOOKS && !is_over);
    CHECK(is_over);
    end_child(child);
}

TEST(time_that_a_debugger_holds_a_process_does_not_count)
{
    struct tg_limit limit;
    pid_t child = start_sleeper();
    double before;
    if (ptrace(PTRACE_ATTACH, child, NULL, NULL) != 0) {
        end_child(child);
        SKIP("this system does not let a process trace its child");
    }
    wait_until_it_stops(child);
    tg_limit_start(&limit, 10);
    wait_for_quiet(&limit);
    before = limit.counted;
    for (int i = 0; i < LOOKS; i++) {
        let_pass(&limit, tg_limit_tick(&limit));
        CHECK(!tg_limit_look(&limit, child));
    }
    CHECK(limit.counted == before);
    ptrace(PTRACE_DETACH, child, NULL, NULL);
    let_pass(&limit, tg_limit_tick(&limit));
    CHECK(!tg_limit_look(&limit, child));
    CHECK(limit.counted > before);
    end_child(child);
}

/* Both processes have one CPU, so while this one looks twice in a row, the other wants it and does not
 * get it. The system may switch between two looks, but not between any two. */
TEST(time_that_a_process_waits_for_a_cpu_does_not_count)
{
    struct tg_limit limit;
    cpu_set_t all, one;
    int looks = 0;
    bool is_free = false;
    if (access("/proc/self/schedstat", R_OK) != 0)
        SKIP("this system does not say how long a process waits for a CPU");
    REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    pid_t child = fork();
    if (child == 0) {
        alarm(60); /* in case that nobody ends it */
        for (;;) {
        }
    }
    tg_limit_start(&limit, 1000);
    wait_for_quiet(&limit);
    while (looks++ < LOOKS && !is_free) {
        double before = limit.counted;
        let_pass(&limit, tg_limit_tick(&limit));
        CHECK(!tg_limit_look(&limit, child));
        is_free = limit.counted - before < tg_limit_tick(&limit) / 2;
    }
    CHECK(is_free);
    end_child(child);
    CHECK_EQ_I(sched_setaffinity(0, sizeof all, &all), 0);
}

TEST_MAIN()
