/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checking all tasks of a recording with the references of their kernels.
 *
 *     reference.c          starts the lanes, tells the caller the verdicts (host/batches.h)
 *     reference_lane.c     a lane: a thread with a process of its own that checks one batch after another
 *     reference_task.c     one task: its arguments into the shared memory, a call, the comparison
 *     reference_process.c  the process that calls references
 */
#ifndef TG_HOST_REFERENCE_H
#define TG_HOST_REFERENCE_H

#include "host/batches.h"
#include "host/recorded_task.h"
#include "host/reference_process.h"
#include "host/trust.h"
#include <taskglass/replay.h>

struct tg_task_verdict {
    struct tg_reference_task is;
    char why[400];
};

/* What lanes and the caller's thread share. */
struct tg_reference_job {
    const struct tg_recording *recording;
    const char *program;
    const struct tg_trusted *module;
    double limit;
    bool was_filtered; /* the run was recorded with --dump-filter */
    const struct tg_reference_about *about;
    uint32_t n_about;
    uint32_t *loops;           /* for each reference: how often it did not return; __atomic */
    struct tg_batches batches; /* a result is a struct tg_task_verdict */
};

struct tg_lane {
    struct tg_reference_job *job;
    struct tg_reference_process process;
};

/* The function of a lane's thread. */
void *tg_lane_run(void *lane);

/* Looks at a task's records. *def: the number of its reference, or UINT32_MAX: the verdict is known. */
void tg_reference_look(const struct tg_reference_job *job, const struct tg_task_record *record,
                       uint64_t n_records, struct tg_recorded_task *task, uint32_t *def,
                       struct tg_task_verdict *verdict);
/* Calls the reference and compares. CANCELLED: the job stops; NO_MEMORY. */
tg_status tg_reference_judge(struct tg_lane *lane, const struct tg_recorded_task *task,
                             uint32_t def, struct tg_task_verdict *verdict, struct tg_error *error);

#endif
