/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the host's graph into the image that the device runs (layout in graph.h). */
#include "base/error.h"
#include "host/graph.h"
#include <stdlib.h>
#include <string.h>

/* How many descriptors go to the device in one write. */
enum { DESCS_AT_ONCE = 4096 };

/* Offsets from the start of the image. */
struct layout {
    uint64_t ready, succ, desc, queue[TG_CLASSES], size;
    uint32_t queue_size[TG_CLASSES];
    uint32_t n_ready[TG_CLASSES];
};

static uint64_t align(uint64_t offset)
{
    return (offset + 63) / 64 * 64;
}

/* The slots of a class's queue: enough for all its tasks, and a power of two for the mask; 0 if the
 * class has no tasks. */
static uint32_t queue_slots(uint64_t tasks)
{
    uint64_t slots = tasks > 0;
    while (slots < tasks)
        slots *= 2;
    return (uint32_t)slots;
}

static tg_status plan(const struct tg_graph *g, struct layout *at, struct tg_error *error)
{
    uint64_t offset, n_ready = 0;
    for (uint32_t c = 0; c < TG_CLASSES; c++)
        n_ready += at->n_ready[c];
    at->ready = align(sizeof(struct tg_launch));
    at->succ = align(at->ready + n_ready * sizeof(uint32_t));
    at->desc = align(at->succ + g->n_edges * sizeof(uint32_t));
    offset = align(at->desc + g->n_tasks * sizeof(struct tg_task_desc));
    for (uint32_t c = 0; c < TG_CLASSES; c++) {
        if (g->class_count[c] > UINT32_MAX / 2 + 1)
            return tg_error_set(error, TG_NO_MEMORY, "more than 2^31 tasks of one kind");
        at->queue_size[c] = queue_slots(g->class_count[c]);
        at->queue[c] = offset;
        offset = align(offset + at->queue_size[c] * sizeof(uint64_t));
    }
    at->size = offset;
    return TG_OK;
}

/* Allocates new memory if the image does not fit the old. A graph that has grown gets room to grow
 * further. */
static tg_status want_image(struct tg_graph *g, uint64_t size, struct tg_error *error)
{
    struct tg_device *device = g->module->device;
    tg_status status = TG_NO_MEMORY;
    if (g->image != 0 && size <= g->image_room)
        return TG_OK;
    if (g->image != 0) {
        tg_device_free(device, g->image, NULL);
        g->image_room = size + size / 2;
        status = tg_device_alloc_own(device, g->image_room, &g->image, NULL);
    }
    if (status != TG_OK) {
        g->image = 0;
        g->image_room = size;
        status = tg_device_alloc_own(device, size, &g->image, error);
    }
    return status;
}

/* Sets each task's `succ` to the end of its list, which list_successors moves to the start, and
 * counts the tasks that a run starts with. */
static void number_successors(struct tg_graph *g, struct layout *at)
{
    uint32_t end = 0;
    for (uint64_t t = 0; t < g->n_tasks; t++) {
        struct tg_task_desc *desc = &g->desc[t];
        end += desc->n_succ;
        desc->succ = end;
        desc->pending = desc->fanin;
        at->n_ready[desc->task_class] += desc->fanin == 0;
    }
}

/* Fills each list backwards from its end, so that successors keep the order of their edges. */
static void list_successors(struct tg_graph *g, uint32_t *succ)
{
    for (uint64_t i = g->n_edges; i-- > 0;)
        succ[--g->desc[g->edge[i].before].succ] = g->edge[i].after;
}

/* Completes the descriptors and sends them while they are in the cache; lists the ready tasks. */
static tg_status send_tasks(struct tg_graph *g, const struct layout *at, const uint32_t *succ,
                            uint32_t *ready, struct tg_error *error)
{
    uint32_t *next[TG_CLASSES];
    tg_status status = TG_OK;
    for (uint32_t c = 0; c < TG_CLASSES; ready += at->n_ready[c++])
        next[c] = ready;
    for (uint64_t t = 0; t < g->n_tasks && status == TG_OK;) {
        uint64_t first = t, end = t + DESCS_AT_ONCE < g->n_tasks ? t + DESCS_AT_ONCE : g->n_tasks;
        for (; t < end; t++) {
            struct tg_task_desc *desc = &g->desc[t];
            desc->next = desc->n_succ > 0 ? succ[desc->succ] : 0;
            if (desc->fanin == 0)
                *next[desc->task_class]++ = (uint32_t)t + 1;
        }
        status = tg_device_copy_in(g->module->device, g->image + at->desc + first * sizeof *g->desc,
                                   &g->desc[first], (end - first) * sizeof *g->desc, error);
    }
    return status;
}

static struct tg_launch describe(const struct tg_graph *g, const struct layout *at)
{
    struct tg_launch launch = {
        .magic = TG_LAUNCH_MAGIC,
        .edges = TG_EDGES_FIXED,
        .n_tasks = (uint32_t)g->n_tasks,
        .desc = g->image + at->desc,
        .succ = g->image + at->succ,
        .payload = g->module->device->head.memory_start,
    };
    uint64_t ready = g->image + at->ready;
    for (uint32_t c = 0; c < TG_CLASSES; c++) {
        launch.ready[c] = ready;
        launch.n_ready[c] = at->n_ready[c];
        launch.queue[c] = g->image + at->queue[c];
        launch.queue_size[c] = at->queue_size[c];
        ready += at->n_ready[c] * sizeof(uint32_t);
    }
    return launch;
}

/* Makes the head of the image (launch, ready, succ) in `head`, of at->desc bytes, and copies it and
 * the rest to the device. `head` may be the device memory itself. */
static tg_status send(struct tg_graph *g, struct layout *at, char *head, struct tg_error *error)
{
    struct tg_device *device = g->module->device;
    struct tg_launch launch;
    tg_status status;
    list_successors(g, (uint32_t *)(head + at->succ));
    status =
        send_tasks(g, at, (uint32_t *)(head + at->succ), (uint32_t *)(head + at->ready), error);
    if (status == TG_OK)
        status = tg_graph_args_send(&g->args, error);
    launch = describe(g, at);
    memcpy(head, &launch, sizeof launch);
    if (status == TG_OK && tg_device_map(device, g->image, at->desc) != head)
        status = tg_device_copy_in(device, g->image, head, at->desc, error);
    return status;
}

/* Tensors must be in this device's memory, behind its control area. A host pointer or another
 * device's address is reported here instead of crashing the device. */
static tg_status check_addresses(const struct tg_graph *g, struct tg_error *error)
{
    const struct tg_control_head *head = &g->module->device->head;
    uint64_t start = head->memory_start, end = head->memory_end;
    if (g->end == 0 || (g->lowest >= start && g->end <= end))
        return TG_OK;
    return tg_error_set(error, TG_BAD_ARGUMENT,
                        "a task's tensor is not in device memory (0x%llx…0x%llx; the device has "
                        "0x%llx…0x%llx)",
                        (unsigned long long)g->lowest, (unsigned long long)g->end,
                        (unsigned long long)start, (unsigned long long)end);
}

tg_status tg_graph_upload(struct tg_graph *g, struct tg_error *error)
{
    TG_REFUSE_NULL_AS(error, g, "graph");
    struct tg_device *device = g->module->device;
    struct layout at = {0};
    char *head, *own = NULL;
    tg_status status = tg_device_ready(device, error);
    if (status == TG_OK && (g->resident || g->layout != NULL))
        return TG_OK;
    if (status == TG_OK)
        status = tg_graph_check(g, error);
    if (status == TG_OK)
        status = check_addresses(g, error);
    if (status != TG_OK)
        return status;
    number_successors(g, &at);
    status = plan(g, &at, error);
    if (status == TG_OK)
        status = want_image(g, at.size, error);
    if (status != TG_OK)
        return status;
    /* If the host can write device memory, make the head in place; otherwise make and copy it. */
    head = tg_device_map(device, g->image, at.desc);
    if (head == NULL && (head = own = malloc(at.desc)) == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    status = send(g, &at, head, error);
    free(own);
    g->resident = status == TG_OK;
    return status;
}
