/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's end of a recording. A thread drains the streams into files while the graph runs, and
 * after the run ended or the device died it drains what is left. If the host can read device
 * memory, it writes payloads to the file directly from there; otherwise it copies only the ranges
 * that hold payloads.
 */
#ifndef TG_HOST_COLLECTOR_H
#define TG_HOST_COLLECTOR_H

#include "host/graph.h"
#include <taskglass/run.h>

struct tg_collector;

/* Creates the files and the streams; recording begins with the launch. */
tg_status tg_collector_create(struct tg_graph *graph, const struct tg_record_config *config,
                              struct tg_collector **collector, struct tg_error *error);
/* The device address that the launch must hold for the device to record. */
uint64_t tg_collector_setup(const struct tg_collector *collector);
/* As tg_record_area_pulse. */
uint64_t tg_collector_pulse(const struct tg_collector *collector);
tg_status tg_collector_start(struct tg_collector *collector, struct tg_error *error);

/* The number of records drained so far. Any thread may call this. */
uint64_t tg_collector_progress(const struct tg_collector *collector);

/* What the recorder has done so far, as its lanes count it and the thread has drained it. The lanes go on
 * meanwhile, and nothing is checked but that a sum cannot be larger than it makes sense. */
struct tg_collector_counts {
    uint32_t level, policy; /* enum tg_record_level, enum tg_record_policy */
    uint64_t records;       /* drained */
    uint64_t recorded;      /* by the lanes; of these, the host has drained `records` */
    uint64_t attempted, lost_full, lost_gave_up, truncated;
    uint64_t bytes_recorded, bytes_written; /* payload, with the gaps of its alignment */
    uint64_t record_ns, wait_ns;            /* of all lanes */
    uint64_t arena;                         /* bytes of all arenas */
};
/* Between start and stop; any thread may call this. */
void tg_collector_count(const struct tg_collector *collector, struct tg_collector_counts *counts);

/* True if that lane is making a record, under policy block: if it does not get on with that, it waits for the
 * host. Between start and stop; any thread may call this. */
bool tg_collector_is_recording(const struct tg_collector *collector, uint32_t lane);

/* Call it when no lane records any more. Drains the rest and stops the thread. */
void tg_collector_stop(struct tg_collector *collector);
/* After stop: records the outputs of a task that was still running when the run ended. */
void tg_collector_add_partial(struct tg_collector *collector, const struct tg_task_desc *task,
                              const struct tg_tensor *tensors);
/* After stop: writes the counters, how the run ended, and the manifest. */
void tg_collector_finish(struct tg_collector *collector, tg_status run_ended,
                         struct tg_record_result *result);
/* Stops the collector first if it runs. NULL is allowed. */
void tg_collector_destroy(struct tg_collector *collector);

#endif
