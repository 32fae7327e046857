/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensormap_and_ringbuffer: the device builds the graph in a ring for each depth of scope, finds
 * edges from the tensors that tasks use, and lets each scope own what is submitted in it.
 */
#include "host/graph.h"
#include "host/runtime_ops.h"

const struct tg_runtime_ops tg_runtime_tensormap_and_ringbuffer = {
    .name = "tensormap_and_ringbuffer",
    .summary = "the device builds the graph, edges found from tensors",
    .build = tg_graph_place,
    .n_rings = TG_RINGS,
    .finds_edges = true,
    .scopes_own_slots = true,
};
