/* SPDX-License-Identifier: Apache-2.0 */
/* A run, shared by its lifecycle (run.c) and the report of a failure (run_report.c). */
#ifndef TG_HOST_RUN_H
#define TG_HOST_RUN_H

#include <taskglass/run.h>

#include "host/collector.h"
#include "host/graph.h"
#include "scope/scope_writer.h"

struct tg_run {
    struct tg_graph *graph;
    struct tg_device *device;
    double timeout;
    bool cancelled; /* set from any thread, by atomic access */
    bool ended;
    bool recorded;         /* and what there is of it is in files */
    struct tg_error error; /* status and text once it has ended */
    double launched_at;    /* monotonic seconds */
    double progress_at;    /* when the number of finished tasks last changed, or it was cancelled */
    uint64_t finished;
    bool seen_cancel;
    struct tg_collector *collector; /* of its recording, or NULL */
    uint64_t collected;             /* its progress when last looked at */
    double failed_at; /* when the orchestration was first seen to have failed; 0: it has not */
    struct tg_orchestrator_report report; /* device-built: the last that made sense */
    struct tg_worker_status *status;      /* room for reading the workers' */
    struct tg_run_task *running;
    struct tg_run_result result;
};

/* run_task.c: the task that a worker says it runs (index + 1), from the host's graph or from what
 * the device has in that slot. False where that makes no sense. */
bool tg_run_find_task(const struct tg_run *run, uint64_t running, struct tg_task_desc *desc);
/* Its tensors, checked: an array of TG_MAX_TENSORS. */
bool tg_run_find_tensors(const struct tg_run *run, const struct tg_task_desc *desc,
                         struct tg_tensor *tensors);

/* orchestration_report.c, device-built graphs alone: reads how far the orchestration is. */
void tg_run_read_report(struct tg_run *run);
/* Its error, in words; OK where it has none. */
tg_status tg_run_orchestration_error(struct tg_run *run, struct tg_error *error);
/* The same for scope stats: what was full, if anything was. */
struct tg_scope_fatal tg_run_scope_fatal(const struct tg_run *run);
/* The source line of its innermost scope. */
void tg_run_scope_site(const struct tg_run *run, char site[128]);
/* What it was doing when nothing ran: ": …". */
void tg_run_orchestrator_doing(const struct tg_run *run, char *text, size_t size);
/* Waiting for full rings, and whether it was too much. */
void tg_run_account_rings(struct tg_run *run);

/* After the device failed with this status: who was running, and the error's text. */
void tg_run_describe_failure(struct tg_run *run, tg_status status);

#endif
