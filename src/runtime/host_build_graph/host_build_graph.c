/* SPDX-License-Identifier: Apache-2.0 */
/* host_build_graph: calls the orchestration function on the host and lets it fill a graph, which
 * tg_graph_upload sends to the device once it is complete. */
#include "base/error.h"
#include "common/task_check.h"
#include "host/device_comm.h"
#include "host/graph.h"
#include "host/runtime_ops.h"
#include "host/tables.h"
#include "host/task_check.h"
#include <taskglass/workload.h>

enum { MAX_DEPTH = 64 };

struct tg_hbg {
    struct tg_rt rt; /* first: the orchestration sees only this */
    struct tg_graph *graph;
    struct tg_error error;        /* the first error; later calls do nothing */
    const char *scope[MAX_DEPTH]; /* sites of the open scopes, the orchestration's own first */
    uint32_t depth;
    struct tg_tables tables; /* what the orchestration was given, as far as it has read it */
};

/* Keeps the first error, with the source line in front. */
static void fail_at(struct tg_hbg *hbg, tg_status status, const char *text, const char *site)
{
    if (hbg->error.status == TG_OK)
        tg_error_set(&hbg->error, status, "%s: %s", site, text);
}

static bool has_failed(const struct tg_hbg *hbg)
{
    return hbg->error.status != TG_OK;
}

/* Allocates memory that lives as long as the graph. */
static tg_status allocate(struct tg_hbg *hbg, struct tg_tensor *tensor, struct tg_error *error)
{
    return tg_graph_alloc(hbg->graph, tensor->storage_bytes, &tensor->addr, error);
}

/* Allocates the outputs that the submit creates. Only a task that has some pays for a copy. */
static tg_status allocate_new(struct tg_hbg *hbg, struct tg_args *args, struct tg_error *error)
{
    tg_status status = TG_OK;
    for (uint32_t i = 0; i < args->n_tensors && status == TG_OK; i++) {
        struct tg_tensor *t = &args->tensor[i];
        if (t->owner_depth != TG_TENSOR_NEW || !tg_tensor_valid(t))
            continue;
        t->owner_depth = 0;
        status = allocate(hbg, t, error);
    }
    return status;
}

/* False for arguments that tg_graph_add_mix will refuse: they may hold anything. */
static bool has_new(const struct tg_args *args)
{
    if (args == NULL || !tg_args_within_limits(args))
        return false;
    for (uint32_t i = 0; i < args->n_tensors; i++)
        if (args->tensor[i].owner_depth == TG_TENSOR_NEW)
            return true;
    return false;
}

/* Refuses an address that the device cannot reach now, because the submit's source line is known now.
 * tg_graph_upload would find it too. */
static tg_status check_memory(const struct tg_hbg *hbg, const uint32_t kernel[TG_PARTS],
                              const struct tg_args *args, struct tg_error *error)
{
    const struct tg_module *module = hbg->graph->module;
    if (args == NULL || !tg_args_within_limits(args))
        return TG_OK; /* tg_graph_add_mix refuses the latter */
    for (uint32_t i = 0; i < args->n_tensors; i++)
        if (!tg_tensor_is_in_memory(module, &args->tensor[i]))
            return tg_task_explain(module, kernel, args, tg_graph_tasks(hbg->graph), error);
    return TG_OK;
}

/* Keeps in mind that a task writes these tensors: tg_table does not read them from now on. */
static void note_outputs(struct tg_hbg *hbg, const struct tg_args *args, uint64_t task)
{
    for (uint32_t i = 0; args != NULL && i < args->n_tensors; i++)
        if (args->role[i] != TG_IN)
            tg_given_note(&hbg->tables.given, &args->tensor[i], task);
}

static uint64_t hbg_submit(struct tg_rt *rt, const uint32_t kernel[TG_PARTS],
                           const struct tg_args *args, const char *site)
{
    struct tg_hbg *hbg = (struct tg_hbg *)rt;
    struct tg_args copy;
    struct tg_error why;
    uint64_t task = TG_TASK_NONE;
    tg_status status;
    if (has_failed(hbg))
        return TG_TASK_NONE;
    status = check_memory(hbg, kernel, args, &why);
    if (status == TG_OK && has_new(args)) {
        copy = *args;
        args = &copy;
        status = allocate_new(hbg, &copy, &why);
    }
    if (status == TG_OK)
        status = tg_graph_set_line(hbg->graph, site, &why);
    if (status == TG_OK)
        status = tg_graph_add_mix(hbg->graph, kernel, args, &task, &why);
    if (status != TG_OK)
        fail_at(hbg, status, why.text, site);
    else
        note_outputs(hbg, args, task);
    return task;
}

static int32_t hbg_rank(struct tg_rt *rt)
{
    return (int32_t)tg_device_rank(((struct tg_hbg *)rt)->graph->module->device);
}

static int32_t hbg_ranks(struct tg_rt *rt)
{
    return (int32_t)tg_device_ranks(((struct tg_hbg *)rt)->graph->module->device);
}

static uint64_t hbg_communicate(struct tg_rt *rt, enum tg_comm_kind kind, int32_t peer, int32_t tag,
                                int32_t operation, const struct tg_args *args, const char *site)
{
    struct tg_hbg *hbg = (struct tg_hbg *)rt;
    struct tg_args none, copy;
    struct tg_error why;
    uint64_t task = TG_TASK_NONE;
    tg_status status = TG_OK;
    tg_args_init(&none);
    if (has_failed(hbg))
        return TG_TASK_NONE;
    args = args ? args : &none;
    if (has_new(args)) {
        copy = *args;
        args = &copy;
        status = allocate_new(hbg, &copy, &why);
    }
    if (status == TG_OK)
        status = tg_graph_set_line(hbg->graph, site, &why);
    if (status == TG_OK)
        status = tg_graph_communicate(hbg->graph, kind, peer, tag, operation, args, &task, &why);
    if (status != TG_OK)
        fail_at(hbg, status, why.text, site);
    else
        note_outputs(hbg, args, task);
    return task;
}

static void hbg_depend(struct tg_rt *rt, uint64_t task, uint64_t after, const char *site)
{
    struct tg_hbg *hbg = (struct tg_hbg *)rt;
    struct tg_error why;
    tg_status status;
    if (has_failed(hbg) || after == TG_TASK_NONE)
        return;
    status = tg_graph_add_edge(hbg->graph, after, task, &why);
    if (status != TG_OK)
        fail_at(hbg, status, why.text, site);
}

static struct tg_tensor hbg_alloc(struct tg_rt *rt, unsigned dtype, int ndim, const int64_t *shape,
                                  const char *site)
{
    struct tg_hbg *hbg = (struct tg_hbg *)rt;
    struct tg_tensor tensor = tg_tensor_make(0, dtype, ndim, shape);
    struct tg_error why;
    tg_status status;
    if (has_failed(hbg))
        return tg_tensor_none();
    if (!tg_tensor_valid(&tensor)) {
        fail_at(hbg, TG_BAD_ARGUMENT, "tg_alloc: no tensor can have this type and shape", site);
        return tg_tensor_none();
    }
    status = allocate(hbg, &tensor, &why);
    if (status != TG_OK) {
        fail_at(hbg, status, why.text, site);
        return tg_tensor_none();
    }
    return tensor;
}

static void enter(struct tg_hbg *hbg, const char *site)
{
    struct tg_error why;
    tg_status status = tg_graph_set_site(hbg->graph, site, &why);
    if (status != TG_OK)
        fail_at(hbg, status, why.text, site);
}

static void hbg_scope_begin(struct tg_rt *rt, enum tg_scope_kind kind, const char *site)
{
    struct tg_hbg *hbg = (struct tg_hbg *)rt;
    (void)kind; /* no task starts before the whole graph is built */
    if (hbg->depth == MAX_DEPTH)
        fail_at(hbg, TG_BAD_ARGUMENT, "scopes are nested too deep (64 at most)", site);
    if (has_failed(hbg))
        return;
    hbg->scope[hbg->depth++] = site;
    enter(hbg, site);
}

static void hbg_scope_end(struct tg_rt *rt)
{
    struct tg_hbg *hbg = (struct tg_hbg *)rt;
    if (hbg->depth <= 1)
        fail_at(hbg, TG_BAD_ARGUMENT, "a scope ends that never began", hbg->scope[0]);
    if (has_failed(hbg))
        return;
    hbg->depth--;
    enter(hbg, hbg->scope[hbg->depth - 1]);
}

static void hbg_fail(struct tg_rt *rt, const char *text, const char *site)
{
    fail_at((struct tg_hbg *)rt, TG_BAD_ARGUMENT, text, site);
}

static struct tg_tensor hbg_output(struct tg_rt *rt, uint64_t task, uint32_t argument,
                                   const char *site)
{
    struct tg_hbg *hbg = (struct tg_hbg *)rt;
    struct tg_tensor tensor[TG_MAX_TENSORS];
    struct tg_task_desc desc = {0};
    if (has_failed(hbg))
        return tg_tensor_none();
    if (task < tg_graph_tasks(hbg->graph))
        desc = tg_graph_desc(hbg->graph, task);
    if (argument >= desc.n_tensors) {
        fail_at(hbg, TG_BAD_ARGUMENT, "tg_output: no such task, or it has no such tensor", site);
        return tg_tensor_none();
    }
    if (!tg_graph_tensors(hbg->graph, &desc, tensor)) {
        fail_at(hbg, TG_DEVICE_LOST, "tg_output: the task's arguments cannot be read", site);
        return tg_tensor_none();
    }
    return tensor[argument];
}

static uint64_t load(struct tg_hbg *hbg, const struct tg_tensor *tensor, int64_t offset,
                     const char *site)
{
    struct tg_error why;
    uint64_t bits = 0;
    tg_status status = tg_tables_load(&hbg->tables, tensor, offset, &bits, &why);
    if (status != TG_OK)
        fail_at(hbg, status, why.text, site);
    return bits;
}

static uint64_t hbg_table(struct tg_rt *rt, const struct tg_tensor *tensor, const int64_t *index,
                          uint32_t n, const char *site)
{
    struct tg_hbg *hbg = (struct tg_hbg *)rt;
    struct tg_given *given = &hbg->tables.given;
    enum tg_table_fault fault;
    struct tg_error why;
    int64_t offset;
    if (has_failed(hbg))
        return 0;
    fault = tg_given_look(given, tensor, index, n, &offset);
    if (fault == TG_TABLE_GOOD)
        return load(hbg, tensor, offset, site);
    tg_table_explain(fault, given->args, hbg->graph->names, given->found,
                     given->writer[given->found], tensor, index, n, &why);
    fail_at(hbg, why.status, why.text, site);
    return 0;
}

/* No task has run yet, so only what the run was given has a value. */
static uint64_t hbg_read(struct tg_rt *rt, const struct tg_tensor *tensor, uint64_t producer,
                         const char *site)
{
    static const int64_t first[TG_MAX_DIMS];
    struct tg_hbg *hbg = (struct tg_hbg *)rt;
    int64_t offset;
    if (has_failed(hbg))
        return 0;
    if (producer == TG_TASK_NONE && tg_tensor_valid(tensor) && tg_tensor_numel(tensor) == 1 &&
        tg_given_look(&hbg->tables.given, tensor, first, tensor->ndim, &offset) == TG_TABLE_GOOD)
        return load(hbg, tensor, offset, site);
    fail_at(hbg, TG_UNSUPPORTED,
            "host_build_graph cannot read a result, because the graph is built before it runs; use "
            "--runtime tensormap_and_ringbuffer or aicpu_build_graph",
            site);
    return 0;
}

/* A scope that the code left by break, goto or return is still open here. */
static void check_balance(struct tg_hbg *hbg)
{
    if (hbg->depth > 1)
        fail_at(hbg, TG_BAD_ARGUMENT, "the scope begun here was left by break, goto or return",
                hbg->scope[hbg->depth - 1]);
}

static const struct tg_rt_ops hbg_ops = {
    .submit = hbg_submit,
    .depend = hbg_depend,
    .alloc = hbg_alloc,
    .scope_begin = hbg_scope_begin,
    .scope_end = hbg_scope_end,
    .fail = hbg_fail,
    .output = hbg_output,
    .read = hbg_read,
    .table = hbg_table,
    .rank = hbg_rank,
    .ranks = hbg_ranks,
    .communicate = hbg_communicate,
};

/* Returns the first error of the orchestration, with its source line, or that the graph is full. */
static tg_status build(const struct tg_runtime_ops *self, struct tg_graph *graph,
                       const struct tg_args *args, const struct tg_rings *rings,
                       struct tg_error *error)
{
    const struct tg_workload *workload = graph->module->workload;
    struct tg_hbg hbg = {.rt = {&hbg_ops}, .graph = graph};
    const char *site = workload->orchestrate_site ? workload->orchestrate_site : workload->name;
    (void)self;
    (void)rings; /* the graph is one array */
    tg_tables_init(&hbg.tables, graph->module->device, args);
    hbg_scope_begin(&hbg.rt, TG_SCOPE_OPEN, site);
    workload->orchestrate(&hbg.rt, args);
    check_balance(&hbg);
    tg_tables_free(&hbg.tables);
    if (has_failed(&hbg))
        return tg_error_set(error, hbg.error.status, "%s", hbg.error.text);
    return TG_OK;
}

const struct tg_runtime_ops tg_runtime_host_build_graph = {
    .name = "host_build_graph",
    .summary = "the host builds the whole graph, then the device runs it",
    .build = build,
};
