/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "cli/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/time.h>
#include <taskglass/device.h>
#include <time.h>
#include <unistd.h>

/* A verb that writes files has this long to remove them before another signal kills it. */
enum { PATIENCE_SECONDS = 2, LOOK_MICROSECONDS = 100000 };

/* Global variables, because a signal handler gets no context. */
static volatile sig_atomic_t is_writing;
static atomic_int
    caught; /* atomic: two threads may get signals at once, and the first one counts */
static volatile time_t caught_at;

static time_t seconds(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* --- streams that nobody reads -------------------------------------------------------------- */

/* Puts /dev/null in place of standard output or error if a write would have to wait for the reader: a
 * program that was told to end does not. A write that waits already is repeated, and goes there too. */
static void give_up_full_streams(void)
{
    struct pollfd streams[] = {{.fd = STDOUT_FILENO, .events = POLLOUT},
                               {.fd = STDERR_FILENO, .events = POLLOUT}};
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        if (poll(&streams[i], 1, 0) != 0)
            continue;
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (null < 0)
            continue;
        (void)dup2(null, streams[i].fd);
        close(null);
    }
}

static void on_alarm(int number)
{
    int cause = errno;
    (void)number;
    give_up_full_streams();
    errno = cause;
}

/* A stream may also fill up after the signal. Where files are written, the alarm also ends a write that
 * waits for the reader of another pipe, such as --output /dev/fd/63: it fails with EINTR. */
static void watch_streams(void)
{
    const struct timeval every = {.tv_usec = LOOK_MICROSECONDS};
    const struct itimerval timer = {every, every};
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = is_writing ? 0 : SA_RESTART};
    sigemptyset(&action.sa_mask);
    give_up_full_streams();
    if (sigaction(SIGALRM, &action, NULL) == 0)
        (void)setitimer(ITIMER_REAL, &timer, NULL);
}

/* --- signals -------------------------------------------------------------------------------- */

static void on_signal(int number)
{
    int cause = errno, none = 0;
    if (atomic_compare_exchange_strong(&caught, &none, number)) {
        caught_at = seconds();
        watch_streams();
    } else if (caught_at && seconds() - caught_at > PATIENCE_SECONDS) {
        signal(number, SIG_DFL);
        raise(number); /* which waits until this function returns */
    }
    errno = cause;
}

/* The threads of the program keep their own masks: one of them gets the signal, and all of them stop. */
static void on_stop(int number)
{
    (void)number;
    tg_suspend();
}

static void catch_signals(int flags)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction old, action = {.sa_handler = on_signal, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaddset(&action.sa_mask, numbers[i]); /* the first one counts, so no other cuts in */
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    action.sa_handler = on_stop;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGTSTP, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(SIGTSTP, &action, NULL);
}

void cli_interrupt_catch(void)
{
    catch_signals(SA_RESTART | (int)SA_RESETHAND);
}

void cli_interrupt_catch_patiently(void)
{
    catch_signals(SA_RESTART);
}

void cli_interrupt_catch_writing(void)
{
    is_writing = 1;
    catch_signals(0);
}

const char *cli_interrupt_name(void)
{
    return caught == SIGINT ? "SIGINT" : caught == SIGTERM ? "SIGTERM" : caught ? "SIGHUP" : "";
}

int cli_interrupt_caught(void)
{
    return caught;
}

void cli_interrupt_pass_on(void)
{
    if (!caught)
        return;
    fflush(NULL);
    signal(caught, SIG_DFL);
    raise(caught);
}
