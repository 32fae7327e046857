/* SPDX-License-Identifier: Apache-2.0 */
#include "host/pump.h"
#include "base/error.h"
#include <string.h>
#include <time.h>

/* The thread sleeps this long when all streams are empty, and twice as long each time they still
 * are. */
enum { FIRST_NAP_NS = 20000, LONGEST_NAP_NS = 1000000 };

static uint64_t drain_all(struct tg_pump *pump)
{
    uint64_t records = 0;
    for (uint32_t i = 0; i < pump->n; i++)
        records += tg_drain_run(&pump->drains[i]);
    if (records > 0)
        __atomic_store_n(&pump->progress, pump->progress + records, __ATOMIC_RELAXED);
    return records;
}

static void nap(long nanoseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL);
}

/* Reads `stop` before each pass. The caller sets it after the last record, so the pass that follows
 * drains everything. */
static void *work(void *argument)
{
    struct tg_pump *pump = argument;
    long rest = FIRST_NAP_NS;
    for (;;) {
        bool stop = __atomic_load_n(&pump->stop, __ATOMIC_ACQUIRE);
        if (drain_all(pump) > 0) {
            rest = FIRST_NAP_NS;
            continue;
        }
        if (stop)
            return NULL;
        if (rest == FIRST_NAP_NS && pump->idle != NULL)
            pump->idle(pump->context);
        nap(rest);
        rest = 2 * rest < LONGEST_NAP_NS ? 2 * rest : LONGEST_NAP_NS;
    }
}

tg_status tg_pump_start(struct tg_pump *pump, struct tg_error *error)
{
    int result = pthread_create(&pump->thread, NULL, work, pump);
    if (result != 0)
        return tg_error_set(error, TG_NO_MEMORY, "cannot start the collector's thread: %s",
                            strerror(result));
    pump->started = true;
    return TG_OK;
}

uint64_t tg_pump_progress(const struct tg_pump *pump)
{
    return __atomic_load_n(&pump->progress, __ATOMIC_RELAXED);
}

void tg_pump_stop(struct tg_pump *pump)
{
    if (!pump->started)
        return;
    __atomic_store_n(&pump->stop, true, __ATOMIC_RELEASE);
    pthread_join(pump->thread, NULL);
    pump->started = false;
    for (uint32_t i = 0; i < pump->n; i++)
        tg_drain_end(&pump->drains[i]);
}
