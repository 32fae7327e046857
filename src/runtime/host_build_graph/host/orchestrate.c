/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/host_build_graph/host/orchestrate.h"
#include "base/error.h"
#include "host/graph.h"
#include <stdlib.h>

enum { MAX_DEPTH = 64 };

struct tg_hbg {
    struct tg_rt rt; /* first: the orchestration sees only this */
    struct tg_device *device;
    struct tg_graph *graph;
    struct tg_error error;        /* the first one; nothing happens after it */
    const char *scope[MAX_DEPTH]; /* sites of the open scopes, the orchestration's own first */
    uint32_t depth;
    uint64_t *allocated;
    uint32_t n_allocated, room;
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

static uint64_t hbg_submit(struct tg_rt *rt, const uint32_t kernel[TG_PARTS],
                           const struct tg_args *args, const char *site)
{
    struct tg_hbg *hbg = (struct tg_hbg *)rt;
    struct tg_error why;
    uint64_t task = TG_TASK_NONE;
    tg_status status;
    if (has_failed(hbg))
        return TG_TASK_NONE;
    status = tg_graph_add_mix(hbg->graph, kernel, args, &task, &why);
    if (status != TG_OK)
        fail_at(hbg, status, why.text, site);
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

static bool remember(struct tg_hbg *hbg, uint64_t address)
{
    if (hbg->n_allocated == hbg->room) {
        uint32_t room = hbg->room ? 2 * hbg->room : 64;
        uint64_t *grown = realloc(hbg->allocated, room * sizeof *grown);
        if (grown == NULL)
            return false;
        hbg->allocated = grown;
        hbg->room = room;
    }
    hbg->allocated[hbg->n_allocated++] = address;
    return true;
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
        fail_at(hbg, TG_BAD_ARGUMENT, "tg_alloc: not a type and shape a tensor can have", site);
        return tg_tensor_none();
    }
    status = tg_device_alloc(hbg->device, tensor.storage_bytes, &tensor.addr, &why);
    if (status == TG_OK && !remember(hbg, tensor.addr)) {
        tg_device_free(hbg->device, tensor.addr, NULL);
        status = tg_error_set(&why, TG_NO_MEMORY, "out of host memory");
    }
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

static void hbg_scope_begin(struct tg_rt *rt, const char *site)
{
    struct tg_hbg *hbg = (struct tg_hbg *)rt;
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
    if (has_failed(hbg) || hbg->depth <= 1)
        return;
    hbg->depth--;
    enter(hbg, hbg->scope[hbg->depth - 1]);
}

static void hbg_fail(struct tg_rt *rt, const char *text, const char *site)
{
    fail_at((struct tg_hbg *)rt, TG_BAD_ARGUMENT, text, site);
}

static const struct tg_rt_ops hbg_ops = {
    .submit = hbg_submit,
    .depend = hbg_depend,
    .alloc = hbg_alloc,
    .scope_begin = hbg_scope_begin,
    .scope_end = hbg_scope_end,
    .fail = hbg_fail,
};

tg_status tg_hbg_orchestrate(struct tg_device *device, struct tg_module *module,
                             const struct tg_workload *workload, const struct tg_args *args,
                             struct tg_hbg **out, struct tg_error *error)
{
    struct tg_hbg *hbg = calloc(1, sizeof *hbg);
    tg_status status;
    if (hbg == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    hbg->rt.ops = &hbg_ops;
    hbg->device = device;
    status = tg_graph_create(module, &hbg->graph, &hbg->error);
    if (status == TG_OK) {
        hbg_scope_begin(&hbg->rt,
                        workload->orchestrate_site ? workload->orchestrate_site : workload->name);
        workload->orchestrate(&hbg->rt, args);
        status = hbg->error.status;
    }
    if (status != TG_OK) {
        tg_error_set(error, status, "%s", hbg->error.text);
        tg_hbg_destroy(hbg);
        return status;
    }
    *out = hbg;
    return TG_OK;
}

struct tg_graph *tg_hbg_graph(struct tg_hbg *hbg)
{
    return hbg->graph;
}

void tg_hbg_destroy(struct tg_hbg *hbg)
{
    if (hbg == NULL)
        return;
    tg_graph_destroy(hbg->graph);
    for (uint32_t i = hbg->n_allocated; i-- > 0;) /* backwards: the cheapest order for the heap */
        tg_device_free(hbg->device, hbg->allocated[i], NULL);
    free(hbg->allocated);
    free(hbg);
}
