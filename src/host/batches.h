/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks of a recording, handed out in batches to several threads, called lanes. Lanes take batches in the
 * order of the recording, and the caller's thread tells the results in that order. A lane stays at most a
 * few batches ahead of it, so the memory for results is bounded.
 */
#ifndef TG_HOST_BATCHES_H
#define TG_HOST_BATCHES_H

#include "host/task_records.h"
#include <pthread.h>

/* The limits of a batch. It is small enough to spread over the lanes, and large enough that what begins with
 * it costs nothing. */
enum { TG_BATCH_TASKS = 128, TG_MOST_LANES = 64 };
#define TG_BATCH_BYTES (UINT64_C(16) << 20)

struct tg_batch {
    uint32_t n; /* tasks */
    bool is_done;
    uint64_t begin[TG_BATCH_TASKS + 1]; /* each task's first record; the last: the end */
    void *result;                       /* one for each task, in memory that the batches own */
};

/* What lanes and the caller's thread share. `lock` guards what is below it. */
struct tg_batches {
    const struct tg_task_record *record;
    uint64_t n_records;
    uint64_t tasks;
    int stop; /* __atomic: all lanes end as soon as they can */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t next;          /* first record of the next batch */
    uint64_t taken;         /* batches that lanes have taken */
    uint64_t told;          /* batches whose results the caller has */
    struct tg_batch *batch; /* number n is at n % n_batches */
    uint32_t n_batches;
    uint32_t n_lanes;      /* that still work */
    struct tg_error error; /* the first error of a lane */
};

/* How many lanes are of use: `wanted`, or one per CPU if that is 0, but not more than there are batches. */
uint32_t tg_batches_lanes(const struct tg_task_records *records, uint32_t wanted);
/* `result_size`: of the result of one task. The records must outlive the batches. */
tg_status tg_batches_begin(struct tg_batches *batches, const struct tg_task_records *records,
                           uint32_t n_lanes, size_t result_size, struct tg_error *error);
void tg_batches_end(struct tg_batches *batches);

/* For a lane: the next batch. NULL: there are no more, or all lanes stop. */
struct tg_batch *tg_batches_take(struct tg_batches *batches);
/* Hands it in. A status other than OK ends all lanes. */
void tg_batches_hand_in(struct tg_batches *batches, struct tg_batch *batch, tg_status status,
                        const struct tg_error *error);
/* The last call of a lane. */
void tg_batches_leave(struct tg_batches *batches);
/* True if lanes should end. */
bool tg_batches_stopped(const struct tg_batches *batches);

/* What the caller's thread does. */
struct tg_batch_sink {
    /* Tells the result of task i of the batch; a return other than 0 ends everything. */
    int (*tell)(void *context, struct tg_batch *batch, uint32_t i);
    /* Called several times a second; a return other than 0 cancels. */
    int (*progress)(void *context, uint64_t done);
    void *context;
};
/* Starts `n` threads of `run`, each with an element of the array `lane`, and tells results until all are
 * told. CANCELLED; NO_MEMORY; or the error of a lane. All threads have ended. */
tg_status tg_batches_run(struct tg_batches *batches, void *(*run)(void *lane), void *lane,
                         size_t lane_size, uint32_t n, const struct tg_batch_sink *sink,
                         struct tg_error *error);

#endif
