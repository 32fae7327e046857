/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rings of a device-built graph had to do with the time that its run took: how long the
 * orchestration waited for room, where, and for what. The device wrote the numbers, so they are checked.
 */
#include "host/run.h"
#include "host/site_names.h"
#include <stdio.h>
#include <stdlib.h>

/* ── time spent waiting for room ───────────────────────────────────────────────────────── */

/* Warn if the orchestration waited for this share of its time, and for at least this long. */
#define TOO_MUCH 0.5
#define WORTH_NOTICING 1e-3

static const char *option_of(uint32_t resource)
{
    static const char *const option[TG_RESOURCES] = {
        "", "ring-task-window", "ring-heap", "ring-dep-pool", "tensormap", ""};
    return option[resource < TG_RESOURCES ? resource : 0];
}

static bool makes_sense(const struct tg_wait *wait)
{
    return wait->resource >= TG_RESOURCE_SLOTS && wait->resource <= TG_RESOURCE_MAP &&
           wait->ring < TG_RINGS && wait->count > 0;
}

/* Keeps the places where the orchestration waited, the longest first. */
static void keep_wait(struct tg_orchestration_result *result, const struct tg_wait *wait,
                      const struct tg_site_names *names)
{
    double seconds = (double)wait->ns * 1e-9;
    uint32_t at = result->n_waits < TG_MAX_WAITS ? result->n_waits : TG_MAX_WAITS - 1;
    if (result->n_waits == TG_MAX_WAITS && result->wait[at].seconds >= seconds)
        return;
    result->n_waits += result->n_waits < TG_MAX_WAITS;
    for (; at > 0 && result->wait[at - 1].seconds < seconds; at--)
        result->wait[at] = result->wait[at - 1];
    struct tg_ring_wait *kept = &result->wait[at];
    char name[TG_SITE_NAME];
    *kept = (struct tg_ring_wait){.resource = tg_run_resource_name(wait->resource),
                                  .option = option_of(wait->resource),
                                  .of_ring = wait->resource != TG_RESOURCE_MAP,
                                  .ring = wait->ring,
                                  .count = wait->count,
                                  .seconds = seconds};
    snprintf(kept->scope, sizeof kept->scope, "%s", tg_site_name(names, wait->scope, name));
    snprintf(kept->line, sizeof kept->line, "%s", tg_site_name(names, wait->line, name));
    tg_run_clean_text(kept->scope, sizeof kept->scope);
    tg_run_clean_text(kept->line, sizeof kept->line);
}

static void read_waits(struct tg_run *run)
{
    const struct tg_orchestration *o = &run->graph->layout->orchestration;
    struct tg_site_names *names = calloc(1, sizeof *names);
    struct tg_wait waits[TG_WAITS];
    if (names == NULL ||
        tg_device_copy_out(run->device, waits, o->waits, sizeof waits, NULL) != TG_OK) {
        free(names);
        return;
    }
    (void)tg_site_names_update(names, run->device, run->graph->orchestration, o->sites);
    for (uint32_t i = 0; i < TG_WAITS; i++)
        if (makes_sense(&waits[i]))
            keep_wait(&run->result.orchestration, &waits[i], names);
    tg_site_names_free(names);
    free(names);
}

/* The pauses of the run may all have been in the waits, so the share is at least this. */
static void warn_of_waiting(struct tg_run *run)
{
    struct tg_orchestration_result *result = &run->result.orchestration;
    double waited = result->wait_seconds - run->paused, seconds = result->seconds - run->paused;
    const struct tg_ring_wait *worst = &result->wait[0];
    char ring[32] = ", which all rings share,";
    if (result->n_waits == 0 || waited < WORTH_NOTICING || waited < TOO_MUCH * seconds)
        return;
    if (worst->of_ring)
        snprintf(ring, sizeof ring, " of ring %u", (unsigned)worst->ring);
    result->warning = TG_RING_BUFFER_BACKPRESSURE;
    snprintf(
        result->text, sizeof result->text,
        "the orchestration waited %.0f %% of its %.3g s for room, longest for %s%s in the scope "
        "of %s, at %s; if cores were idle meanwhile, raise --%s",
        100 * waited / seconds, seconds, worst->resource, ring, worst->scope, worst->line,
        worst->option);
}

static uint64_t between(uint64_t tail, uint64_t head, uint64_t capacity)
{
    return head >= tail && head - tail <= capacity ? head - tail : capacity;
}

static void read_rings(struct tg_run *run)
{
    struct tg_orchestration_result *result = &run->result.orchestration;
    const struct tg_orchestration *o = &run->graph->layout->orchestration;
    struct tg_ring_cursors at[TG_RINGS];
    uint64_t address = run->graph->orchestration + offsetof(struct tg_orchestration, cursors);
    if (tg_device_copy_out(run->device, at, address, sizeof at, NULL) != TG_OK)
        return;
    for (uint32_t r = 0; r < result->n_rings; r++) {
        const struct tg_ring_layout *ring = &o->ring[r];
        result->ring[r] = (struct tg_ring_use){
            .tasks = at[r].head,
            .task_window = ring->n_slots,
            .heap = ring->heap_size,
            .dep_pool = ring->n_deps,
        };
        if (run->result.status == TG_OK) /* the orchestrator has returned: its tails are old */
            continue;
        result->ring[r].task_window_used = between(at[r].tail, at[r].head, ring->n_slots);
        result->ring[r].heap_used = between(at[r].heap_tail, at[r].heap_head, ring->heap_size);
        result->ring[r].dep_pool_used = between(at[r].dep_tail, at[r].dep_head, ring->n_deps);
    }
}

void tg_run_account_rings(struct tg_run *run)
{
    struct tg_orchestration_result *result = &run->result.orchestration;
    const struct tg_orchestrator_report *report = &run->report;
    uint64_t waited = 0;
    if (run->graph->layout == NULL)
        return;
    result->on = true;
    result->scopes = report->scopes;
    result->n_rings = run->graph->layout->orchestration.n_rings;
    if (report->ended_ns > report->began_ns)
        result->seconds = (double)(report->ended_ns - report->began_ns) * 1e-9;
    for (uint32_t r = TG_RESOURCE_SLOTS; r < TG_RESOURCE_RESULT; r++)
        waited += report->wait_ns[r];
    result->wait_seconds = (double)waited * 1e-9;
    result->read_seconds = (double)report->wait_ns[TG_RESOURCE_RESULT] * 1e-9;
    read_rings(run);
    if (waited > 0)
        read_waits(run);
    if (run->result.status == TG_OK)
        warn_of_waiting(run);
}
