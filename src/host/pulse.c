/* SPDX-License-Identifier: Apache-2.0 */
#include "host/pulse.h"

#include "base/error.h"
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

/* A period is a small part of the limit, but a thread that wakes more often than needed costs time. */
enum { PERIODS_PER_LIMIT = 64, SHORTEST_NS = 1000000, LONGEST_NS = 50000000 };
#define SECOND_NS 1000000000

uint64_t tg_pulse_period(uint64_t limit_ns)
{
    uint64_t period = limit_ns / PERIODS_PER_LIMIT;
    period = period > SHORTEST_NS ? period : SHORTEST_NS;
    return period < LONGEST_NS ? period : LONGEST_NS;
}

uint64_t tg_pulse_address(const struct tg_device *device)
{
    return device->control + offsetof(struct tg_control_head, pulse);
}

static struct timespec next_beat(const struct tg_pulse *pulse)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += (long)pulse->period_ns; /* less than a second */
    t.tv_sec += t.tv_nsec / SECOND_NS;
    t.tv_nsec %= SECOND_NS;
    return t;
}

/* Only that the word changes matters to the device, so it may start anywhere and wrap around, and a word
 * that is not copied whole does no harm. */
static void *work(void *argument)
{
    struct tg_pulse *pulse = argument;
    uint64_t address = tg_pulse_address(pulse->device), count = 0;
    pthread_mutex_lock(&pulse->lock);
    while (!pulse->stop) {
        struct timespec until = next_beat(pulse);
        int result = 0;
        count++;
        tg_device_copy_in(pulse->device, address, &count, sizeof count, NULL);
        while (!pulse->stop && result == 0)
            result = pthread_cond_timedwait(&pulse->stopped, &pulse->lock, &until);
    }
    pthread_mutex_unlock(&pulse->lock);
    return NULL;
}

tg_status tg_pulse_start(struct tg_pulse *pulse, struct tg_device *device, uint64_t period_ns,
                         struct tg_error *error)
{
    pthread_condattr_t attributes;
    int result;
    pulse->device = device;
    pulse->period_ns = period_ns;
    pulse->stop = false;
    pthread_mutex_init(&pulse->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&pulse->stopped, &attributes);
    pthread_condattr_destroy(&attributes);
    result = pthread_create(&pulse->thread, NULL, work, pulse);
    pulse->started = result == 0;
    if (result == 0)
        return TG_OK;
    pthread_cond_destroy(&pulse->stopped);
    pthread_mutex_destroy(&pulse->lock);
    return tg_error_set(error, TG_NO_MEMORY,
                        "cannot start the thread that shows the device that the host runs: %s",
                        strerror(result));
}

void tg_pulse_stop(struct tg_pulse *pulse)
{
    if (!pulse->started)
        return;
    pthread_mutex_lock(&pulse->lock);
    pulse->stop = true;
    pthread_cond_signal(&pulse->stopped);
    pthread_mutex_unlock(&pulse->lock);
    pthread_join(pulse->thread, NULL);
    pthread_cond_destroy(&pulse->stopped);
    pthread_mutex_destroy(&pulse->lock);
    pulse->started = false;
}
