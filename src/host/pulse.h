/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows the device that this process runs. While a run may wait for the host (policy block, logs), a
 * thread counts up `pulse` in the control area. The device's limits count only while it does, so the time
 * in which the host is stopped does not. The collector's own thread would not do: if it hangs, on a disk
 * for example, the host still runs, and the device must give up after its limit.
 */
#ifndef TG_HOST_PULSE_H
#define TG_HOST_PULSE_H

#include "host/device.h"
#include <pthread.h>

struct tg_pulse {
    struct tg_device *device;
    uint64_t period_ns;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* for `stop` */
    pthread_cond_t stopped;
    bool stop;
};

/* How often to count for a limit of so many nanoseconds. */
uint64_t tg_pulse_period(uint64_t limit_ns);
/* The device address of the word. */
uint64_t tg_pulse_address(const struct tg_device *device);

/* The device must stay open until tg_pulse_stop. */
tg_status tg_pulse_start(struct tg_pulse *pulse, struct tg_device *device, uint64_t period_ns,
                         struct tg_error *error);
/* Returns at once, whatever the period. Does nothing if it was not started. */
void tg_pulse_stop(struct tg_pulse *pulse);

#endif
