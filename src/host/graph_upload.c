/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the host's graph into the image that the device runs (layout in graph.h). */
#include "base/error.h"
#include "host/graph.h"
#include "host/task_check.h"
#include <stdlib.h>
#include <string.h>

/* How many descriptors the host makes before it sends them: they stay in the cache. */
enum { DESCS_AT_ONCE = 4096 };

/* Offsets from the start of the image. */
struct layout {
    uint64_t ready, succ, desc, queue[TG_CLASSES], size;
    uint32_t queue_size[TG_CLASSES];
};

static uint64_t align(uint64_t offset)
{
    return (offset + 63) / 64 * 64;
}

/* The slots of a class's queue: enough for all its tasks, and a power of two for the mask; 0 if the
 * class has no tasks. */
static uint32_t queue_slots(const struct tg_graph *g, uint64_t tasks)
{
    enum { LINE = 1024 }; /* as many cores as a GPU has can stand in line, and come again */
    bool has_line = g->module->device->ops->cores_wait_at_tasks;
    uint64_t slots = tasks == 0 ? 0 : has_line ? LINE : 1;
    while (slots < tasks)
        slots *= 2;
    return (uint32_t)slots;
}

static tg_status plan(const struct tg_graph *g, struct layout *at, struct tg_error *error)
{
    uint64_t offset, n_ready = 0;
    if (g->tasks.count >= (uint64_t)1 << 31 && g->module->device->ops->cores_wait_at_tasks)
        return tg_error_set(error, TG_NO_MEMORY,
                            "2^31 tasks or more, on a platform whose cores "
                            "need a bit of a task's number");
    for (uint32_t c = 0; c < TG_CLASSES; c++)
        n_ready += g->n_ready[c];
    at->ready = align(sizeof(struct tg_launch));
    at->succ = align(at->ready + n_ready * sizeof(uint32_t));
    at->desc = align(at->succ + g->n_edges * sizeof(uint32_t));
    offset = align(at->desc + g->tasks.count * sizeof(struct tg_task_desc));
    for (uint32_t c = 0; c < TG_CLASSES; c++) {
        if (g->class_count[c] > UINT32_MAX / 2 + 1)
            return tg_error_set(error, TG_NO_MEMORY, "more than 2^31 tasks of one kind");
        at->queue_size[c] = queue_slots(g, g->class_count[c]);
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
    g->image_ready = 0;
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

/* Sets each task's `n_succ` to the end of its list, which list_successors moves to the start and
 * send_tasks turns into their number again. Nothing may fail in between. */
static void number_successors(struct tg_graph *g)
{
    uint32_t end = 0;
    for (uint64_t t = 0; t < g->tasks.count; t++) {
        struct tg_host_task *task = &g->tasks.at[t];
        end += task->n_succ;
        task->n_succ = end;
    }
}

/* Fills each list backwards from its end, so that successors keep the order of their edges. */
static void list_successors(struct tg_graph *g, uint32_t *succ)
{
    for (uint64_t i = g->n_edges; i-- > 0;)
        succ[--g->tasks.at[g->edge[i].before].n_succ] = g->edge[i].after;
}

/* Announces the image up to `end` to the device, unless that was done before for this memory. */
static void expect(struct tg_graph *g, uint64_t end)
{
    enum { SMALL = 16 << 10 }; /* touches fewer pages than an announcement is worth */
    if (end <= g->image_ready)
        return;
    if (end > SMALL)
        tg_device_expect(g->module->device, g->image + g->image_ready, end - g->image_ready);
    g->image_ready = end;
}

/* How far send_tasks has come. */
struct walk {
    uint64_t t;
    uint32_t chunk; /* of the arguments */
    uint32_t *ready[TG_CLASSES];
    /* A bit for each task: it is somebody's heir; and a core waits at it while its predecessor has yet to
     * start. NULL: heirs do not matter, or memory ran out. */
    uint64_t *is_heir, *is_awaited;
};

static bool has_bit(const uint64_t *bits, uint32_t task)
{
    return (bits[task / 64] >> task % 64 & 1) != 0;
}

static void set_bit(uint64_t *bits, uint32_t task)
{
    bits[task / 64] |= (uint64_t)1 << task % 64;
}

static uint8_t class_of(const struct tg_graph *g, uint32_t task)
{
    return g->tasks.kind[g->tasks.at[task].kind].task_class;
}

/* True if a core that has run task number w->t can wait at this one, and nobody else does. */
static bool is_free(const struct tg_graph *g, const struct walk *w, uint32_t task)
{
    return task > w->t && !has_bit(w->is_heir, task) &&
           g->tasks.at[task].fanin <= TG_MOST_COUNTED &&
           class_of(g, task) == class_of(g, (uint32_t)w->t) && class_of(g, task) != TG_CLASS_MIX;
}

/* The successors of a task behind number w->t: only of such is n_succ still where they begin. */
static const uint32_t *successors(const struct tg_graph *g, const uint32_t *succ, uint32_t task,
                                  uint32_t *n)
{
    const struct tg_host_task *at = &g->tasks.at[task];
    bool last = (uint64_t)task + 1 == g->tasks.count;
    *n = (last ? (uint32_t)g->n_edges : at[1].n_succ) - at->n_succ;
    return succ + at->n_succ;
}

/* An heir for a task all of whose successors are others' heirs: a task where one of these parts again, perhaps
 * after some that follow one by one. The first there is left to the core that comes to it. */
static void choose_beyond(const struct tg_graph *g, const struct walk *w, const uint32_t *succ,
                          const uint32_t *own, struct tg_task_desc *desc)
{
    enum { LOOKS = 64 };
    for (uint32_t i = 0, looks = 0; i < desc->n_succ && looks < LOOKS; i++, looks++) {
        uint32_t n = 1;
        const uint32_t *next = own + i;
        while (n == 1 && *next > w->t && looks++ < LOOKS)
            next = successors(g, succ, *next, &n);
        for (uint32_t k = 1; k < n && looks < LOOKS; k++, looks++) {
            if (!is_free(g, w, next[k]))
                continue;
            set_bit(w->is_heir, next[k]);
            set_bit(w->is_awaited, next[k]);
            desc->next = next[k];
            desc->n_parts |= TG_DESC_BEYOND;
            return;
        }
    }
}

/* The heir of a task: the first of its successors that is nobody's heir yet. So each column of a grid has its
 * own tasks, whatever else they wait for. */
static void choose_heir(const struct tg_graph *g, const struct walk *w, const uint32_t *succ,
                        const uint32_t *own, struct tg_task_desc *desc)
{
    uint32_t n = desc->n_succ;
    desc->next = n > 0 ? own[0] : 0;
    if (w->is_heir == NULL)
        return;
    if (desc->fanin == 1 && has_bit(w->is_awaited, (uint32_t)w->t))
        desc->n_parts |= TG_DESC_AWAITED;
    for (uint32_t i = 0; i < n; i++) {
        if (has_bit(w->is_heir, own[i]))
            continue;
        set_bit(w->is_heir, own[i]);
        desc->next = own[i];
        return;
    }
    choose_beyond(g, w, succ, own, desc);
}

/* Makes the descriptors of the next n tasks, and lists those that are ready. */
static void make_descs(struct tg_graph *g, struct walk *w, uint64_t n, const uint32_t *succ,
                       struct tg_task_desc *to)
{
    for (uint64_t end = w->t + n; w->t < end; w->t++) {
        struct tg_host_task *task = &g->tasks.at[w->t];
        bool last = w->t + 1 == g->tasks.count;
        uint32_t first = task->n_succ;
        struct tg_task_desc desc;
        task->n_succ = (last ? (uint32_t)g->n_edges : task[1].n_succ) - first;
        desc = tg_graph_tasks_desc(&g->tasks, w->t);
        w->chunk = tg_graph_args_chunk_after(&g->args, w->chunk, w->t);
        if (desc.n_tensors + desc.n_scalars > 0)
            desc.args = tg_graph_args_offset(&g->args, w->chunk, task->args);
        desc.succ = first;
        choose_heir(g, w, succ, succ + first, &desc);
        if (task->fanin == 0)
            *w->ready[desc.task_class]++ = (uint32_t)w->t + 1;
        *to++ = desc;
    }
}

/* Makes the descriptors where the device has them if the host sees that memory; otherwise in `own`,
 * which stays in the cache while it is sent. */
static tg_status send_tasks(struct tg_graph *g, const struct layout *at, const uint32_t *succ,
                            uint32_t *ready, struct tg_task_desc *own, struct tg_error *error)
{
    struct tg_device *device = g->module->device;
    struct walk w = {0};
    tg_status status = TG_OK;
    if (device->ops->cores_wait_at_tasks)
        w.is_heir = calloc(g->tasks.count / 64 + 1, 2 * sizeof *w.is_heir);
    if (w.is_heir != NULL)
        w.is_awaited = w.is_heir + g->tasks.count / 64 + 1;
    for (uint32_t c = 0; c < TG_CLASSES; ready += g->n_ready[c++])
        w.ready[c] = ready;
    while (w.t < g->tasks.count) {
        uint64_t left = g->tasks.count - w.t, n = left < DESCS_AT_ONCE ? left : DESCS_AT_ONCE;
        uint64_t address = g->image + at->desc + w.t * sizeof *own, size = n * sizeof *own;
        struct tg_task_desc *to = own != NULL ? own : tg_device_map(device, address, size);
        if (own == NULL)
            expect(g, address + size - g->image);
        make_descs(g, &w, n, succ, to);
        if (own != NULL && status == TG_OK)
            status = tg_device_copy_in(device, address, own, size, error);
    }
    free(w.is_heir);
    return status;
}

static struct tg_launch describe(const struct tg_graph *g, const struct layout *at)
{
    struct tg_launch launch = {
        .magic = TG_LAUNCH_MAGIC,
        .edges = TG_EDGES_FIXED,
        .n_tasks = (uint32_t)g->tasks.count,
        .desc = g->image + at->desc,
        .succ = g->image + at->succ,
        .payload = g->module->device->head.memory_start,
    };
    uint64_t ready = g->image + at->ready;
    for (uint32_t c = 0; c < TG_CLASSES; c++) {
        launch.ready[c] = ready;
        launch.n_ready[c] = g->n_ready[c];
        launch.queue[c] = g->image + at->queue[c];
        launch.queue_size[c] = at->queue_size[c];
        ready += g->n_ready[c] * sizeof(uint32_t);
    }
    return launch;
}

/* Makes the image on the device. `head` has room for its head (launch, ready, succ; at->desc bytes) and,
 * if it is not device memory itself, for DESCS_AT_ONCE descriptors behind that. */
static tg_status send(struct tg_graph *g, struct layout *at, char *head, bool mapped,
                      struct tg_error *error)
{
    struct tg_device *device = g->module->device;
    struct tg_task_desc *own = mapped ? NULL : (struct tg_task_desc *)(head + at->desc);
    uint32_t *succ = (uint32_t *)(head + at->succ);
    struct tg_launch launch;
    tg_status status;
    if (mapped)
        expect(g, at->desc);
    number_successors(g);
    list_successors(g, succ);
    status = send_tasks(g, at, succ, (uint32_t *)(head + at->ready), own, error);
    if (status == TG_OK)
        status = tg_graph_args_send(&g->args, error);
    launch = describe(g, at);
    memcpy(head, &launch, sizeof launch);
    if (status == TG_OK && !mapped)
        status = tg_device_copy_in(device, g->image, head, at->desc, error);
    g->told = (struct tg_graph_told){0};
    return status;
}

/* BAD_ARGUMENT with a message if a tensor of the task is not in device memory. */
static tg_status explain_task(struct tg_graph *g, uint64_t task, struct tg_error *error)
{
    struct tg_task_desc desc = tg_graph_desc(g, task);
    struct tg_tensor tensors[TG_MAX_TENSORS];
    for (uint32_t part = 0; part < TG_PARTS; part++)
        if (desc.kernel[part] != TG_NO_KERNEL)
            desc.kernel[part] -= g->module->first;
    if (!tg_graph_tensors(g, &desc, tensors))
        return TG_OK;
    return tg_task_explain_memory(g->module, desc.kernel, tensors, desc.n_tensors, task, error);
}

/* Tensors must be in this device's memory, behind its control area. A host pointer or another
 * device's address is reported here instead of crashing the device. */
static tg_status check_addresses(struct tg_graph *g, struct tg_error *error)
{
    const struct tg_control_head *head = &g->module->device->head;
    uint64_t start = head->memory_start, end = head->memory_end;
    if (g->end == 0 || (g->lowest >= start && g->end <= end))
        return TG_OK;
    for (uint64_t i = 0; i < g->tasks.count; i++)
        if (explain_task(g, i, error) != TG_OK)
            return TG_BAD_ARGUMENT;
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
    status = plan(g, &at, error);
    if (status == TG_OK)
        status = want_image(g, at.size, error);
    if (status != TG_OK)
        return status;
    /* If the host can write device memory, it makes the image in place. */
    head = tg_device_map(device, g->image, at.size);
    if (head == NULL)
        head = own = malloc(at.desc + DESCS_AT_ONCE * sizeof(struct tg_task_desc));
    if (head == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    status = send(g, &at, head, own == NULL, error);
    free(own);
    g->resident = status == TG_OK;
    return status;
}

bool tg_graph_read_pending(const struct tg_graph *g, uint64_t task, uint32_t *pending)
{
    struct layout at;
    if (g->layout != NULL || g->image == 0 || task >= g->tasks.count || plan(g, &at, NULL) != TG_OK)
        return false;
    uint64_t address = g->image + at.desc + task * sizeof(struct tg_task_desc);
    if (tg_device_copy_out(g->module->device, pending,
                           address + offsetof(struct tg_task_desc, pending), sizeof *pending,
                           NULL) != TG_OK)
        return false;
    if (g->tasks.at[task].fanin <= TG_MOST_COUNTED)
        *pending &= TG_MOST_COUNTED;
    return true;
}
