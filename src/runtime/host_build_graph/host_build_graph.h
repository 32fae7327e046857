/* SPDX-License-Identifier: Apache-2.0 */
/* host_build_graph: calls the orchestration function here, and lets it fill a graph. */
#ifndef TG_RUNTIME_HOST_BUILD_GRAPH_H
#define TG_RUNTIME_HOST_BUILD_GRAPH_H

#include <taskglass/graph.h>
#include <taskglass/workload.h>

/* The first error of the orchestration, with its source line, or a full graph. */
tg_status tg_hbg_orchestrate(struct tg_graph *graph, const struct tg_workload *workload,
                             const struct tg_args *args, struct tg_error *error);

#endif
