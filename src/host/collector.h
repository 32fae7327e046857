/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's end of a recording: a thread that drains the streams into files while the graph runs,
 * and afterwards whatever a run that ended (or a device that died) has left in them. Where the host
 * sees device memory payloads are written to the file straight from it; where it does not, just the
 * ranges that hold something are copied.
 */
#ifndef TG_HOST_COLLECTOR_H
#define TG_HOST_COLLECTOR_H

#include "host/graph.h"
#include <taskglass/run.h>

struct tg_collector;

/* Makes the files and the streams; nothing is recorded yet. */
tg_status tg_collector_create(struct tg_graph *graph, const struct tg_record_config *config,
                              struct tg_collector **collector, struct tg_error *error);
/* What the launch has to point to. */
uint64_t tg_collector_setup(const struct tg_collector *collector);
tg_status tg_collector_start(struct tg_collector *collector, struct tg_error *error);

/* Grows while anything is drained; from any thread. */
uint64_t tg_collector_progress(const struct tg_collector *collector);

/* Once no lane records any more: drains the rest and stops the thread. */
void tg_collector_stop(struct tg_collector *collector);
/* The outputs of a task that was running when the run ended without it. After stop. */
void tg_collector_add_partial(struct tg_collector *collector, const struct tg_task_desc *task,
                              const struct tg_tensor *tensors);
/* Counters, manifest. After stop. */
void tg_collector_finish(struct tg_collector *collector, struct tg_record_result *result);
/* Stops it if need be. NULL is allowed. */
void tg_collector_destroy(struct tg_collector *collector);

#endif
