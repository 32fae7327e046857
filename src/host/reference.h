/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checking all tasks of a recording with the references of their kernels.
 *
 *     reference.c          sorts the records by task, starts the lanes, tells the caller the verdicts
 *     reference_lane.c     a lane: a thread with a process of its own that checks one batch after another
 *     reference_task.c     one task: its arguments into the shared memory, a call, the comparison
 *     reference_process.c  the process that calls references
 *
 * Lanes take batches in the order of the recording, and the caller's thread hands out the verdicts in
 * that order. A lane stays at most a few batches ahead of it, so the memory for verdicts is bounded.
 */
#ifndef TG_HOST_REFERENCE_H
#define TG_HOST_REFERENCE_H

#include "host/recorded_task.h"
#include "host/reference_process.h"
#include "host/trust.h"
#include <pthread.h>
#include <taskglass/replay.h>

/* The limits of a batch. It is small enough to spread over the lanes, and large enough that the fork at
 * its beginning costs nothing. */
enum { TG_BATCH_TASKS = 128, TG_MOST_LANES = 64 };
#define TG_BATCH_BYTES (UINT64_C(16) << 20)

/* One record: which task it belongs to. Sorted by task. */
struct tg_task_record {
    uint64_t task;
    uint64_t index;
    uint64_t bytes; /* of its payload */
};

struct tg_task_verdict {
    struct tg_reference_task is;
    char why[400];
};

struct tg_batch {
    uint64_t first, end; /* in the sorted records */
    uint32_t n;          /* tasks */
    bool is_done;
    struct tg_task_verdict verdict[TG_BATCH_TASKS];
    uint64_t begin[TG_BATCH_TASKS + 1]; /* each task's first record; the last: the end */
};

/* What lanes and the caller's thread share. `lock` guards what is below it. */
struct tg_reference_job {
    const struct tg_recording *recording;
    const char *program;
    const struct tg_trusted *module;
    double limit;
    bool was_filtered; /* the run was recorded with --dump-filter */
    const struct tg_task_record *record;
    uint64_t n_records;
    const struct tg_reference_about *about;
    uint32_t n_about;
    int stop;        /* __atomic: all lanes end as soon as they can */
    uint32_t *loops; /* for each reference: how often it did not return; __atomic */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t next;          /* first record of the next batch */
    uint64_t taken;         /* batches that lanes have taken */
    uint64_t told;          /* batches whose verdicts the caller has */
    struct tg_batch *batch; /* number n is at n % n_batches */
    uint32_t n_batches;
    uint32_t n_lanes;      /* that still work */
    struct tg_error error; /* the first error of a lane */
};

struct tg_lane {
    struct tg_reference_job *job;
    struct tg_reference_process process;
    pthread_t thread;
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
