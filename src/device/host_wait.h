/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting until the host has made room in a stream, for at most a limit (wire/stream.h, "Limit"): only
 * time in which the host runs counts, which it shows by its pulse. */
#ifndef TG_DEVICE_HOST_WAIT_H
#define TG_DEVICE_HOST_WAIT_H

#include "device/engine.h"
#include "device/target.h"
#include "device/wait.h"

struct tg_host_wait {
    const uint64_t *word; /* the pulse */
    uint64_t pulse_ns;
    uint64_t limit_ns;
    uint64_t began, now;
    uint64_t pulse;   /* as last seen */
    uint64_t at;      /* when it had changed */
    uint64_t counted; /* what counts towards the limit */
};

TG_FN static inline void tg_host_wait_begin(struct tg_host_wait *w, uint64_t pulse,
                                            uint64_t pulse_ns, uint64_t limit_ns)
{
    w->word = TG_DEVICE_PTR(const uint64_t, pulse);
    w->pulse_ns = pulse_ns;
    w->limit_ns = limit_ns;
    w->began = w->now = w->at = tg_target_now();
    w->pulse = tg_load_acquire_host(w->word);
    w->counted = 0;
}

/* True while there is time left and the run goes on. */
TG_FN static inline bool tg_host_wait_goes_on(const struct tg_engine *e,
                                              const struct tg_host_wait *w)
{
    return w->counted < w->limit_ns && tg_engine_running(e);
}

/* Counts the time since the last change of the pulse, if it has changed, but two periods at most. */
TG_FN static inline void tg_host_wait_count(struct tg_host_wait *w)
{
    uint64_t pulse = tg_load_acquire_host(w->word), passed, most = 2 * w->pulse_ns;
    w->now = tg_target_now();
    if (pulse == w->pulse)
        return;
    passed = w->now - w->at;
    w->counted += passed < most ? passed : most;
    w->pulse = pulse;
    w->at = w->now;
}

#endif
