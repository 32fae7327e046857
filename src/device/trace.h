/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces: when each task was ready, began and ended, on which lane (wire/trace.h). The lane that runs
 * a task fills in the next event of its stream before the kernel and publishes it after the kernel,
 * so that the host of a device that died finds there what was running.
 *
 * While neither a trace nor a recording is on and the graph has no calls of communication (device/comm.h),
 * all together cost one load and one branch per task: `watch` of the engine is 0.
 *
 * When a task became ready. Of a graph that the host built, the host finds that out itself. In a graph that
 * grows, the lane that ends a task raises the ready time of each task that waits for it to its own end,
 * before it releases them. A task may get an edge after that look and before the list of waiting tasks is
 * closed. Its orchestrator raises the ready time too, when it has made all edges of the task: it reads the
 * clock after that lane did.
 */
#ifndef TG_DEVICE_TRACE_H
#define TG_DEVICE_TRACE_H

#include "device/engine.h"
#include <taskglass/wire/trace.h>

/* Who looks at the tasks of a run: bits of tg_engine.watch. */
enum tg_watch_bit { TG_WATCH_RECORDS = 1, TG_WATCH_TRACES = 2, TG_WATCH_CALLS = 4 };

/* The device's end of one stream of events: of a lane, or of the orchestrator. */
struct tg_tracer {
    struct tg_trace_event *events;
    uint64_t next;  /* events written, published or kept */
    uint64_t limit; /* there is room for the events before this one */
    uint32_t mask;  /* of an event's number: its place */
    bool gave_up;   /* it waited for room in vain: no more waiting until there is some */
    struct tg_trace_head *head;
    uint64_t lost, wait_ns; /* with copies in the head */
    uint64_t pad;
};
TG_WIRE_ASSERT(sizeof(struct tg_tracer) == TG_LINE);

TG_FN static inline bool tg_is_watched(const struct tg_engine *e)
{
    return e->watch != 0;
}

TG_FN static inline bool tg_trace_is_on(const struct tg_engine *e)
{
    return (e->watch & TG_WATCH_TRACES) != 0;
}

/* The tracer of a lane, or of the orchestrator. */
TG_FN struct tg_tracer *tg_tracer_of(struct tg_engine *e, const struct tg_worker *worker);

/* Opens the worker's stream at its beginning. Called before a run that is traced. */
TG_FN void tg_trace_open(struct tg_engine *e, uint32_t worker);

/* The event to fill in; 0: there is no room and the host does not make any, so it is lost. */
TG_FN struct tg_trace_event *tg_trace_slot(struct tg_engine *e, struct tg_tracer *tracer);
/* Lets the host read the event that was filled in, and those that were kept. */
TG_FN void tg_trace_publish(struct tg_tracer *tracer);
/* Keeps an event that was filled in, to be published with the next one. */
TG_FN static inline void tg_trace_keep(struct tg_tracer *tracer)
{
    tracer->next++;
}

/* tg_core_call for a task of a run that is recorded or traced, or has calls. It is not inlined, so that a
 * core whose run is neither keeps nothing in registers for what comes after the call. False: the task is
 * a call that was posted, and is not finished. */
TG_FN bool tg_watch_call(struct tg_engine *e, struct tg_worker *lane, uint32_t task, uint32_t part);
/* The same for one part of a mix, without recording: the first and the last part do that. */
TG_FN void tg_watch_call_part(struct tg_engine *e, struct tg_worker *lane, uint32_t task,
                              uint32_t part);

/* Raises the ready time of a task. */
TG_FN void tg_trace_raise(struct tg_engine *e, uint32_t task, uint64_t time);

#endif
