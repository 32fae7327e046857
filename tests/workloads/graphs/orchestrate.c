/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs.h"

/* Arguments: count[n][3], partial[n][3], value[n]; scalars: graph, n, seed. */
TG_FN void graphs_node_args(struct tg_args *task, const struct tg_args *args, int64_t i,
                            uint64_t mask)
{
    tg_args_init(task);
    tg_args_inout(task, tg_tensor_index(args->tensor[0], 0, i));
    tg_args_out(task, tg_tensor_index(args->tensor[1], 0, i));
    tg_args_out(task, tg_tensor_slice(args->tensor[2], 0, i, i + 1, 1));
    tg_args_i64(task, i);
    tg_args_i64(task, (int64_t)mask);
}

TG_FN static uint64_t submit_node(struct tg_rt *rt, const struct tg_args *task, uint64_t mask,
                                  uint32_t n_before)
{
    return tg_submit_mix(rt, mask & 1 ? NODE_AIC + n_before : TG_NO_KERNEL,
                         mask & 2 ? NODE_AIV + n_before : TG_NO_KERNEL,
                         mask & 4 ? NODE_AIV + n_before : TG_NO_KERNEL, task);
}

/* Submits nodes in order, each after the nodes that it reads. Keeps the ids of a window of
 * nodes. */
TG_APART TG_FN static void forward(struct tg_rt *rt, const struct tg_args *args, int64_t graph,
                                   int64_t n, int64_t seed)
{
    uint64_t id[WINDOW];
    for (int64_t i = 0; i < n; i++) {
        int64_t before[MAX_PREDECESSORS];
        int n_before = graph_predecessors(graph, seed, i, before);
        uint64_t mask = graph_mask(graph, seed, i);
        struct tg_args task;
        graphs_node_args(&task, args, i, mask);
        for (int k = 0; k < n_before; k++) {
            tg_args_in(&task, tg_tensor_slice(args->tensor[2], 0, before[k], before[k] + 1, 1));
            tg_args_after(&task, id[before[k] % WINDOW]);
        }
        id[i % WINDOW] = submit_node(rt, &task, mask, (uint32_t)n_before);
    }
}

/* Node 0, then n - 2 nodes that wait for it, then one that waits for all of those and reads
 * them. */
TG_APART TG_FN static void fan(struct tg_rt *rt, const struct tg_args *args, int64_t n,
                               int64_t seed)
{
    uint64_t id[MAX_FAN];
    for (int64_t i = 0; i < n; i++) {
        uint64_t mask = graph_mask(GRAPH_fan, seed, i);
        struct tg_args task;
        graphs_node_args(&task, args, i, mask);
        if (i == n - 1) {
            tg_args_in(&task, tg_tensor_slice(args->tensor[2], 0, 0, i, 1));
            tg_args_after_all(&task, id, (uint32_t)i);
        } else if (i > 0) {
            tg_args_in(&task, tg_tensor_slice(args->tensor[2], 0, 0, 1, 1));
            tg_args_after(&task, id[0]);
        }
        id[i] = submit_node(rt, &task, mask, i > 0);
    }
}

/* Submits the last node first: an edge can be given only when both of its ends exist. */
TG_APART TG_FN static void reverse(struct tg_rt *rt, const struct tg_args *args, int64_t n,
                                   int64_t seed)
{
    uint64_t next = TG_TASK_NONE;
    for (int64_t i = n - 1; i >= 0; i--) {
        uint64_t mask = graph_mask(GRAPH_reverse, seed, i), id;
        struct tg_args task;
        graphs_node_args(&task, args, i, mask);
        if (i > 0)
            tg_args_in(&task, tg_tensor_slice(args->tensor[2], 0, i - 1, i, 1));
        id = submit_node(rt, &task, mask, i > 0);
        if (next != TG_TASK_NONE)
            tg_depend(rt, next, id);
        next = id;
    }
}

TG_ORCHESTRATION(graphs)
{
    int64_t graph = (int64_t)args->scalar[0].bits;
    int64_t n = (int64_t)args->scalar[1].bits;
    int64_t seed = (int64_t)args->scalar[2].bits;

    switch (graph) {
    case GRAPH_empty:
        break;
    case GRAPH_fan:
        fan(rt, args, n, seed);
        break;
    case GRAPH_reverse:
        reverse(rt, args, n, seed);
        break;
    default:
        if (graph >= GRAPH_cycle)
            graphs_refused(rt, args, graph);
        else
            forward(rt, args, graph, n, seed);
    }
}
