/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that drains streams while a graph runs, and what is left in them after the run. */
#ifndef TG_HOST_PUMP_H
#define TG_HOST_PUMP_H

#include "host/drain.h"
#include <pthread.h>

struct tg_pump {
    struct tg_drain *drains; /* of a recording or a log */
    uint32_t n;
    /* Instead of drains: looks at all streams once. Returns the number of records that it found, and in
     * *filling whether they should be looked at again soon. */
    uint64_t (*pass)(void *context, bool *filling);
    void (*idle)(void *context); /* called each time the streams become empty; or NULL */
    void *context;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* of `stop`, for the naps */
    pthread_cond_t stopped;
    bool stop;         /* the owner sets it, the thread reads it, under the lock */
    uint64_t progress; /* atomic: the thread adds drained records */
    uint64_t freed;    /* atomic: the sum of the arenas' cursors, as the thread last left them */
};

tg_status tg_pump_start(struct tg_pump *pump, struct tg_error *error);
/* The number of records drained so far. Any thread may call this. */
uint64_t tg_pump_progress(const struct tg_pump *pump);
/* The bytes of payload drained so far, with the gaps of their alignment. Any thread may call this. */
uint64_t tg_pump_freed(const struct tg_pump *pump);
/* Call it when the device records no more. Drains the rest and stops the thread, if it runs. */
void tg_pump_stop(struct tg_pump *pump);

#endif
