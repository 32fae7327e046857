/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sleeping and waking one thread. The sleeper: tg_park_say, check for work, then tg_park_sleep
 * or tg_park_cancel. The waker: make work appear with a _seq access, then tg_park_wake.
 */
#ifndef TG_DEVICE_PARK_H
#define TG_DEVICE_PARK_H

#include "common/atomic.h"
#include "device/engine.h"
#include "device/target.h"

TG_FN static inline void tg_park_say(uint32_t *park)
{
    tg_store_seq(park, (uint32_t)TG_PARKED);
}

TG_FN static inline void tg_park_cancel(uint32_t *park)
{
    /* A late waker finds no sleeper, which is harmless. */
    tg_store_relaxed(park, (uint32_t)TG_AWAKE);
}

/* On a target whose sleepers look for work themselves (TG_TARGET_SLEEPERS_LOOK) this is a nap: the
 * worker stays PARKED, and its caller looks for work after each nap. */
TG_FN static inline void tg_park_sleep(uint32_t *park)
{
    do
        tg_target_wait(park, TG_PARKED);
    while (!TG_TARGET_SLEEPERS_LOOK && tg_load_acquire(park) == TG_PARKED);
}

TG_FN static inline void tg_park_wake(uint32_t *park)
{
    uint32_t parked = TG_PARKED;
    if (tg_load_seq(park) == TG_PARKED && tg_cas_seq(park, &parked, (uint32_t)TG_AWAKE))
        tg_target_wake(park, 1);
}

#endif
