/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one way in which a thread of the device program waits: a ladder of three rungs.
 *
 *     spin     pause and look again; the thread keeps its CPU. For events that are nanoseconds away.
 *     yield    let another thread have the CPU and look again. That thread may be the one that
 *              makes the event happen.
 *     sleep    stop using the CPU until another thread wakes this one
 *
 * How long the first two rungs are is the device's patience, which depends on whether its threads
 * have a CPU each. How a thread sleeps depends on who wakes it, so the caller chooses:
 *
 *     a worker without work        parks, and other workers wake it          device/park.h
 *     a word that a lane changes   sleeps on the word                        tg_wait_for_change
 *     the host                     cannot wake a thread: naps, looks again   tg_wait_nap
 *     a thread between two stores  will be done at once: never sleeps        tg_wait_moment
 */
#ifndef TG_DEVICE_WAIT_H
#define TG_DEVICE_WAIT_H

#include "common/atomic.h"
#include "device/target.h"

/* One round of waiting: spins or yields and counts the round. False once the rounds of both rungs
 * are used up: it is time to sleep. */
TG_FN static inline bool tg_wait_round(const struct tg_patience *patience, uint32_t *round)
{
    if (*round < patience->spin)
        tg_target_pause();
    else if (*round < patience->spin + patience->yields)
        tg_target_yield();
    else
        return false;
    ++*round;
    return true;
}

/* The whole ladder, until *word is no longer `value`. The thread that changes the word calls
 * tg_target_wake on it. */
TG_FN static inline void tg_wait_for_change(const struct tg_patience *patience, uint32_t *word,
                                            uint32_t value)
{
    uint32_t round = 0;
    while (tg_load_acquire(word) == value)
        if (!tg_wait_round(patience, &round))
            tg_target_wait(word, value);
}

/* The last rung if no thread will wake this one: waits for a while, then the caller looks again. */
TG_FN static inline void tg_wait_nap(void)
{
    tg_target_nap();
}

/* Waits a moment for another thread that has claimed something and is about to fill or empty it. */
TG_FN static inline void tg_wait_moment(void)
{
    tg_target_await();
}

#endif
