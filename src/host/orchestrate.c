/* SPDX-License-Identifier: Apache-2.0 */
/* A graph from a module's orchestration function, by any runtime. */
#include "base/error.h"
#include "host/graph.h"
#include "runtime/host_build_graph/host_build_graph.h"

tg_status tg_graph_orchestrate(struct tg_module *module, enum tg_runtime_kind runtime,
                               const struct tg_args *args, const struct tg_rings *rings,
                               struct tg_graph **out, struct tg_error *error)
{
    struct tg_graph *graph;
    tg_status status = tg_graph_create(module, &graph, error);
    if (status != TG_OK)
        return status;
    graph->runtime = runtime;
    if (module->workload->orchestrate == NULL)
        status = tg_error_set(error, TG_BAD_ARGUMENT, "%s has no orchestration function",
                              module->workload->name);
    else if (runtime == TG_RUNTIME_HOST_BUILD_GRAPH)
        status = tg_hbg_orchestrate(graph, module->workload, args, error);
    else
        status = tg_graph_place(graph, args, rings, error);
    if (status != TG_OK)
        tg_graph_destroy(graph);
    else
        *out = graph;
    return status;
}
