/* SPDX-License-Identifier: Apache-2.0 */
#include "host/guard_trial.h"
#include "base/error.h"
#include "base/grow.h"
#include "host/device.h"
#include "host/replay.h"
#include "host/run.h"
#include <signal.h>
#include <stdio.h>

/* A small arena serves most tasks, and never has to grow for them. */
#define LEAST_ARENA (UINT64_C(8) << 20)

/* ── the arena ─────────────────────────────────────────────────────────────────────────── */

/* Sets what kernels may do with the arena, unless that is in force already. */
static tg_status protect(struct tg_guarded *g, size_t n, struct tg_error *error)
{
    struct tg_device *device = g->bench->device;
    size_t bytes = n * sizeof *g->next;
    tg_status status;
    if (n == g->n_now && memcmp(g->now, g->next, bytes) == 0)
        return TG_OK;
    g->n_now = 0;
    if (!tg_grow(&g->now, &g->room_now, n, sizeof *g->now))
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    status = device->ops->protect(device->state, g->next, (uint32_t)n, error);
    device->lost |= status == TG_DEVICE_LOST || status == TG_CANCELLED;
    if (status != TG_OK)
        return status;
    memcpy(g->now, g->next, bytes);
    g->n_now = n;
    return TG_OK;
}

static void free_arena(struct tg_guarded *g)
{
    struct tg_device *device = g->bench->device;
    if (g->allocated == 0 || device == NULL)
        return;
    if (g->n_now > 0 && !device->lost) {
        g->next[0] = (struct tg_protection){g->arena, g->arena_size, TG_ACCESS_WRITE};
        (void)protect(g, 1, NULL);
    }
    (void)tg_device_free(device, g->allocated, NULL);
    g->allocated = g->arena_size = 0;
    g->n_now = 0;
}

static tg_status want_arena(struct tg_guarded *g, uint64_t size, struct tg_error *error)
{
    const uint64_t page = TG_GUARD_PAGE;
    uint64_t wanted = size > LEAST_ARENA ? size : LEAST_ARENA;
    tg_status status;
    if (size <= g->arena_size)
        return TG_OK;
    if (!tg_grow(&g->next, &g->room_next, 1, sizeof *g->next))
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    free_arena(g);
    status = tg_device_alloc_own(g->bench->device, wanted + page, &g->allocated, error);
    if (status == TG_NO_MEMORY && wanted > size) {
        wanted = size;
        status = tg_device_alloc_own(g->bench->device, wanted + page, &g->allocated, error);
    }
    if (status != TG_OK) {
        g->allocated = 0;
        return status;
    }
    g->arena = (g->allocated + page - 1) / page * page;
    g->arena_size = wanted / page * page;
    return TG_OK;
}

void tg_guard_trials_leave(struct tg_guarded *g)
{
    if (g->bench->device != NULL) {
        tg_graph_destroy(g->graph);
        free_arena(g);
    }
    g->graph = NULL;
    g->allocated = g->arena_size = 0;
    g->n_now = 0;
}

/* ── before the run ────────────────────────────────────────────────────────────────────── */

/* Kernels may use the regions of the trials, and nothing else of the arena. */
static tg_status protect_regions(struct tg_guarded *g, struct tg_guard_trial *const *trial,
                                 uint32_t n, struct tg_error *error)
{
    size_t count = 0, most = 1 + (size_t)n * g->memory.n_blocks;
    if (!tg_grow(&g->next, &g->room_next, most, sizeof *g->next))
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    g->next[count++] = (struct tg_protection){g->arena, g->arena_size, TG_ACCESS_NONE};
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t b = 0; b < g->memory.n_blocks; b++) {
            const struct tg_guard_place *place = &trial[i]->place[b];
            bool reads = g->memory.block[b].is_input &&
                         tg_guard_side_of(&trial[i]->plan, b) != TG_GUARD_LOOSE;
            g->next[count++] = (struct tg_protection){g->arena + place->region, place->region_size,
                                                      reads ? TG_ACCESS_READ : TG_ACCESS_WRITE};
        }
    return protect(g, count, error);
}

/* The host keeps the regions of a few trials twice, so it could not take what a device may. */
static tg_status check_size(uint64_t bytes, struct tg_error *error)
{
    if (bytes <= TG_GUARD_MOST_BYTES)
        return TG_OK;
    return tg_error_set(error, TG_NO_MEMORY,
                        "its arguments take %llu bytes with guard zones, more than the %llu that "
                        "guards are made for",
                        (unsigned long long)bytes, (unsigned long long)TG_GUARD_MOST_BYTES);
}

static tg_status place(struct tg_guarded *g, struct tg_guard_trial *const *trial, uint32_t n,
                       struct tg_error *error)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct tg_guard_trial *t = trial[i];
        end = tg_guard_place_blocks(&g->memory, &t->plan, end, t->place, &t->bytes);
        tg_status status = check_size(t->bytes, error);
        if (status != TG_OK)
            return status;
        if (!tg_grow(&t->before, &t->room_before, t->bytes + 1, 1) ||
            !tg_grow(&t->after, &t->room_after, t->bytes + 1, 1))
            return tg_error_set(error, TG_NO_MEMORY, "out of host memory for the guard zones");
    }
    return want_arena(g, end, error);
}

static tg_status fill(struct tg_guarded *g, struct tg_guard_trial *t, struct tg_error *error)
{
    tg_status status = TG_OK;
    for (uint32_t b = 0; b < g->memory.n_blocks && status == TG_OK; b++) {
        uint8_t *region = t->before + t->place[b].buffer;
        tg_guard_fill_block(&g->memory, b, &t->place[b], &t->fill, &g->patterns, region);
        status = tg_device_copy_in(g->bench->device, g->arena + t->place[b].region, region,
                                   t->place[b].region_size, error);
    }
    return status;
}

/* Adds a trial's task; it waits for the trial before it. */
static tg_status add_task(struct tg_guarded *g, const struct tg_guard_trial *t, uint32_t number,
                          const uint32_t kernel[TG_PARTS], struct tg_error *error)
{
    const struct tg_recorded_task *task = g->memory.task;
    struct tg_args args;
    uint64_t id;
    tg_args_init(&args);
    for (uint32_t i = 0; i < task->n_tensors; i++) {
        struct tg_tensor tensor = task->tensor[i].tensor;
        tensor.addr = g->arena + t->place[g->memory.block_of[i]].data + g->memory.offset_of[i];
        tg_args_tensor(&args, (enum tg_role)task->tensor[i].role, tensor);
    }
    for (uint32_t i = 0; i < task->n_scalars; i++)
        tg_args_bits(&args, task->scalar[i].dtype, task->scalar[i].bits);
    tg_status status = tg_graph_add_mix(g->graph, kernel, &args, &id, error);
    if (status == TG_OK && number > 0)
        status = tg_graph_add_edge(g->graph, id - 1, id, error);
    return status;
}

static tg_status build(struct tg_guarded *g, struct tg_guard_trial *const *trial, uint32_t n,
                       struct tg_error *error)
{
    uint32_t kernel[TG_PARTS];
    tg_status status = tg_replay_find_kernels(g->memory.task, g->bench->module, kernel, error);
    if (status == TG_OK)
        status = g->graph == NULL ? tg_graph_create(g->bench->module, &g->graph, error)
                                  : tg_graph_reset(g->graph, error);
    for (uint32_t i = 0; i < n && status == TG_OK; i++)
        status = add_task(g, trial[i], i, kernel, error);
    return status;
}

static tg_status set_up(struct tg_guarded *g, struct tg_guard_trial *const *trial, uint32_t n,
                        struct tg_error *error)
{
    tg_status status = place(g, trial, n, error);
    if (status == TG_OK)
        status = build(g, trial, n, error);
    for (uint32_t i = 0; i < n && status == TG_OK; i++)
        status = fill(g, trial[i], error);
    /* Without tensors there may be no arena. */
    if (status == TG_OK && g->has_pages && g->memory.n_blocks > 0)
        status = protect_regions(g, trial, n, error);
    return status;
}

/* ── the run ───────────────────────────────────────────────────────────────────────────── */

/* Reads what the fault handler of the device has left. */
static void read_fault(struct tg_guarded *g, struct tg_guard_failure *failure)
{
    struct tg_device *device = g->bench->device;
    struct tg_control_head head;
    if (tg_device_copy_out(device, &head, device->control, sizeof head, NULL) != TG_OK ||
        head.fault.valid != 1)
        return;
    failure->signal = head.fault.signal;
    failure->access = head.fault_access <= TG_ACCESS_WRITE ? head.fault_access : TG_ACCESS_NONE;
    failure->is_odd = (failure->signal == SIGSEGV && head.fault.address == UINT64_MAX) ||
                      failure->signal == SIGBUS;
    failure->at = head.fault.address - g->arena;
    failure->has_place = (failure->signal == SIGSEGV || failure->signal == SIGBUS) &&
                         head.fault.address >= g->arena && failure->at < g->arena_size;
}

static void describe(struct tg_guarded *g, tg_status status, const struct tg_run_result *result,
                     const struct tg_error *why, struct tg_guard_failure *failure)
{
    memset(failure, 0, sizeof *failure);
    failure->block = UINT32_MAX;
    failure->end = status == TG_HANG           ? TG_GUARD_HUNG
                   : status == TG_KERNEL_FAULT ? TG_GUARD_FAULTED
                                               : TG_GUARD_DIED;
    snprintf(failure->text, sizeof failure->text, "%s", why->text);
    tg_source_text(&result->site, failure->site, sizeof failure->site);
    if (failure->end == TG_GUARD_FAULTED)
        read_fault(g, failure);
}

/* Waits in short pieces, because `stop` wants to be asked often. */
static tg_status wait_for(struct tg_guarded *g, struct tg_run *run, struct tg_error *error)
{
    const struct tg_guard_bench *bench = g->bench;
    const double piece = 0.05;
    tg_status status;
    do {
        bool stopped = bench->stop != NULL && bench->stop(bench->stop_context) != 0;
        if (stopped)
            tg_run_cancel_within(run, TG_RUN_CANCEL_SECONDS);
        status = stopped ? tg_error_set(error, TG_CANCELLED, "the replay was cancelled")
                         : tg_run_wait(run, piece, error);
    } while (status == TG_TIMED_OUT);
    return status;
}

static tg_status reopen(struct tg_guarded *g, struct tg_error *error)
{
    tg_guard_trials_leave(g);
    return g->bench->reopen(g->bench, error);
}

/* True if the device is lost because of what the kernel did. */
static bool is_failure(const struct tg_guarded *g, tg_status status)
{
    return status == TG_KERNEL_FAULT || status == TG_HANG ||
           (status == TG_DEVICE_LOST && g->bench->device->lost);
}

static tg_status fetch(struct tg_guarded *g, struct tg_guard_trial *t, struct tg_error *error)
{
    tg_status status = TG_OK;
    for (uint32_t b = 0; b < g->memory.n_blocks && status == TG_OK; b++)
        status = tg_device_copy_out(g->bench->device, t->after + t->place[b].buffer,
                                    g->arena + t->place[b].region, t->place[b].region_size, error);
    return status;
}

static tg_status run(struct tg_guarded *g, struct tg_run_result *result, struct tg_error *error)
{
    struct tg_run *run = NULL;
    tg_status status = tg_run_start(g->graph, g->bench->run, &run, error);
    if (status != TG_OK)
        return status;
    status = wait_for(g, run, error);
    tg_run_get_result(run, result);
    tg_run_destroy(run);
    return status;
}

tg_status tg_guard_trials_run(struct tg_guarded *g, struct tg_guard_trial *const *trial, uint32_t n,
                              uint32_t *ended, struct tg_guard_failure *failure,
                              struct tg_error *error)
{
    struct tg_run_result result = {0};
    struct tg_error why = {0};
    tg_status status = TG_OK;
    *ended = 0;
    failure->end = TG_GUARD_ENDED;
    if (g->bench->device == NULL || g->bench->device->lost)
        status = reopen(g, error);
    if (status == TG_OK)
        status = set_up(g, trial, n, error);
    if (status != TG_OK)
        return status;
    status = run(g, &result, &why);
    bool has_failed = is_failure(g, status);
    if (has_failed)
        describe(g, status, &result, &why, failure);
    else if (status != TG_OK)
        return tg_error_set(error, status, "%s", why.text);
    *ended = has_failed && result.finished < n ? (uint32_t)result.finished : n;
    g->runs += *ended + has_failed;
    status = TG_OK;
    for (uint32_t i = 0; i < *ended && status == TG_OK && !g->bench->device->lost; i++)
        status = fetch(g, trial[i], error);
    return status == TG_OK && has_failed ? reopen(g, error) : status;
}
