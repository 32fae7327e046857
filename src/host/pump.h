/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that drain streams while a graph runs, and what is left in them after the run. The first one looks
 * at all streams. As long as several of them are filling it has others help, up to `threads` in all; they
 * sleep otherwise. Nothing depends on them: the first thread alone drains everything, too.
 *
 *   first    stream 0 ─► 1 ─► 2 ─► …          each takes the next stream that nobody else has,
 *   helper        stream k ─► k + 1 ─► …      drains it, and leaves it
 *
 *   P1  taken   release when a thread leaves a stream, acquire when the next one takes it
 */
#ifndef TG_HOST_PUMP_H
#define TG_HOST_PUMP_H

#include "host/drain.h"
#include <pthread.h>

enum { TG_PUMP_MOST_THREADS = 8 };

struct tg_pump;

struct tg_pump_helper {
    struct tg_pump *pump;
    struct tg_drain_room *room;
    pthread_t thread;
};

struct tg_pump {
    struct tg_drain *drains; /* of a recording or a log */
    uint32_t n;
    uint32_t threads;           /* at most so many drain at the same time; 0: one */
    struct tg_drain_room *room; /* of the first thread, which the drains begin and end with */
    /* Instead of drains: looks at all streams once. Returns the number of records that it found, and in
     * *filling whether they should be looked at again soon. */
    uint64_t (*pass)(void *context, bool *filling);
    void (*idle)(void *context); /* called each time the streams become empty; or NULL */
    void *context;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock;   /* of the members up to `helper` */
    pthread_cond_t stopped; /* for the first thread's naps */
    pthread_cond_t called;  /* for the helpers */
    bool stop;              /* the owner sets it */
    uint32_t calls;         /* for help, which no helper has answered yet */
    uint32_t asleep;        /* helpers */
    bool alone;             /* no more helpers can be had */
    uint32_t n_helpers;
    struct tg_pump_helper helper[TG_PUMP_MOST_THREADS - 1];
    uint64_t progress; /* atomic: the threads add drained records */
    uint64_t freed;    /* atomic: the threads add what they freed of the arenas */
};

tg_status tg_pump_start(struct tg_pump *pump, struct tg_error *error);
/* How many threads are worth having for so many streams on this machine. */
uint32_t tg_pump_threads(uint32_t n_streams);
/* The number of records drained so far. Any thread may call this. */
uint64_t tg_pump_progress(const struct tg_pump *pump);
/* The bytes of payload drained so far, with the gaps of their alignment. Any thread may call this. */
uint64_t tg_pump_freed(const struct tg_pump *pump);
/* Call it when the device records no more. Drains the rest and stops the threads, if they run. */
void tg_pump_stop(struct tg_pump *pump);

#endif
