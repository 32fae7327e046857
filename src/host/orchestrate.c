/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a graph from a module's orchestration function, for any runtime. */
#include "base/error.h"
#include "host/graph.h"
#include "host/runtime_ops.h"
#include "host/task_check.h"
#include <stdlib.h>

/* Keeps the arguments, for the orchestration and for each recording of a run of this graph. What the
 * caller did not give says so, in case that the orchestration passes it on to a task. */
static tg_status keep_arguments(struct tg_graph *graph, const struct tg_args *args,
                                struct tg_error *error)
{
    graph->given = malloc(sizeof *graph->given);
    if (graph->given == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    *graph->given = *args;
    for (uint32_t i = args->n_tensors; i < TG_MAX_TENSORS; i++)
        graph->given->tensor[i] =
            (struct tg_tensor){.start = i, .reserved = TG_TENSOR_MISSING, .owner = args->n_tensors};
    for (uint32_t i = args->n_scalars; i < TG_MAX_SCALARS; i++)
        graph->given->scalar[i] = (struct tg_scalar){0};
    return TG_OK;
}

static tg_status build(const struct tg_runtime_ops *ops, struct tg_graph *graph,
                       const struct tg_args *args, const struct tg_rings *rings,
                       struct tg_error *error)
{
    tg_status status = tg_orchestration_args_explain(args, error);
    if (status == TG_OK)
        status = keep_arguments(graph, args, error);
    return status == TG_OK ? ops->build(ops, graph, graph->given, rings, error) : status;
}

tg_status tg_graph_orchestrate_named(struct tg_module *module, enum tg_runtime_kind runtime,
                                     const struct tg_args *args, const char *const *names,
                                     const struct tg_rings *rings, struct tg_graph **out,
                                     struct tg_error *error)
{
    const struct tg_runtime_ops *ops = tg_runtime_number(runtime);
    struct tg_graph *graph;
    tg_status status;
    TG_REFUSE_NULL_AS(error, out, "graph");
    *out = NULL;
    if (ops == NULL)
        return tg_error_set(error, TG_BAD_ARGUMENT, "there is no runtime number %u",
                            (unsigned)runtime);
    TG_REFUSE_NULL(error, module);
    TG_REFUSE_NULL(error, args);
    status = tg_graph_create(module, &graph, error);
    if (status != TG_OK)
        return status;
    graph->names = names;
    if (module->workload->orchestrate == NULL)
        status = tg_error_set(error, TG_BAD_ARGUMENT, "%s has no orchestration function",
                              module->workload->name);
    else
        status = build(ops, graph, args, rings, error);
    if (status != TG_OK)
        tg_graph_destroy(graph);
    else
        *out = graph;
    return status;
}

tg_status tg_graph_orchestrate(struct tg_module *module, enum tg_runtime_kind runtime,
                               const struct tg_args *args, const struct tg_rings *rings,
                               struct tg_graph **out, struct tg_error *error)
{
    return tg_graph_orchestrate_named(module, runtime, args, NULL, rings, out, error);
}
