/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's end of a trace. A thread moves the events of all streams to a spool beside the trace's file
 * while the graph runs. After the run, or the death of the device, it takes what is left, adds what was
 * running and what only the host knows, and has the file written (src/trace).
 *
 *     create ─► start ─► launch, run ─► stop ─► finish ─► destroy
 */
#ifndef TG_HOST_TRACE_COLLECTOR_H
#define TG_HOST_TRACE_COLLECTOR_H

#include "host/collector.h"
#include "host/graph.h"
#include <taskglass/run.h>

struct tg_trace_collector;

/* Refuses a file that cannot be written: IO_ERROR names path and cause. It leaves nothing behind, and an
 * old file of that name as it is. */
tg_status tg_trace_file_check(const char *path, struct tg_error *error);

/* Makes the spool and the streams. */
tg_status tg_trace_collector_create(struct tg_graph *graph, const char *path,
                                    struct tg_trace_collector **collector, struct tg_error *error);
/* The device address that the launch must hold for the device to trace. */
uint64_t tg_trace_collector_setup(const struct tg_trace_collector *collector);
/* As tg_record_area_pulse. */
uint64_t tg_trace_collector_pulse(const struct tg_trace_collector *collector);
/* `recorder` is that of the same run, whose bytes the trace shows; it must not stop before the collector.
 * NULL: the run is not recorded. */
tg_status tg_trace_collector_start(struct tg_trace_collector *collector,
                                   const struct tg_collector *recorder, struct tg_error *error);
/* The number of events so far. Any thread may call this. */
uint64_t tg_trace_collector_progress(const struct tg_trace_collector *collector);
/* Call it when the device traces no more. Takes the rest and stops the thread. */
void tg_trace_collector_stop(struct tg_trace_collector *collector);

/* What only the caller knows of the run. Texts may be NULL. */
struct tg_trace_about {
    const char *workload, *case_name, *runtime;
    const struct tg_run_result *result;
    const char *error;                     /* of the run; "" if it has none */
    const struct tg_worker_status *status; /* one per worker */
    bool lost;                             /* the device died, or was ended */
    bool (*goes_on)(void *context); /* now and then while the file is written; false: no file */
    void *context;
};
/* After the stop: writes the file. */
void tg_trace_collector_finish(struct tg_trace_collector *collector,
                               const struct tg_trace_about *about, struct tg_run_trace *result);
/* NULL is fine. */
void tg_trace_collector_destroy(struct tg_trace_collector *collector);

#endif
