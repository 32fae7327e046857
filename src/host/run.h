/* SPDX-License-Identifier: Apache-2.0 */
/* A run, shared by its lifecycle (run.c) and the report of a failure (run_report.c). */
#ifndef TG_HOST_RUN_H
#define TG_HOST_RUN_H

#include "host/collector.h"
#include "host/graph.h"
#include <taskglass/run.h>

struct tg_run {
    struct tg_graph *graph;
    struct tg_device *device;
    double timeout;
    bool cancelled; /* set from any thread, by atomic access */
    bool ended;
    struct tg_error error; /* status and text once it has ended */
    double launched_at;    /* monotonic seconds */
    double progress_at;    /* when the number of finished tasks last changed, or it was cancelled */
    uint64_t finished;
    bool seen_cancel;
    struct tg_collector *collector;  /* of its recording, or NULL */
    uint64_t collected;              /* its progress when last looked at */
    struct tg_worker_status *status; /* room for reading the workers' */
    struct tg_run_task *running;
    struct tg_run_result result;
};

/* After the device failed with this status: who was running, and the error's text. */
void tg_run_report(struct tg_run *run, tg_status status);

#endif
