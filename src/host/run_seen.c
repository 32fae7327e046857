/* SPDX-License-Identifier: Apache-2.0 */
/* Since when each worker does what it does, as far as the host has seen it: the device notes no times. */
#include "host/run.h"
#include <string.h>

static uint64_t now_ns(void)
{
    return (uint64_t)(tg_limit_now() * 1e9);
}

/* The orchestration: a number for each thing that it can wait for, and one for all else that it does. */
static uint64_t orchestrator_key(const struct tg_run *run)
{
    const struct tg_orchestrator_report *report = &run->report;
    if (run->graph->layout == NULL || report->state != TG_ORCHESTRATOR_RUNS)
        return 0;
    if (report->waits_for == TG_RESOURCE_NONE)
        return 2 * report->submitted + 1;
    return 2 * (report->waits_task * TG_RESOURCES + report->waits_for) + 2;
}

uint64_t tg_run_seen_key(const struct tg_run *run, uint32_t worker)
{
    if (worker + 1 == tg_device_workers(run->device))
        return orchestrator_key(run);
    return run->status[worker].running != 0 ? run->status[worker].task_id + 1 : 0;
}

void tg_run_note_seen(struct tg_run *run)
{
    uint64_t at = now_ns();
    for (uint32_t i = 0; i < tg_device_workers(run->device); i++) {
        struct tg_seen *seen = &run->seen[i];
        uint64_t key = tg_run_seen_key(run, i);
        if (key == __atomic_load_n(&seen->key, __ATOMIC_RELAXED)) /* only this thread writes it */
            continue;
        __atomic_store_n(&seen->ns, at, __ATOMIC_RELAXED);
        __atomic_store_n(&seen->key, key, __ATOMIC_RELEASE); /* V1 */
    }
}

double tg_run_seen_seconds(const struct tg_run *run, uint32_t worker)
{
    const struct tg_seen *seen = &run->seen[worker];
    uint64_t key = tg_run_seen_key(run, worker), now = now_ns();
    if (key == 0 || __atomic_load_n(&seen->key, __ATOMIC_ACQUIRE) != key) /* V1 */
        return 0;
    uint64_t since = __atomic_load_n(&seen->ns, __ATOMIC_RELAXED);
    return since < now ? (double)(now - since) * 1e-9 : 0;
}

bool tg_run_tells_place(const struct tg_run *run, uint32_t worker)
{
    const struct tg_platform_ops *ops = run->device->ops;
    if (ops->locate == NULL || !ops->locates_beside)
        return ops->locate != NULL;
    return run->result.orchestration.beside && worker + 1 == tg_device_workers(run->device);
}

/* A worker answers by writing into its status. Until it does, that says where it was the last time. */
void tg_run_ask_places(struct tg_run *run)
{
    uint64_t wanted = __atomic_load_n(&run->wants_places, __ATOMIC_RELAXED);
    if (wanted == run->asked_places || run->device->ops->locate == NULL)
        return;
    for (uint32_t i = 0; i < tg_device_workers(run->device); i++) {
        struct tg_seen *seen = &run->seen[i];
        uint64_t key = tg_run_seen_key(run, i);
        if (key == __atomic_load_n(&seen->place_key, __ATOMIC_RELAXED))
            continue; /* what its status says already is about the same */
        __atomic_store_n(&seen->place_key, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&seen->before.at, run->status[i].place.at, __ATOMIC_RELAXED);
        __atomic_store_n(&seen->before.from, run->status[i].place.from, __ATOMIC_RELAXED);
        __atomic_store_n(&seen->before.state, run->status[i].place.state, __ATOMIC_RELAXED);
        __atomic_store_n(&seen->place_key, key, __ATOMIC_RELEASE); /* V1 */
    }
    run->device->ops->locate(run->device->state);
    __atomic_store_n(&run->asked_places, wanted, __ATOMIC_RELAXED);
}

bool tg_run_seen_place(const struct tg_run *view, uint32_t worker, struct tg_place_record *place)
{
    const struct tg_seen *seen = &view->seen[worker];
    uint64_t key = tg_run_seen_key(view, worker);
    *place = view->status[worker].place;
    if (key == 0 || __atomic_load_n(&seen->place_key, __ATOMIC_ACQUIRE) != key || /* V1 */
        place->state != TG_PLACE_FOUND)
        return false;
    return __atomic_load_n(&seen->before.state, __ATOMIC_RELAXED) == TG_PLACE_NONE ||
           __atomic_load_n(&seen->before.at, __ATOMIC_RELAXED) != place->at ||
           __atomic_load_n(&seen->before.from, __ATOMIC_RELAXED) != place->from;
}
