/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "host/batches.h"
#include "base/error.h"
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES_PER_LANE = 3, TICK_NANOSECONDS = 50000000 };

/* ── begin and end ─────────────────────────────────────────────────────────────────────── */

uint32_t tg_batches_lanes(const struct tg_task_records *records, uint32_t wanted)
{
    cpu_set_t set;
    uint64_t bytes = 0, batches;
    if (wanted == 0)
        wanted = sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
    for (uint64_t i = 0; i < records->count; i++)
        bytes += records->record[i].bytes;
    batches = bytes / TG_BATCH_BYTES + records->count / TG_BATCH_TASKS + 1;
    wanted = wanted < TG_MOST_LANES ? wanted : TG_MOST_LANES;
    return wanted < batches ? wanted : (uint32_t)batches;
}

tg_status tg_batches_begin(struct tg_batches *b, const struct tg_task_records *records,
                           uint32_t n_lanes, size_t result_size, struct tg_error *error)
{
    bool is_full = false;
    *b = (struct tg_batches){.record = records->record,
                             .n_records = records->count,
                             .tasks = records->tasks,
                             .lock = PTHREAD_MUTEX_INITIALIZER,
                             .changed = PTHREAD_COND_INITIALIZER};
    b->n_batches = n_lanes * BATCHES_PER_LANE;
    b->batch = calloc(b->n_batches, sizeof *b->batch);
    for (uint32_t i = 0; b->batch != NULL && i < b->n_batches; i++) {
        b->batch[i].result = calloc(TG_BATCH_TASKS, result_size);
        is_full |= b->batch[i].result == NULL;
    }
    if (b->batch != NULL && !is_full)
        return TG_OK;
    tg_batches_end(b);
    return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
}

void tg_batches_end(struct tg_batches *b)
{
    for (uint32_t i = 0; b->batch != NULL && i < b->n_batches; i++)
        free(b->batch[i].result);
    free(b->batch);
    b->batch = NULL;
}

/* ── lanes ─────────────────────────────────────────────────────────────────────────────── */

bool tg_batches_stopped(const struct tg_batches *b)
{
    return __atomic_load_n(&b->stop, __ATOMIC_RELAXED);
}

/* Cuts the next batch from the records. Called with the lock. */
static void cut(struct tg_batches *b, struct tg_batch *batch)
{
    uint64_t at = b->next, bytes = 0;
    batch->n = 0;
    batch->is_done = false;
    while (at < b->n_records && batch->n < TG_BATCH_TASKS && bytes < TG_BATCH_BYTES) {
        uint64_t task = b->record[at].task;
        batch->begin[batch->n++] = at;
        for (; at < b->n_records && b->record[at].task == task; at++)
            bytes += b->record[at].bytes;
    }
    batch->begin[batch->n] = at;
    b->next = at;
}

struct tg_batch *tg_batches_take(struct tg_batches *b)
{
    struct tg_batch *batch = NULL;
    pthread_mutex_lock(&b->lock);
    while (!tg_batches_stopped(b) && b->next < b->n_records && b->taken - b->told >= b->n_batches)
        pthread_cond_wait(&b->changed, &b->lock);
    if (!tg_batches_stopped(b) && b->next < b->n_records) {
        batch = &b->batch[b->taken++ % b->n_batches];
        cut(b, batch);
    }
    pthread_mutex_unlock(&b->lock);
    return batch;
}

void tg_batches_hand_in(struct tg_batches *b, struct tg_batch *batch, tg_status status,
                        const struct tg_error *error)
{
    pthread_mutex_lock(&b->lock);
    batch->is_done = status == TG_OK;
    if (status != TG_OK && b->error.status == TG_OK) {
        b->error = *error;
        __atomic_store_n(&b->stop, 1, __ATOMIC_RELAXED);
    }
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

void tg_batches_leave(struct tg_batches *b)
{
    pthread_mutex_lock(&b->lock);
    b->n_lanes--;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

/* Returns how many threads run. */
static uint32_t start_lanes(struct tg_batches *b, pthread_t *thread, void *(*run)(void *lane),
                            char *lane, size_t lane_size, uint32_t n)
{
    uint32_t started = 0;
    b->n_lanes = n;
    while (started < n &&
           pthread_create(&thread[started], NULL, run, lane + started * lane_size) == 0)
        started++;
    pthread_mutex_lock(&b->lock);
    b->n_lanes -= n - started;
    pthread_mutex_unlock(&b->lock);
    return started;
}

/* ── telling ───────────────────────────────────────────────────────────────────────────── */

/* Waits for the next batch in order. NULL: there is none any more. Returns also to show progress. */
static struct tg_batch *await(struct tg_batches *b, bool *is_over)
{
    struct tg_batch *batch = NULL;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += TICK_NANOSECONDS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&b->lock);
    while (batch == NULL) {
        struct tg_batch *next = &b->batch[b->told % b->n_batches];
        if (b->told < b->taken && next->is_done)
            batch = next;
        *is_over = batch == NULL && b->n_lanes == 0;
        if (*is_over ||
            (batch == NULL && pthread_cond_timedwait(&b->changed, &b->lock, &until) == ETIMEDOUT))
            break;
    }
    pthread_mutex_unlock(&b->lock);
    return batch;
}

static void release(struct tg_batches *b)
{
    pthread_mutex_lock(&b->lock);
    b->told++;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

static void stop(struct tg_batches *b)
{
    pthread_mutex_lock(&b->lock);
    __atomic_store_n(&b->stop, 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

/* True if the caller wants no more. */
static bool tell_batch(const struct tg_batch_sink *sink, struct tg_batch *batch, uint64_t *done)
{
    for (uint32_t i = 0; i < batch->n; i++) {
        ++*done;
        if (sink->tell(sink->context, batch, i) != 0)
            return true;
    }
    return false;
}

/* Returns when all results have been told, or the caller or a lane has stopped the lanes. */
static tg_status tell_all(struct tg_batches *b, const struct tg_batch_sink *sink,
                          struct tg_error *error)
{
    bool is_over = false;
    uint64_t done = 0;
    while (!is_over) {
        struct tg_batch *batch = await(b, &is_over);
        bool is_enough = batch != NULL && tell_batch(sink, batch, &done);
        if (batch != NULL)
            release(b);
        if (is_enough)
            return TG_OK;
        if (sink->progress(sink->context, done) != 0)
            return tg_error_set(error, TG_CANCELLED, "cancelled after %llu of %llu tasks",
                                (unsigned long long)done, (unsigned long long)b->tasks);
    }
    return TG_OK;
}

tg_status tg_batches_run(struct tg_batches *b, void *(*run)(void *lane), void *lane,
                         size_t lane_size, uint32_t n, const struct tg_batch_sink *sink,
                         struct tg_error *error)
{
    pthread_t thread[TG_MOST_LANES];
    uint32_t started = start_lanes(b, thread, run, lane, lane_size, n);
    tg_status status;
    if (started == 0)
        return tg_error_set(error, TG_NO_MEMORY, "cannot start a thread: %s", strerror(EAGAIN));
    status = tell_all(b, sink, error);
    stop(b);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    if (status == TG_OK && b->error.status != TG_OK && b->error.status != TG_CANCELLED)
        status = tg_error_set(error, b->error.status, "%s", b->error.text);
    return status;
}
