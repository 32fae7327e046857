/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a graph. This is the host's hot path: a few dozen instructions per task. */
#include "host/graph.h"
#include "base/error.h"
#include "base/grow.h"
#include "common/stored_args.h"
#include "common/task_check.h"
#include "host/device_log.h"
#include "host/run.h"
#include "host/task_check.h"
#include <stdlib.h>
#include <string.h>

#define MAX_TASKS (UINT32_MAX - 1) /* queues hold index + 1 in 32 bits */
#define MAX_EDGES UINT32_MAX

/* ── storage ───────────────────────────────────────────────────────────────────────────── */

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "out of host memory for the graph");
}

static inline tg_status want_tasks(struct tg_graph *g, uint64_t wanted, struct tg_error *error)
{
    if (wanted <= g->tasks.room)
        return TG_OK;
    if (g->layout != NULL)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "the device builds this graph: the host cannot add tasks");
    if (wanted > MAX_TASKS)
        return tg_error_set(error, TG_NO_MEMORY, "a graph has at most %u tasks", MAX_TASKS);
    return tg_grow_more(&g->tasks.at, &g->tasks.room, wanted, sizeof *g->tasks.at)
               ? TG_OK
               : no_memory(error);
}

static inline tg_status want_edges(struct tg_graph *g, uint64_t wanted, struct tg_error *error)
{
    if (wanted <= g->room_edges)
        return TG_OK;
    if (wanted > MAX_EDGES)
        return tg_error_set(error, TG_NO_MEMORY, "a graph has at most %u edges", MAX_EDGES);
    return tg_grow_more(&g->edge, &g->room_edges, wanted, sizeof *g->edge) ? TG_OK
                                                                           : no_memory(error);
}

static void free_memory(struct tg_graph *g)
{
    while (g->n_memory > 0) /* backwards: the cheapest order for the device's heap */
        tg_device_free(g->module->device, g->memory[--g->n_memory], NULL);
}

tg_status tg_graph_alloc(struct tg_graph *g, uint64_t bytes, uint64_t *address,
                         struct tg_error *error)
{
    tg_status status = TG_OK;
    if (!tg_grow(&g->memory, &g->room_memory, (size_t)g->n_memory + 1, sizeof *g->memory))
        return no_memory(error);
    status = tg_device_alloc(g->module->device, bytes, address, error);
    if (status == TG_OK)
        g->memory[g->n_memory++] = *address;
    return status;
}

static void empty(struct tg_graph *g)
{
    free_memory(g);
    free(g->given);
    g->given = NULL;
    free(g->comm_counts);
    g->comm_counts = NULL;
    g->has_calls = false;
    g->n_edges = 0;
    tg_graph_tasks_clear(&g->tasks);
    tg_graph_args_clear(&g->args);
    g->n_sites = g->current_site = g->current_line = 0;
    memset(g->recent_line, 0, sizeof g->recent_line);
    memset(g->class_count, 0, sizeof g->class_count);
    memset(g->n_ready, 0, sizeof g->n_ready);
    g->may_cycle = g->resident = false;
    g->lowest = UINT64_MAX;
    g->end = 0;
}

tg_status tg_graph_create(struct tg_module *module, struct tg_graph **out, struct tg_error *error)
{
    TG_REFUSE_NULL_AS(error, out, "graph");
    *out = NULL;
    TG_REFUSE_NULL(error, module);
    struct tg_graph *g = calloc(1, sizeof *g);
    if (g == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    g->module = module;
    g->args.device = module->device;
    empty(g);
    *out = g;
    return TG_OK;
}

tg_status tg_graph_reset(struct tg_graph *g, struct tg_error *error)
{
    TG_REFUSE_NULL_AS(error, g, "graph");
    const struct tg_run *run = g->module->device->run;
    if (g->layout != NULL)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "the device builds this graph anew in every run, in the same memory");
    if (run != NULL && run->graph == g)
        return tg_error_set(error, TG_BUSY, "the graph runs; wait for the run or cancel it");
    empty(g);
    return TG_OK;
}

void tg_graph_clear(struct tg_graph *g)
{
    (void)tg_graph_reset(g, NULL);
}

void tg_graph_destroy(struct tg_graph *g)
{
    if (g == NULL)
        return;
    tg_device_log_destroy(g->log);
    if (g->image != 0)
        tg_device_free(g->module->device, g->image, NULL);
    tg_graph_args_free(&g->args);
    free_memory(g);
    free(g->memory);
    tg_graph_tasks_free(&g->tasks);
    free(g->edge);
    free(g->site);
    tg_graph_free_beside(g);
    free(g->layout);
    free(g->given);
    free(g->comm_counts);
    free(g);
}

tg_status tg_graph_reserve(struct tg_graph *g, uint64_t tasks, uint64_t edges)
{
    if (g == NULL)
        return TG_BAD_ARGUMENT;
    tg_status status = want_tasks(g, tasks, NULL);
    return status == TG_OK ? want_edges(g, edges, NULL) : status;
}

tg_status tg_graph_set_site(struct tg_graph *g, const char *site, struct tg_error *error)
{
    /* Scopes nest and repeat, so the site is usually among the last few. */
    for (uint32_t i = g->n_sites; i > 0 && i + 8 > g->n_sites; i--) {
        if (g->site[i - 1] == site) {
            g->current_site = i - 1;
            return TG_OK;
        }
    }
    if (!tg_grow(&g->site, &g->room_sites, (size_t)g->n_sites + 1, sizeof *g->site))
        return no_memory(error);
    g->current_site = g->n_sites;
    g->site[g->n_sites++] = site;
    return TG_OK;
}

tg_status tg_graph_set_line(struct tg_graph *g, const char *line, struct tg_error *error)
{
    uint32_t hash = (uint32_t)((uintptr_t)line * UINT64_C(0x9e3779b97f4a7c15) >> 58);
    uint32_t *recent = &g->recent_line[hash % TG_RECENT_LINES];
    g->current_line = 0;
    if (line == NULL)
        return TG_OK;
    if (*recent == 0 || g->site[*recent - 1] != line) {
        if (!tg_grow(&g->site, &g->room_sites, (size_t)g->n_sites + 1, sizeof *g->site))
            return no_memory(error);
        g->site[g->n_sites++] = line;
        *recent = g->n_sites;
    }
    g->current_line = *recent;
    return TG_OK;
}

/* ── tasks ─────────────────────────────────────────────────────────────────────────────── */

/* The device addresses that tensors use: [lowest, end). */
struct range {
    uint64_t lowest, end;
};

/* Widens the range by the addresses that a tensor uses. False if they wrap around. */
static bool touch(struct range *touched, const struct tg_tensor *t)
{
    if (t->addr > UINT64_MAX - t->storage_bytes)
        return false;
    if (t->storage_bytes == 0)
        return true;
    if (t->addr < touched->lowest)
        touched->lowest = t->addr;
    if (t->addr + t->storage_bytes > touched->end)
        touched->end = t->addr + t->storage_bytes;
    return true;
}

/* Checks the kernels of the task, and sets them in the descriptor. */
static bool check_kernels(const struct tg_graph *g, struct tg_task_desc *desc,
                          const uint32_t kernel[TG_PARTS], const struct tg_args *args)
{
    const struct tg_module *m = g->module;
    if (!tg_args_within_limits(args) ||
        !tg_task_set_kernels(desc, kernel, m->kernels,
                             g->calls ? m->n_kernels : m->workload->n_kernels, m->first))
        return false;
    for (uint32_t part = 0; part < TG_PARTS; part++)
        if (desc->kernel[part] != TG_NO_KERNEL &&
            !tg_signature_fits(&m->kernels[desc->kernel[part] - m->first], args))
            return false;
    return true;
}

static tg_status want_args(struct tg_graph *g, const struct tg_args *args, struct tg_error *error)
{
    uint64_t most = tg_stored_most_bytes(args->n_tensors, args->n_scalars);
    return most > 0 ? tg_graph_args_want(&g->args, most, g->tasks.count, error) : TG_OK;
}

/* Checks the arguments and stores them behind those of the last task; they do not count before add()
 * says so. False if one is not valid. */
static bool put_args(const struct tg_graph *g, struct tg_task_desc *desc,
                     const struct tg_args *args, struct range *touched, uint64_t **end)
{
    uint64_t *to = g->args.at;
    *end = to;
    if (args->n_tensors + args->n_scalars == 0)
        return true;
    desc->n_tensors = args->n_tensors;
    desc->n_scalars = args->n_scalars;
    desc->roles = tg_args_roles(args);
    desc->marks = args->tensor_marks | args->scalar_marks ? tg_args_marks(args) : 0;
    for (uint32_t i = 0; i < args->n_scalars; i++)
        to = tg_stored_put_scalar(to, &args->scalar[i]);
    for (uint32_t i = 0; i < args->n_tensors; i++) {
        to = tg_stored_put_checked(to, &args->tensor[i]);
        if (to == NULL || !tg_role_fits(args, i) || !touch(touched, &args->tensor[i]))
            return false;
    }
    *end = to;
    return true;
}

static uint64_t predecessor(const struct tg_args *args, uint64_t i)
{
    return i < args->n_after ? args->after[i] : args->more_after[i - args->n_after];
}

/* Checks that all tasks exist that the new one waits for, and makes room for its edges. */
static tg_status want_after(struct tg_graph *g, const struct tg_args *args, uint64_t n_after,
                            struct tg_error *error)
{
    uint64_t n_tasks = g->tasks.count;
    tg_status status = want_edges(g, g->n_edges + n_after, error);
    for (uint64_t i = 0; status == TG_OK && i < n_after; i++) {
        uint64_t before = predecessor(args, i);
        if (before >= n_tasks && before != TG_TASK_NONE)
            status = tg_error_set(error, TG_BAD_ARGUMENT,
                                  "task %llu waits for task %llu, which does not exist yet",
                                  (unsigned long long)n_tasks, (unsigned long long)before);
    }
    return status;
}

/* Adds the edges to a task for which want_after has made room; returns how many they are. */
static uint32_t add_after(struct tg_graph *g, const struct tg_args *args, uint64_t n_after,
                          uint64_t id)
{
    uint32_t fanin = 0;
    for (uint64_t i = 0; i < n_after; i++) {
        uint64_t before = predecessor(args, i);
        if (before == TG_TASK_NONE)
            continue;
        g->tasks.at[before].n_succ++;
        fanin++;
        g->edge[g->n_edges++] = (struct tg_edge){(uint32_t)before, (uint32_t)id};
    }
    return fanin;
}

/* Adds a task with its edges; on an error the graph is unchanged. */
static tg_status add(struct tg_graph *g, const uint32_t kernel[TG_PARTS],
                     const struct tg_args *args, uint64_t *task, struct tg_error *error)
{
    static const struct tg_args none;
    struct range touched = {g->lowest, g->end};
    struct tg_task_desc desc = {.site = g->current_site};
    uint64_t id = g->tasks.count, n_after, *end;
    uint32_t kind;
    tg_status status = want_tasks(g, id + 1, error);
    if (status != TG_OK)
        return status;
    if (args == NULL)
        args = &none;
    if (!check_kernels(g, &desc, kernel, args))
        return tg_task_explain(g->module, kernel, args, id, error);
    status = want_args(g, args, error);
    if (status != TG_OK)
        return status;
    if (!put_args(g, &desc, args, &touched, &end))
        return tg_task_explain(g->module, kernel, args, id, error);
    n_after = (uint64_t)args->n_after + args->n_more_after;
    if (n_after > 0)
        status = want_after(g, args, n_after, error);
    if (status == TG_OK && !tg_graph_tasks_kind(&g->tasks, &desc, g->current_line, &kind))
        status = no_memory(error);
    if (status != TG_OK)
        return status;
    g->tasks.at[id] = (struct tg_host_task){
        .kind = kind,
        .args = tg_graph_args_place(&g->args),
        .fanin = add_after(g, args, n_after, id),
    };
    g->args.at = end;
    g->lowest = touched.lowest;
    g->end = touched.end;
    g->class_count[desc.task_class]++;
    g->n_ready[desc.task_class] += g->tasks.at[id].fanin == 0;
    g->tasks.count++;
    g->resident = false;
    if (task != NULL)
        *task = id;
    return TG_OK;
}

tg_status tg_graph_add(struct tg_graph *g, uint32_t kernel, const struct tg_args *args,
                       uint64_t *task, struct tg_error *error)
{
    TG_REFUSE_NULL_AS(error, g, "graph");
    const uint32_t parts[TG_PARTS] = {kernel, TG_NO_KERNEL, TG_NO_KERNEL};
    return add(g, parts, args, task, error);
}

tg_status tg_graph_add_mix(struct tg_graph *g, const uint32_t kernel[TG_PARTS],
                           const struct tg_args *args, uint64_t *task, struct tg_error *error)
{
    TG_REFUSE_NULL_AS(error, g, "graph");
    TG_REFUSE_NULL(error, kernel);
    return add(g, kernel, args, task, error);
}

/* ── edges ─────────────────────────────────────────────────────────────────────────────── */

tg_status tg_graph_add_edge(struct tg_graph *g, uint64_t before, uint64_t after,
                            struct tg_error *error)
{
    TG_REFUSE_NULL_AS(error, g, "graph");
    tg_status status;
    if (before >= g->tasks.count || after >= g->tasks.count)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "edge from task %lld to task %lld: the graph has only %llu tasks",
                            (long long)before, (long long)after,
                            (unsigned long long)g->tasks.count);
    if (before == after)
        return tg_error_set(error, TG_BAD_ARGUMENT, "edge from task %llu to itself",
                            (unsigned long long)before);
    status = want_edges(g, g->n_edges + 1, error);
    if (status != TG_OK)
        return status;
    g->may_cycle |= before > after;
    g->tasks.at[before].n_succ++;
    if (g->tasks.at[after].fanin++ == 0)
        g->n_ready[g->tasks.kind[g->tasks.at[after].kind].task_class]--;
    g->edge[g->n_edges++] = (struct tg_edge){(uint32_t)before, (uint32_t)after};
    g->resident = false;
    return TG_OK;
}

uint64_t tg_graph_tasks(const struct tg_graph *g)
{
    if (g == NULL)
        return 0;
    return g->tasks.count;
}

uint64_t tg_graph_edges(const struct tg_graph *g)
{
    if (g == NULL)
        return 0;
    return g->n_edges;
}

struct tg_task_desc tg_graph_desc(const struct tg_graph *g, uint64_t task)
{
    struct tg_task_desc desc = tg_graph_tasks_desc(&g->tasks, task);
    uint32_t chunk = tg_graph_args_chunk_of(&g->args, task);
    if (desc.n_tensors + desc.n_scalars > 0)
        desc.args = tg_graph_args_offset(&g->args, chunk, g->tasks.at[task].args);
    return desc;
}

bool tg_graph_tensors(struct tg_graph *g, const struct tg_task_desc *desc,
                      struct tg_tensor *tensors)
{
    return tg_graph_args_read(&g->args, desc, tensors);
}

const char *tg_graph_site(const struct tg_graph *g, uint64_t task)
{
    uint32_t site = g->tasks.kind[g->tasks.at[task].kind].site;
    return site < g->n_sites ? g->site[site] : "";
}

const char *tg_graph_line(const struct tg_graph *g, uint64_t task)
{
    uint32_t line = g->tasks.kind[g->tasks.at[task].kind].line;
    return line > 0 && line <= g->n_sites ? g->site[line - 1] : "";
}

const char *tg_graph_kernel_name(const struct tg_graph *g, uint32_t kernel)
{
    uint32_t index = kernel - g->module->first;
    return index < g->module->n_kernels ? tg_module_kernel_name(g->module, index) : "";
}

const struct tg_edge *tg_graph_edge_list(const struct tg_graph *g, uint64_t *count)
{
    *count = g->n_edges;
    return g->edge;
}

tg_status tg_graph_check(struct tg_graph *g, struct tg_error *error)
{
    TG_REFUSE_NULL_AS(error, g, "graph");
    /* If all edges go from an earlier to a later task, there can be no cycle. */
    return g->may_cycle ? tg_graph_find_cycle(g, error) : TG_OK;
}
