/* SPDX-License-Identifier: Apache-2.0 */
/* Building a graph: this is the hot path of the host, a few dozen instructions a task. */
#include "host/graph.h"
#include "base/error.h"
#include <stdlib.h>
#include <string.h>

#define MAX_TASKS (UINT32_MAX - 1) /* queues hold index + 1 in 32 bits */
#define MAX_EDGES UINT32_MAX

/* ── storage ───────────────────────────────────────────────────────────────────────────── */

static tg_status grow_array(void **array, uint64_t *room, uint64_t wanted, size_t element,
                            struct tg_error *error)
{
    uint64_t larger = *room < 1024 ? 1024 : *room;
    void *grown;
    while (larger < wanted)
        larger *= 2;
    grown = realloc(*array, larger * element);
    if (grown == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory for the graph");
    *array = grown;
    *room = larger;
    return TG_OK;
}

static inline tg_status want_tasks(struct tg_graph *g, uint64_t wanted, struct tg_error *error)
{
    if (wanted <= g->room_tasks)
        return TG_OK;
    if (wanted > MAX_TASKS)
        return tg_error_set(error, TG_NO_MEMORY, "a graph has at most %u tasks", MAX_TASKS);
    return grow_array((void **)&g->desc, &g->room_tasks, wanted, sizeof *g->desc, error);
}

static inline tg_status want_edges(struct tg_graph *g, uint64_t wanted, struct tg_error *error)
{
    if (wanted <= g->room_edges)
        return TG_OK;
    if (wanted > MAX_EDGES)
        return tg_error_set(error, TG_NO_MEMORY, "a graph has at most %u edges", MAX_EDGES);
    return grow_array((void **)&g->edge, &g->room_edges, wanted, sizeof *g->edge, error);
}

tg_status tg_graph_create(struct tg_module *module, struct tg_graph **out, struct tg_error *error)
{
    struct tg_graph *g = calloc(1, sizeof *g);
    if (g == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    g->module = module;
    tg_graph_clear(g);
    *out = g;
    return TG_OK;
}

void tg_graph_clear(struct tg_graph *g)
{
    g->n_tasks = g->n_edges = g->payload_used = 0;
    g->n_sites = g->current_site = 0;
    memset(g->class_count, 0, sizeof g->class_count);
    g->may_cycle = g->resident = false;
    g->lowest = UINT64_MAX;
    g->end = 0;
}

void tg_graph_destroy(struct tg_graph *g)
{
    if (g == NULL)
        return;
    if (g->image != 0)
        tg_device_free(g->module->device, g->image, NULL);
    free(g->desc);
    free(g->edge);
    free(g->payload);
    free(g->site);
    free(g);
}

tg_status tg_graph_reserve(struct tg_graph *g, uint64_t tasks, uint64_t edges)
{
    tg_status status = want_tasks(g, tasks, NULL);
    return status == TG_OK ? want_edges(g, edges, NULL) : status;
}

tg_status tg_graph_set_site(struct tg_graph *g, const char *site, struct tg_error *error)
{
    /* Scopes nest and repeat: the one we were in before is usually the last or the one before. */
    for (uint32_t i = g->n_sites; i > 0 && i + 8 > g->n_sites; i--) {
        if (g->site[i - 1] == site) {
            g->current_site = i - 1;
            return TG_OK;
        }
    }
    if (g->n_sites == g->room_sites) {
        uint32_t room = g->room_sites ? 2 * g->room_sites : 16;
        const char **grown = realloc(g->site, room * sizeof *grown);
        if (grown == NULL)
            return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
        g->site = grown;
        g->room_sites = room;
    }
    g->current_site = g->n_sites;
    g->site[g->n_sites++] = site;
    return TG_OK;
}

/* ── tasks ─────────────────────────────────────────────────────────────────────────────── */

static tg_status bad_tensor(const struct tg_graph *g, const struct tg_args *args, uint32_t i,
                            struct tg_error *error)
{
    const struct tg_tensor *t = &args->tensor[i];
    unsigned long long task = g->n_tasks;
    if (tg_bits_of(t->dtype) == 0 || t->ndim > TG_MAX_DIMS)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "task %llu argument %u: not a tensor (a view outside its tensor, or "
                            "never set)",
                            task, i);
    if (args->role[i] < TG_IN || args->role[i] > TG_INOUT)
        return tg_error_set(error, TG_BAD_ARGUMENT, "task %llu argument %u: role %u is none", task,
                            i, args->role[i]);
    if (tg_tensor_valid(t))
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "task %llu argument %u: an output cannot have a stride of 0", task, i);
    return tg_error_set(error, TG_BAD_ARGUMENT,
                        "task %llu argument %u: the view leaves its storage of %llu bytes", task, i,
                        (unsigned long long)t->storage_bytes);
}

/* The device addresses that tensors touch: [lowest, end). */
struct range {
    uint64_t lowest, end;
};

/* Widens the range by what the tensors touch. */
static tg_status check_tensors(const struct tg_graph *g, const struct tg_args *args,
                               struct range *touched, struct tg_error *error)
{
    for (uint32_t i = 0; i < args->n_tensors; i++) {
        const struct tg_tensor *t = &args->tensor[i];
        if (!tg_tensor_valid(t) || args->role[i] < TG_IN || args->role[i] > TG_INOUT ||
            (args->role[i] != TG_IN && tg_tensor_repeats(t)) ||
            t->addr > UINT64_MAX - t->storage_bytes)
            return bad_tensor(g, args, i, error);
        if (t->storage_bytes == 0)
            continue;
        if (t->addr < touched->lowest)
            touched->lowest = t->addr;
        if (t->addr + t->storage_bytes > touched->end)
            touched->end = t->addr + t->storage_bytes;
    }
    return TG_OK;
}

static tg_status check_signature(const struct tg_graph *g, uint32_t kernel,
                                 const struct tg_args *args, struct tg_error *error)
{
    const struct tg_kernel_info *info = &g->module->kernels[kernel];
    struct tg_error why;
    if (tg_signature_matches(&info->signature, args))
        return TG_OK;
    tg_signature_explain(&info->signature, args, &why);
    return tg_error_set(error, TG_BAD_ARGUMENT, "task %llu (%s): %s",
                        (unsigned long long)g->n_tasks, info->name, why.text);
}

static tg_status check_args(const struct tg_graph *g, const struct tg_task_desc *desc,
                            const struct tg_args *args, struct range *touched,
                            struct tg_error *error)
{
    if (args->overflow || args->n_tensors > TG_MAX_TENSORS || args->n_scalars > TG_MAX_SCALARS ||
        args->n_after > TG_MAX_INLINE_AFTER)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "task %llu: more than %d tensors, %d scalars or %d single "
                            "predecessors (use tg_args_after_all for more of those)",
                            (unsigned long long)g->n_tasks, TG_MAX_TENSORS, TG_MAX_SCALARS,
                            TG_MAX_INLINE_AFTER);
    tg_status status = check_tensors(g, args, touched, error);
    for (uint32_t part = 0; status == TG_OK && part < TG_PARTS; part++)
        if (desc->kernel[part] != TG_NO_KERNEL)
            status = check_signature(g, desc->kernel[part] - g->module->first, args, error);
    return status;
}

static tg_status copy_args(struct tg_graph *g, struct tg_task_desc *desc,
                           const struct tg_args *args, struct tg_error *error)
{
    uint64_t tensors = args->n_tensors * sizeof args->tensor[0];
    uint64_t scalars = args->n_scalars * sizeof args->scalar[0];
    desc->args = g->payload_used;
    desc->n_tensors = args->n_tensors;
    desc->n_scalars = args->n_scalars;
    for (uint32_t i = 0; i < args->n_tensors; i++)
        desc->roles |= (uint32_t)args->role[i] << (2 * i);
    desc->marks = (args->tensor_marks & ((1u << args->n_tensors) - 1)) |
                  (args->scalar_marks & ((1u << args->n_scalars) - 1)) << args->n_tensors;
    if (tensors + scalars == 0)
        return TG_OK;
    if (g->payload_used + tensors + scalars > g->payload_room) {
        tg_status status = grow_array((void **)&g->payload, &g->payload_room,
                                      g->payload_used + tensors + scalars, 1, error);
        if (status != TG_OK)
            return status;
    }
    memcpy(g->payload + g->payload_used, args->tensor, tensors);
    memcpy(g->payload + g->payload_used + tensors, args->scalar, scalars);
    g->payload_used += tensors + scalars;
    return TG_OK;
}

static tg_status bad_kernel(const struct tg_graph *g, uint32_t part, uint32_t kernel,
                            struct tg_error *error)
{
    static const char *const parts[] = {"AIC", "AIV0", "AIV1"};
    if (kernel == TG_NO_KERNEL)
        return tg_error_set(error, TG_BAD_ARGUMENT, "task %llu: a task without a kernel",
                            (unsigned long long)g->n_tasks);
    if (kernel >= g->module->n_kernels)
        return tg_error_set(error, TG_BAD_ARGUMENT, "task %llu: no kernel %u; the module has %u",
                            (unsigned long long)g->n_tasks, kernel, g->module->n_kernels);
    return tg_error_set(error, TG_BAD_ARGUMENT, "task %llu: kernel %s cannot be part %s of a mix",
                        (unsigned long long)g->n_tasks, g->module->kernels[kernel].name,
                        parts[part]);
}

static void set_class(struct tg_task_desc *desc, uint8_t n_parts, enum tg_task_class task_class)
{
    desc->n_parts = n_parts;
    desc->task_class = (uint8_t)task_class;
}

static inline tg_status set_one_kernel(const struct tg_graph *g, struct tg_task_desc *desc,
                                       uint32_t kernel, struct tg_error *error)
{
    bool aic;
    if (kernel >= g->module->n_kernels)
        return bad_kernel(g, 0, kernel, error);
    aic = g->module->kernels[kernel].core == TG_AIC;
    desc->kernel[TG_PART_AIC] = aic ? g->module->first + kernel : TG_NO_KERNEL;
    desc->kernel[TG_PART_AIV0] = aic ? TG_NO_KERNEL : g->module->first + kernel;
    desc->kernel[TG_PART_AIV1] = TG_NO_KERNEL;
    set_class(desc, 1, aic ? TG_CLASS_AIC : TG_CLASS_AIV);
    return TG_OK;
}

static tg_status set_mix_kernels(const struct tg_graph *g, struct tg_task_desc *desc,
                                 const uint32_t kernel[TG_PARTS], struct tg_error *error)
{
    for (uint32_t part = 0; part < TG_PARTS; part++) {
        enum tg_core_kind core = part == TG_PART_AIC ? TG_AIC : TG_AIV;
        desc->kernel[part] = TG_NO_KERNEL;
        if (kernel[part] == TG_NO_KERNEL)
            continue;
        if (kernel[part] >= g->module->n_kernels || g->module->kernels[kernel[part]].core != core)
            return bad_kernel(g, part, kernel[part], error);
        desc->kernel[part] = g->module->first + kernel[part];
    }
    return TG_OK;
}

/* The task's descriptor is at desc[n_tasks] and has its kernels; all or nothing from here. */
static tg_status add_described(struct tg_graph *g, const struct tg_args *args, uint64_t *task,
                               struct tg_error *error)
{
    static const struct tg_args none;
    struct tg_task_desc *desc = &g->desc[g->n_tasks];
    struct range touched = {g->lowest, g->end};
    uint64_t id = g->n_tasks, n_after;
    tg_status status;
    if (args == NULL)
        args = &none;
    desc->id = id; /* ring 0 */
    desc->n_tensors = desc->n_scalars = 0;
    desc->args = 0;
    desc->roles = desc->marks = 0;
    desc->fanin = desc->n_succ = desc->succ = desc->pending = 0;
    desc->site = g->current_site;
    desc->reserved = 0;
    status = check_args(g, desc, args, &touched, error);
    n_after = (uint64_t)args->n_after + args->n_more_after;
    if (status == TG_OK)
        status = want_edges(g, g->n_edges + n_after, error);
    for (uint64_t i = 0; status == TG_OK && i < n_after; i++) {
        uint64_t before = i < args->n_after ? args->after[i] : args->more_after[i - args->n_after];
        if (before >= id)
            status = tg_error_set(error, TG_BAD_ARGUMENT,
                                  "task %llu waits for task %llu, which is not there yet",
                                  (unsigned long long)id, (unsigned long long)before);
    }
    if (status == TG_OK)
        status = copy_args(g, desc, args, error);
    if (status != TG_OK)
        return status;
    for (uint64_t i = 0; i < n_after; i++) {
        uint64_t before = i < args->n_after ? args->after[i] : args->more_after[i - args->n_after];
        g->desc[before].n_succ++;
        g->edge[g->n_edges++] = (struct tg_edge){(uint32_t)before, (uint32_t)id};
    }
    desc->fanin = (uint32_t)n_after;
    g->lowest = touched.lowest;
    g->end = touched.end;
    g->class_count[desc->task_class]++;
    g->n_tasks++;
    g->resident = false;
    if (task != NULL)
        *task = id;
    return TG_OK;
}

tg_status tg_graph_add(struct tg_graph *g, uint32_t kernel, const struct tg_args *args,
                       uint64_t *task, struct tg_error *error)
{
    tg_status status = want_tasks(g, g->n_tasks + 1, error);
    if (status == TG_OK)
        status = set_one_kernel(g, &g->desc[g->n_tasks], kernel, error);
    return status == TG_OK ? add_described(g, args, task, error) : status;
}

tg_status tg_graph_add_mix(struct tg_graph *g, const uint32_t kernel[TG_PARTS],
                           const struct tg_args *args, uint64_t *task, struct tg_error *error)
{
    tg_status status = want_tasks(g, g->n_tasks + 1, error);
    uint32_t present = 0, only = TG_NO_KERNEL;
    for (uint32_t part = 0; part < TG_PARTS; part++) {
        if (kernel[part] != TG_NO_KERNEL) {
            only = kernel[part];
            present++;
        }
    }
    if (status != TG_OK)
        return status;
    if (present <= 1)
        status = set_one_kernel(g, &g->desc[g->n_tasks], only, error);
    else
        status = set_mix_kernels(g, &g->desc[g->n_tasks], kernel, error);
    if (status != TG_OK)
        return status;
    if (present > 1)
        set_class(&g->desc[g->n_tasks], (uint8_t)present, TG_CLASS_MIX);
    return add_described(g, args, task, error);
}

/* ── edges ─────────────────────────────────────────────────────────────────────────────── */

tg_status tg_graph_add_edge(struct tg_graph *g, uint64_t before, uint64_t after,
                            struct tg_error *error)
{
    tg_status status;
    if (before >= g->n_tasks || after >= g->n_tasks)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "edge from task %lld to task %lld: the graph has %llu tasks",
                            (long long)before, (long long)after, (unsigned long long)g->n_tasks);
    if (before == after)
        return tg_error_set(error, TG_BAD_ARGUMENT, "edge from task %llu to itself",
                            (unsigned long long)before);
    status = want_edges(g, g->n_edges + 1, error);
    if (status != TG_OK)
        return status;
    g->may_cycle |= before > after;
    g->desc[before].n_succ++;
    g->desc[after].fanin++;
    g->edge[g->n_edges++] = (struct tg_edge){(uint32_t)before, (uint32_t)after};
    g->resident = false;
    return TG_OK;
}

uint64_t tg_graph_tasks(const struct tg_graph *g)
{
    return g->n_tasks;
}

uint64_t tg_graph_edges(const struct tg_graph *g)
{
    return g->n_edges;
}

const struct tg_task_desc *tg_graph_desc(const struct tg_graph *g, uint64_t task)
{
    return &g->desc[task];
}

const char *tg_graph_site(const struct tg_graph *g, uint64_t task)
{
    return g->desc[task].site < g->n_sites ? g->site[g->desc[task].site] : "";
}

const char *tg_graph_kernel_name(const struct tg_graph *g, uint32_t kernel)
{
    uint32_t index = kernel - g->module->first;
    return index < g->module->n_kernels ? g->module->kernels[index].name : "";
}

const struct tg_edge *tg_graph_edge_list(const struct tg_graph *g, uint64_t *count)
{
    *count = g->n_edges;
    return g->edge;
}

tg_status tg_graph_check(struct tg_graph *g, struct tg_error *error)
{
    /* Edges that all go from an earlier to a later task cannot close a cycle. */
    return g->may_cycle ? tg_graph_find_cycle(g, error) : TG_OK;
}
