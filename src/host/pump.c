/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "host/pump.h"
#include "base/error.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The thread sleeps this long when all streams are empty, and twice as long each time they still are, or
 * have hardly anything: a nap costs microseconds of CPU, which a run that records now and then notices. */
enum { FIRST_NAP_NS = 20000, LONGEST_NAP_NS = 1000000, SECOND_NS = 1000000000 };

/* A stream that gets less than this share of its room between two looks can wait. */
enum { HARDLY = 16 };

/* Payload of a stream that is worth a thread of its own. */
#define LARGE_BYTES (UINT64_C(512) << 10)

/* How full the stream was that the drain has just emptied: of records, or of payload. */
static bool was_filling(const struct tg_drain *drain, uint64_t records, uint64_t freed)
{
    const struct tg_stream_head *stream = &drain->area->stream;
    return records * HARDLY >= (uint64_t)stream->n_buffers * stream->per_buffer ||
           (drain->freed - freed) * HARDLY >= stream->arena_size;
}

static void add_progress(struct tg_pump *pump, uint64_t records, uint64_t freed)
{
    __atomic_fetch_add(&pump->progress, records, __ATOMIC_RELAXED);
    __atomic_fetch_add(&pump->freed, freed, __ATOMIC_RELAXED);
}

/* What a thread finds: how many records, whether a stream should be looked at again soon, and how many
 * had so much payload that writing it takes longer than to wake a helper. */
struct found {
    uint64_t records;
    bool filling;
    uint32_t large;
};

static bool is_large(const struct tg_drain *drain, uint64_t bytes)
{
    uint64_t half = drain->area->stream.arena_size / 2;
    return bytes >= (half < LARGE_BYTES ? half : LARGE_BYTES);
}

/* What somebody else's streams had. */
static struct found pass(struct tg_pump *pump)
{
    struct found found = {0};
    found.records = pump->pass(pump->context, &found.filling);
    add_progress(pump, found.records, 0);
    return found;
}

/* Drains a stream unless another thread has it. */
static void drain_one(struct tg_pump *pump, struct tg_drain *drain, struct tg_drain_room *room,
                      struct found *found)
{
    uint64_t freed, records;
    if (__atomic_exchange_n(&drain->taken, 1u, __ATOMIC_ACQUIRE) != 0) /* P1 */
        return;
    freed = drain->freed;
    drain->room = room;
    records = tg_drain_run(drain);
    if (records > 0) {
        add_progress(pump, records, drain->freed - freed);
        found->records += records;
        found->filling = found->filling || was_filling(drain, records, freed);
        found->large += is_large(drain, drain->freed - freed);
    }
    __atomic_store_n(&drain->taken, 0u, __ATOMIC_RELEASE); /* P1 */
}

/* ── helpers ───────────────────────────────────────────────────────────────────────────── */

static void call_for_help(struct tg_pump *pump);

/* Looks at all streams, from that one on. Calls for help whenever one more of them has had much. */
static struct found drain_all(struct tg_pump *pump, uint32_t first, struct tg_drain_room *room)
{
    struct found found = {0};
    for (uint32_t i = 0; i < pump->n; i++) {
        uint32_t large = found.large;
        drain_one(pump, &pump->drains[(first + i) % pump->n], room, &found);
        if (found.large > large && large > 0)
            call_for_help(pump);
    }
    return found;
}

/* Sleeps until somebody calls. True if it was the owner, to stop. */
static bool wait_for_call(struct tg_pump *pump)
{
    pthread_mutex_lock(&pump->lock);
    pump->asleep++;
    while (!pump->stop && pump->calls == 0)
        pthread_cond_wait(&pump->called, &pump->lock);
    pump->asleep--;
    if (pump->calls > 0)
        pump->calls--;
    bool stop = pump->stop;
    pthread_mutex_unlock(&pump->lock);
    return stop;
}

/* Each thread reads `stop` before a pass, and ends after a pass that began when it was set. So the thread that
 * ends last has found each stream drained, or with a thread that drained it to its end. */
static void *help(void *argument)
{
    const struct tg_pump_helper *helper = argument;
    struct tg_pump *pump = helper->pump;
    uint32_t first = (uint32_t)(helper - pump->helper + 1) * pump->n / pump->threads;
    for (bool stop = false; !stop;) {
        stop = wait_for_call(pump);
        while (drain_all(pump, first, helper->room).large > 0)
            ;
    }
    return NULL;
}

/* The caller holds the lock. */
static bool start_helper(struct tg_pump *pump)
{
    struct tg_pump_helper *helper = &pump->helper[pump->n_helpers];
    *helper = (struct tg_pump_helper){.pump = pump, .room = malloc(sizeof *helper->room)};
    if (helper->room != NULL && pthread_create(&helper->thread, NULL, help, helper) == 0)
        return true;
    free(helper->room);
    return false;
}

static void call_for_help(struct tg_pump *pump)
{
    if (pump->threads < 2)
        return;
    pthread_mutex_lock(&pump->lock);
    if (pump->asleep > pump->calls) {
        pump->calls++;
        pthread_cond_signal(&pump->called);
    } else if (pump->calls == 0 && !pump->alone && pump->n_helpers + 1 < pump->threads) {
        pump->alone = !start_helper(pump);
        if (!pump->alone) {
            pump->n_helpers++;
            pump->calls++;
        }
    }
    pthread_mutex_unlock(&pump->lock);
}

/* ── the first thread ──────────────────────────────────────────────────────────────────── */

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
    uint64_t seen = 0; /* records, when idle() was called last */
    for (;;) {
        bool stop = is_stopped(pump);
        struct found found = pump->pass ? pass(pump) : drain_all(pump, 0, pump->room);
        if (found.filling || (stop && found.records > 0)) {
            rest = FIRST_NAP_NS;
            continue;
        }
        if (stop)
            return NULL;
        if (pump->idle != NULL && tg_pump_progress(pump) != seen) {
            seen = tg_pump_progress(pump);
            pump->idle(pump->context);
        }
        nap(pump, rest);
        rest = 2 * rest < LONGEST_NAP_NS ? 2 * rest : LONGEST_NAP_NS;
    }
}

uint32_t tg_pump_threads(uint32_t n_streams)
{
    cpu_set_t set;
    uint32_t cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
    uint32_t n = cpus < n_streams ? cpus : n_streams;
    return n < TG_PUMP_MOST_THREADS ? n : TG_PUMP_MOST_THREADS;
}

tg_status tg_pump_start(struct tg_pump *pump, struct tg_error *error)
{
    pthread_condattr_t attributes;
    pthread_mutex_init(&pump->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&pump->stopped, &attributes);
    pthread_cond_init(&pump->called, NULL);
    pthread_condattr_destroy(&attributes);
    int result = pthread_create(&pump->thread, NULL, work, pump);
    pump->started = result == 0;
    if (pump->started)
        return TG_OK;
    pthread_cond_destroy(&pump->stopped);
    pthread_cond_destroy(&pump->called);
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

/* Waits for all helpers. One that has not ended may still start another. */
static void join_helpers(struct tg_pump *pump)
{
    for (uint32_t i = 0;; i++) {
        pthread_mutex_lock(&pump->lock);
        bool more = i < pump->n_helpers;
        pthread_mutex_unlock(&pump->lock);
        if (!more)
            return;
        pthread_join(pump->helper[i].thread, NULL);
        free(pump->helper[i].room);
    }
}

void tg_pump_stop(struct tg_pump *pump)
{
    if (!pump->started)
        return;
    pthread_mutex_lock(&pump->lock);
    pump->stop = true;
    pthread_cond_signal(&pump->stopped);
    pthread_cond_broadcast(&pump->called);
    pthread_mutex_unlock(&pump->lock);
    pthread_join(pump->thread, NULL);
    join_helpers(pump);
    pthread_cond_destroy(&pump->stopped);
    pthread_cond_destroy(&pump->called);
    pthread_mutex_destroy(&pump->lock);
    pump->started = false;
    for (uint32_t i = 0; i < pump->n; i++) {
        pump->drains[i].room = pump->room;
        tg_drain_end(&pump->drains[i]);
    }
}
