/* SPDX-License-Identifier: Apache-2.0 */
/* This test is not in the list `threaded` of tests/CMakeLists.txt, so it must not start a thread. */
#include "test.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

static void *run(void *argument)
{
    return argument;
}

static int run_c11(void *argument)
{
    (void)argument;
    return 0;
}

static void start_posix_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL) == 0)
        pthread_join(thread, NULL);
}

static void start_c11_thread(void)
{
    thrd_t thread;
    if (thrd_create(&thread, run_c11, NULL) == thrd_success)
        thrd_join(thread, NULL);
}

static void check_aborts(void (*start)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        close(STDERR_FILENO);
        start();
        _exit(0);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

TEST(a_test_that_is_not_listed_cannot_start_a_thread)
{
    check_aborts(start_posix_thread);
    check_aborts(start_c11_thread);
}

TEST_MAIN()
