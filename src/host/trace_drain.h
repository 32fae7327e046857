/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one stream of a trace and adds its events to the spool. A device that may have gone wrong wrote the
 * events: a number that cannot be is counted and left out. One thread at a time.
 */
#ifndef TG_HOST_TRACE_DRAIN_H
#define TG_HOST_TRACE_DRAIN_H

#include "host/trace_area.h"
#include "trace/spool.h"
#include <taskglass/wire/orchestration.h>

/* Events that are handled at a time, and how deep scopes can be nested (TG_MAX_DEPTH). */
enum { TG_TRACE_BATCH = 512, TG_TRACE_DEPTH = 64 };

/* What all drains of a trace share. */
struct tg_trace_room {
    struct tg_trace_event from[TG_TRACE_BATCH];
    struct tg_spool_event to[TG_TRACE_BATCH];
    uint64_t latest; /* the latest time in any event */
    uint64_t step;   /* greatest common divisor of the tasks' durations */
    uint64_t tasks, events;
    uint64_t corrupt; /* events that made no sense */
    uint64_t *ended;  /* when each task of a graph that the host built ended; 0: it did not */
    uint64_t n_ended; /* tasks of that graph; 0: the device built it */
};

struct tg_trace_drain {
    const struct tg_trace_area *area;
    struct tg_spool *spool;
    struct tg_trace_room *room;
    uint64_t address; /* of the head */
    uint32_t index;
    uint64_t read; /* events, so far */
    bool any;      /* it had a TASK */
    bool gone;     /* the stream's memory was lost with the device */
    /* the orchestrator's: the scopes that are open, the outermost first */
    struct tg_spool_event scope[TG_TRACE_DEPTH];
    uint32_t depth;
};

void tg_trace_drain_init(struct tg_trace_drain *drain, const struct tg_trace_area *area,
                         uint32_t index, struct tg_spool *spool, struct tg_trace_room *room);

/* Takes what there is, at most one round of the circle. Returns the number of events. */
uint64_t tg_trace_drain_run(struct tg_trace_drain *drain);

/* After the last event of a device that died: adds the task that the lane was running, if it had begun
 * (`status` is that of the lane). */
void tg_trace_drain_add_running(struct tg_trace_drain *drain, const struct tg_worker_status *status,
                                uint64_t now);
/* The same with the scopes that are still open. */
void tg_trace_drain_end_scopes(struct tg_trace_drain *drain, uint64_t now);

#endif
