/* SPDX-License-Identifier: Apache-2.0 */
#include "host/pump.h"
#include "base/error.h"
#include <string.h>
#include <time.h>

/* The thread sleeps this long when all streams are empty, and twice as long each time they still are, or
 * have hardly anything: a nap costs microseconds of CPU, which a run that records now and then notices. */
enum { FIRST_NAP_NS = 20000, LONGEST_NAP_NS = 1000000, SECOND_NS = 1000000000 };

/* A stream that gets less than this share of its room between two looks can wait. */
enum { HARDLY = 16 };

/* How full the stream was that the drain has just emptied: of records, or of payload. */
static bool was_filling(const struct tg_drain *drain, uint64_t records, uint64_t freed)
{
    const struct tg_stream_head *stream = &drain->area->stream;
    return records * HARDLY >= (uint64_t)stream->n_buffers * stream->per_buffer ||
           (drain->freed - freed) * HARDLY >= stream->arena_size;
}

/* What somebody else's streams had. */
static uint64_t pass(struct tg_pump *pump, bool *filling)
{
    uint64_t records = pump->pass(pump->context, filling);
    __atomic_store_n(&pump->progress, pump->progress + records, __ATOMIC_RELAXED);
    return records;
}

/* Returns the number of records; *filling: a stream should be looked at again soon. */
static uint64_t drain_all(struct tg_pump *pump, bool *filling)
{
    uint64_t records = 0, all_freed = 0;
    *filling = false;
    for (uint32_t i = 0; i < pump->n; i++) {
        uint64_t freed = pump->drains[i].freed;
        uint64_t n = tg_drain_run(&pump->drains[i]);
        records += n;
        all_freed += pump->drains[i].freed;
        *filling = *filling || (n > 0 && was_filling(&pump->drains[i], n, freed));
    }
    if (records > 0) {
        __atomic_store_n(&pump->progress, pump->progress + records, __ATOMIC_RELAXED);
        __atomic_store_n(&pump->freed, all_freed, __ATOMIC_RELAXED);
    }
    return records;
}

static bool is_stopped(struct tg_pump *pump)
{
    pthread_mutex_lock(&pump->lock);
    bool stop = pump->stop;
    pthread_mutex_unlock(&pump->lock);
    return stop;
}

/* Sleeps that long, or until the owner wants the thread to stop: a run must not wait for a nap. */
static void nap(struct tg_pump *pump, long nanoseconds)
{
    struct timespec until;
    int result = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += nanoseconds;
    until.tv_sec += until.tv_nsec / SECOND_NS;
    until.tv_nsec %= SECOND_NS;
    pthread_mutex_lock(&pump->lock);
    while (!pump->stop && result == 0)
        result = pthread_cond_timedwait(&pump->stopped, &pump->lock, &until);
    pthread_mutex_unlock(&pump->lock);
}

/* Reads `stop` before each pass. The caller sets it after the last record, so the pass that follows
 * drains everything. */
static void *work(void *argument)
{
    struct tg_pump *pump = argument;
    long rest = FIRST_NAP_NS;
    bool is_new = false; /* records have come since the last call of idle() */
    for (;;) {
        bool stop = is_stopped(pump), filling;
        uint64_t records = pump->pass ? pass(pump, &filling) : drain_all(pump, &filling);
        is_new = is_new || records > 0;
        if (filling || (stop && records > 0)) {
            rest = FIRST_NAP_NS;
            continue;
        }
        if (stop)
            return NULL;
        if (is_new && pump->idle != NULL)
            pump->idle(pump->context);
        is_new = false;
        nap(pump, rest);
        rest = 2 * rest < LONGEST_NAP_NS ? 2 * rest : LONGEST_NAP_NS;
    }
}

tg_status tg_pump_start(struct tg_pump *pump, struct tg_error *error)
{
    pthread_condattr_t attributes;
    pthread_mutex_init(&pump->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&pump->stopped, &attributes);
    pthread_condattr_destroy(&attributes);
    int result = pthread_create(&pump->thread, NULL, work, pump);
    pump->started = result == 0;
    if (pump->started)
        return TG_OK;
    pthread_cond_destroy(&pump->stopped);
    pthread_mutex_destroy(&pump->lock);
    return tg_error_set(error, TG_NO_MEMORY, "cannot start the collector's thread: %s",
                        strerror(result));
}

uint64_t tg_pump_progress(const struct tg_pump *pump)
{
    return __atomic_load_n(&pump->progress, __ATOMIC_RELAXED);
}

uint64_t tg_pump_freed(const struct tg_pump *pump)
{
    return __atomic_load_n(&pump->freed, __ATOMIC_RELAXED);
}

void tg_pump_stop(struct tg_pump *pump)
{
    if (!pump->started)
        return;
    pthread_mutex_lock(&pump->lock);
    pump->stop = true;
    pthread_cond_signal(&pump->stopped);
    pthread_mutex_unlock(&pump->lock);
    pthread_join(pump->thread, NULL);
    pthread_cond_destroy(&pump->stopped);
    pthread_mutex_destroy(&pump->lock);
    pump->started = false;
    for (uint32_t i = 0; i < pump->n; i++)
        tg_drain_end(&pump->drains[i]);
}
