/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Helpers for the tests of the device program's concurrent parts: threads that start together,
 * random numbers that can be reproduced, and an alarm that turns a hang into a failure with a
 * message. The clock only decides when to give up on a hang.
 */
#ifndef TG_TEST_STRESS_H
#define TG_TEST_STRESS_H

#include "device/target.h"
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "test.h"

#define STRESS_FN static __attribute__((unused))

/* ── a hang is a failure ───────────────────────────────────────────────────────────────── */

enum { HANG_SECONDS = 300 }; /* nothing here takes one, on a machine that is busy too */

static char stress_doing_[200];

static void stress_hung_(int signal)
{
    static const char what[] = "FAILED: a hang while: ";
    (void)signal;
    if (write(2, what, sizeof what - 1) > 0 && write(2, stress_doing_, strlen(stress_doing_)) > 0)
        (void)!write(2, "\n", 1);
    _exit(1);
}

/* The time from here to the next call (or stress_calm) must not reach HANG_SECONDS. */
__attribute__((format(printf, 1, 2))) STRESS_FN void stress_watch(const char *format, ...)
{
    va_list args;
    alarm(0);
    va_start(args, format);
    vsnprintf(stress_doing_, sizeof stress_doing_, format, args);
    va_end(args);
    signal(SIGALRM, stress_hung_);
    alarm(HANG_SECONDS);
}

STRESS_FN void stress_calm(void)
{
    alarm(0);
}

/* ── random numbers ────────────────────────────────────────────────────────────────────── */

STRESS_FN uint32_t stress_random(uint32_t *seed, uint32_t below)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed % below;
}

/* ── passing time ──────────────────────────────────────────────────────────────────────── */

STRESS_FN void stress_sleep(uint32_t microseconds)
{
    struct timespec t = {microseconds / 1000000, microseconds % 1000000 * 1000L};
    nanosleep(&t, NULL);
}

/* Passes time: from none at all to so much that a waiting thread goes to sleep. */
STRESS_FN void stress_dawdle(uint32_t how)
{
    if (how % 32 == 31)
        stress_sleep(200);
    else if (how % 8 == 7)
        tg_target_yield();
    else
        for (uint32_t i = 0; i < how % 8 * 40; i++)
            tg_target_pause();
}

/* ── threads that start together ───────────────────────────────────────────────────────── */

struct stress_thread {
    pthread_t thread;
    pthread_barrier_t *start;
    void (*body)(void *shared, uint32_t number);
    void *shared;
    uint32_t number;
};

static void *stress_thread_main_(void *argument)
{
    struct stress_thread *t = argument;
    pthread_barrier_wait(t->start);
    t->body(t->shared, t->number);
    return NULL;
}

/* Runs body(shared, 0 … count - 1), each in its own thread, and waits for all. */
STRESS_FN void stress_threads(uint32_t count, void (*body)(void *, uint32_t), void *shared)
{
    struct stress_thread thread[16];
    pthread_barrier_t start;
    REQUIRE(count <= 16);
    pthread_barrier_init(&start, NULL, count);
    for (uint32_t i = 0; i < count; i++) {
        thread[i] = (struct stress_thread){0, &start, body, shared, i};
        REQUIRE(pthread_create(&thread[i].thread, NULL, stress_thread_main_, &thread[i]) == 0);
    }
    for (uint32_t i = 0; i < count; i++)
        pthread_join(thread[i].thread, NULL);
    pthread_barrier_destroy(&start);
}

/* ── each exactly once ─────────────────────────────────────────────────────────────────── */

STRESS_FN void stress_check_once(const uint32_t *taken, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!CHECK_EQ_U(taken[i], 1))
            return; /* one report is enough */
}

#endif
