/* SPDX-License-Identifier: Apache-2.0 */
/* aicpu_build_graph: the device builds the graph in one ring, with the edges that the code
 * states. */
#include "host/graph.h"
#include "host/runtime_ops.h"

const struct tg_runtime_ops tg_runtime_aicpu_build_graph = {
    .name = "aicpu_build_graph",
    .summary = "the device builds the graph while tasks run, explicit edges",
    .build = tg_graph_place,
    .n_rings = 1,
};
