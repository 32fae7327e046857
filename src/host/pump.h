/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that drains streams while a graph runs, and afterwards what is left in them. */
#ifndef TG_HOST_PUMP_H
#define TG_HOST_PUMP_H

#include "host/drain.h"
#include <pthread.h>

struct tg_pump {
    struct tg_drain *drains;
    uint32_t n;
    void (*idle)(void *context); /* once whenever the streams have run dry; may be NULL */
    void *context;
    pthread_t thread;
    bool started;
    bool stop;         /* to the thread, by atomic access */
    uint64_t progress; /* from the thread, by atomic access */
};

tg_status tg_pump_start(struct tg_pump *pump, struct tg_error *error);
/* Grows while anything is drained; from any thread. */
uint64_t tg_pump_progress(const struct tg_pump *pump);
/* Once nothing is recorded any more: drains the rest and stops the thread, if there is one. */
void tg_pump_stop(struct tg_pump *pump);

#endif
