/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lays out the memory of a graph that the device builds. It is one allocation:
 *
 *   launch │ orchestration │ arguments │ refused │ kernels │ sites │ slots │ arguments of tasks │
 *   notes │ places │ blocks │ dependencies │ queues │ tensor map │ heaps
 *
 * On a simulator, untouched parts cost nothing: the system provides memory on first use. So everything
 * here is as large as the user's limits say, and the orchestrator touches as little of it as it can.
 */
#include "base/error.h"
#include "base/ring_limits.h"
#include "common/stored_args.h"
#include "host/graph.h"
#include "host/runtime_ops.h"
#include <taskglass/wire/comm.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Offsets from the start of the image, growing as things are added. */
struct layout {
    uint64_t size;
    struct tg_launch launch;
    struct tg_orchestration o;
    uint64_t image_orchestration;
};

static uint64_t place(struct layout *at, uint64_t bytes)
{
    uint64_t offset = at->size;
    at->size = (offset + bytes + 255) / 256 * 256;
    return offset;
}

/* ── sizes ─────────────────────────────────────────────────────────────────────────────── */

static tg_status check_range(const char *option, uint64_t value, uint64_t least, uint64_t most,
                             struct tg_error *error)
{
    if (value >= least && value <= most)
        return TG_OK;
    return tg_error_set(error, TG_BAD_ARGUMENT, "--%s %llu: must be from %llu to %llu", option,
                        (unsigned long long)value, (unsigned long long)least,
                        (unsigned long long)most);
}

static uint32_t or_default(uint32_t value, uint32_t fallback)
{
    return value ? value : fallback;
}

tg_status tg_rings_check(const struct tg_rings *rings, struct tg_error *error)
{
    tg_status status = TG_OK;
    for (uint32_t r = 0; r < TG_RINGS && status == TG_OK; r++) {
        if (rings->task_window[r] != 0)
            status = check_range("ring-task-window", rings->task_window[r], TG_LEAST_ENTRIES,
                                 TG_MOST_SLOTS, error);
        if (status == TG_OK && rings->dep_pool[r] != 0)
            status = check_range("ring-dep-pool", rings->dep_pool[r], TG_LEAST_ENTRIES,
                                 TG_MOST_DEPS, error);
        if (status == TG_OK && rings->heap[r] != 0)
            status = check_range("ring-heap", rings->heap[r], TG_LEAST_HEAP, TG_MOST_HEAP, error);
    }
    if (status == TG_OK && rings->tensormap != 0)
        status = check_range("tensormap", rings->tensormap, TG_LEAST_ENTRIES, TG_MOST_MAP, error);
    return status;
}

/* The size that was asked for, or else the default, but at most a share of half the free memory. */
static uint64_t heap_size(const struct tg_graph *g, uint64_t asked, uint32_t n_rings)
{
    struct tg_device_info info;
    uint64_t share;
    if (asked != 0)
        return (asked + 255) / 256 * 256;
    tg_device_get_info(g->module->device, &info);
    share = (info.memory - info.memory_used) / 2 / n_rings / 256 * 256;
    return share < TG_DEFAULT_HEAP ? share : TG_DEFAULT_HEAP;
}

static void plan_rings(const struct tg_graph *g, const struct tg_rings *rings, struct layout *at)
{
    uint32_t slots = 0, deps = 0, n = at->o.n_rings;
    for (uint32_t r = 0; r < n; r++) {
        struct tg_ring_layout *ring = &at->o.ring[r];
        ring->n_slots = or_default(rings->task_window[r], TG_DEFAULT_SLOTS);
        ring->n_deps = or_default(rings->dep_pool[r], TG_DEFAULT_DEPS);
        ring->heap_size = heap_size(g, rings->heap[r], n);
        ring->first_slot = slots;
        ring->first_dep = deps;
        slots += ring->n_slots;
        deps += ring->n_deps;
    }
    at->launch.n_tasks = slots;
    at->o.map_size = or_default(rings->tensormap, TG_DEFAULT_MAP);
}

/* The most bytes of arguments that a task of the module can have. */
static uint64_t payload_stride(const struct tg_module *m)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < m->n_kernels; i++) {
        const struct tg_kernel_desc *k = &m->kernels[i];
        uint64_t tensors = k->call ? TG_COMM_TENSORS : k->given ? k->n_tensors : TG_MAX_TENSORS;
        uint64_t scalars = k->call ? TG_COMM_SCALARS : k->given ? k->n_scalars : TG_MAX_SCALARS;
        uint64_t bytes = tg_stored_most_bytes((uint32_t)tensors, (uint32_t)scalars);
        most = bytes > most ? bytes : most;
    }
    return (most + 63) / 64 * 64;
}

static uint32_t power_of_two(uint64_t at_least)
{
    uint32_t n = 1;
    while (n < at_least)
        n *= 2;
    return n;
}

/* ── layout ────────────────────────────────────────────────────────────────────────────── */

static void plan_map(struct layout *at)
{
    at->o.map_regions = place(at, at->o.map_size * sizeof(struct tg_map_region));
    at->o.map_readers = place(at, at->o.map_size * sizeof(struct tg_map_reader));
    at->o.n_buckets = power_of_two(at->o.map_size);
    at->o.map_buckets = place(at, at->o.n_buckets * sizeof(uint32_t));
}

/* True if a task of the module can be one that either kind of core runs. */
static bool has_either(const struct tg_module *m)
{
    for (uint32_t k = 0; k < m->n_kernels; k++)
        if (m->kernels[k].core == TG_EITHER)
            return true;
    return false;
}

static void plan_image(const struct tg_graph *g, bool has_map, struct layout *at)
{
    const struct tg_module *m = g->module;
    uint64_t slots = at->launch.n_tasks, deps = 0;
    place(at, sizeof at->launch);
    at->image_orchestration = place(at, sizeof at->o);
    at->o.args = place(at, sizeof(struct tg_args));
    at->o.refused = place(at, sizeof(struct tg_args));
    at->o.kernels = place(at, m->n_kernels * sizeof(struct tg_kernel_desc));
    at->o.sites = place(at, TG_MAX_SITES * sizeof(struct tg_site));
    at->o.waits = place(at, TG_WAITS * sizeof(struct tg_wait));
    at->launch.desc = place(at, slots * sizeof(struct tg_task_desc));
    at->o.payload_stride = payload_stride(m);
    for (uint32_t r = 0; r < at->o.n_rings; r++) {
        at->o.first_block[r] = at->o.n_args_blocks;
        at->o.n_args_blocks += TG_ARGS_BLOCKS(at->o.ring[r].n_slots, at->o.payload_stride);
    }
    at->launch.payload = place(at, (uint64_t)at->o.n_args_blocks * TG_ARGS_BLOCK);
    at->o.notes = place(at, slots * sizeof(struct tg_slot_note));
    at->o.places = place(at, slots * sizeof(struct tg_task_place));
    at->o.args_blocks = place(at, at->o.n_args_blocks * sizeof(struct tg_args_block));
    for (uint32_t r = 0; r < at->o.n_rings; r++)
        deps += at->o.ring[r].n_deps;
    at->o.deps = place(at, deps * sizeof(struct tg_dep));
    for (uint32_t c = 0; c < TG_CLASSES; c++) {
        if (c != TG_CLASS_EITHER || has_either(m))
            at->launch.queue_size[c] = power_of_two(slots);
        at->launch.queue[c] = place(at, at->launch.queue_size[c] * sizeof(uint64_t));
    }
    if (has_map)
        plan_map(at);
    for (uint32_t r = 0; r < at->o.n_rings; r++)
        at->o.ring[r].heap = place(at, at->o.ring[r].heap_size);
}

/* Turns offsets into device addresses. */
static void rebase(struct layout *at, uint64_t image)
{
    uint64_t *const addresses[] = {&at->launch.desc,     &at->launch.payload,  &at->launch.queue[0],
                                   &at->launch.queue[1], &at->launch.queue[2], &at->launch.queue[3],
                                   &at->o.args,          &at->o.refused,       &at->o.kernels,
                                   &at->o.sites,         &at->o.notes,         &at->o.deps,
                                   &at->o.waits,         &at->o.places,        &at->o.args_blocks};
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++)
        *addresses[i] += image;
    if (at->o.map_regions != 0) {
        at->o.map_regions += image;
        at->o.map_readers += image;
        at->o.map_buckets += image;
    }
    for (uint32_t r = 0; r < at->o.n_rings; r++)
        at->o.ring[r].heap += image;
    at->launch.orchestration = image + at->image_orchestration;
}

static tg_status send(struct tg_graph *g, const struct layout *at, const struct tg_args *args,
                      struct tg_error *error)
{
    struct tg_device *device = g->module->device;
    tg_status status = tg_device_copy_in(device, g->image, &at->launch, sizeof at->launch, error);
    if (status == TG_OK)
        status = tg_device_copy_in(device, at->launch.orchestration, &at->o, sizeof at->o, error);
    if (status == TG_OK)
        status = tg_device_copy_in(device, at->o.args, args, sizeof *args, error);
    if (status == TG_OK && g->module->n_kernels > 0)
        status = tg_device_copy_in(device, at->o.kernels, g->module->kernels,
                                   g->module->n_kernels * sizeof *g->module->kernels, error);
    return status;
}

/* ── an orchestrator beside the device ─────────────────────────────────────────────────── */

/* Lays out what the orchestrator writes and the host reads. The tensor map and the blocks of arguments are
 * books of the orchestrator's own there, in memory that nobody else sees. */
static tg_status place_beside(struct tg_graph *g, const struct layout *at,
                              const struct tg_args *args, struct tg_error *error)
{
    struct tg_device *device = g->module->device;
    struct tg_graph_beside *b = calloc(1, sizeof *b);
    struct tg_orchestration *o;
    struct layout shared = {0};
    tg_status status;
    if (b == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    g->beside = b;
    b->on_device = b->orchestration = at->o;
    o = &b->orchestration;
    place(&shared, sizeof *o);
    o->args = place(&shared, sizeof *args);
    o->refused = place(&shared, sizeof(struct tg_args));
    o->kernels = place(&shared, g->module->n_kernels * sizeof(struct tg_kernel_desc));
    o->sites = place(&shared, TG_MAX_SITES * sizeof(struct tg_site));
    o->waits = place(&shared, TG_WAITS * sizeof(struct tg_wait));
    o->notes = place(&shared, at->launch.n_tasks * sizeof(struct tg_slot_note));
    o->places = place(&shared, at->launch.n_tasks * sizeof(struct tg_task_place));
    b->done_words = place(&shared, at->launch.n_tasks * sizeof(uint32_t));
    status = tg_device_alloc_shared(device, shared.size, &b->memory, error);
    if (status != TG_OK)
        return status;
    o->args += b->memory;
    o->refused += b->memory;
    o->kernels += b->memory;
    o->sites += b->memory;
    o->waits += b->memory;
    o->notes += b->memory;
    o->places += b->memory;
    b->done_words += b->memory;
    status = tg_device_copy_in(device, b->memory, o, sizeof *o, error);
    if (status == TG_OK)
        status = tg_device_copy_in(device, o->args, args, sizeof *args, error);
    if (status == TG_OK && g->module->n_kernels > 0)
        status = tg_device_copy_in(device, o->kernels, g->module->kernels,
                                   g->module->n_kernels * sizeof *g->module->kernels, error);
    return status;
}

void tg_graph_free_beside(struct tg_graph *g)
{
    if (g->beside != NULL && g->beside->memory != 0)
        tg_device_free(g->module->device, g->beside->memory, NULL);
    free(g->beside);
    g->beside = NULL;
}

tg_status tg_graph_orchestrate_beside(struct tg_graph *g, bool beside, struct tg_error *error)
{
    struct tg_device *device = g->module->device;
    struct tg_graph_beside *b = g->beside;
    struct tg_launch *launch = &g->layout->launch;
    if (b == NULL || b->used == beside)
        return TG_OK;
    b->used = beside;
    g->orchestration = beside ? b->memory : g->image + g->layout->device_orchestration;
    g->layout->orchestration = beside ? b->orchestration : b->on_device;
    launch->orchestration = g->orchestration;
    launch->done_words = beside ? b->done_words : 0;
    tg_status status =
        tg_device_copy_in(device, g->image + offsetof(struct tg_launch, orchestration),
                          &launch->orchestration, sizeof launch->orchestration, error);
    return status == TG_OK
               ? tg_device_copy_in(device, g->image + offsetof(struct tg_launch, done_words),
                                   &launch->done_words, sizeof launch->done_words, error)
               : status;
}

/* ── the graph ─────────────────────────────────────────────────────────────────────────── */

static tg_status get_memory(struct tg_graph *g, const struct layout *at, struct tg_error *error)
{
    struct tg_device_info info;
    if (tg_device_alloc_own(g->module->device, at->size, &g->image, NULL) == TG_OK)
        return TG_OK;
    g->image = 0;
    tg_device_get_info(g->module->device, &info);
    return tg_error_set(error, TG_NO_MEMORY,
                        "the rings need %llu bytes of device memory, but %llu are free; lower "
                        "--ring-heap or --ring-task-window, or raise --device-memory",
                        (unsigned long long)at->size,
                        (unsigned long long)(info.memory - info.memory_used));
}

tg_status tg_graph_place(const struct tg_runtime_ops *runtime, struct tg_graph *g,
                         const struct tg_args *args, const struct tg_rings *rings,
                         struct tg_error *error)
{
    static const struct tg_rings defaults;
    const struct tg_control_head *head = &g->module->device->head;
    struct layout at = {
        .launch = {.magic = TG_LAUNCH_MAGIC, .edges = TG_EDGES_GROWING},
        .o = {.magic = TG_ORCHESTRATION_MAGIC,
              .version = TG_ORCHESTRATION_VERSION,
              .size = sizeof at.o,
              .first_kernel = g->module->first,
              .n_kernels = g->module->n_kernels,
              .n_own_kernels = g->module->workload->n_kernels,
              .n_rings = runtime->n_rings,
              .flags = runtime->scopes_own_slots ? TG_SCOPES_OWN_SLOTS : 0,
              .poison = g->module->device->poison,
              .memory_start = head->memory_start,
              .memory_end = head->memory_end},
    };
    tg_status status = tg_device_ready(g->module->device, error);
    if (status == TG_OK && rings != NULL)
        status = tg_rings_check(rings, error);
    if (status != TG_OK)
        return status;
    plan_rings(g, rings ? rings : &defaults, &at);
    plan_image(g, runtime->finds_edges, &at);
    status = get_memory(g, &at, error);
    if (status != TG_OK)
        return status;
    rebase(&at, g->image);
    g->orchestration = at.launch.orchestration;
    g->layout = malloc(sizeof *g->layout);
    if (g->layout == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    *g->layout = (struct tg_graph_layout){
        .launch = at.launch, .orchestration = at.o, .device_orchestration = at.image_orchestration};
    status = send(g, &at, args, error);
    if (status == TG_OK && g->module->device->orchestrates_beside)
        status = place_beside(g, &at, args, error);
    return status;
}
