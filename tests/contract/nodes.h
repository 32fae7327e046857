/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs whose result shows whether every task ran once and after all of its predecessors. A node's
 * value is a hash of its number and of the values that it reads (the kernels of workloads/graphs);
 * the test computes the same hash while it builds the graph, node by node.
 */
#ifndef TASKGLASS_CONTRACT_NODES_H
#define TASKGLASS_CONTRACT_NODES_H

#include "contract.h"
#include "workloads/graphs/graphs.h"

enum { WHOLE_BLOCK = 7 }; /* a mix of all three parts */

struct nodes {
    struct tg_device *device;
    struct tg_module *module;
    struct tg_graph *graph;
    uint32_t kernel[2][2]; /* by kind of core, and by whether the node reads others */
    uint64_t room, n;
    uint64_t count, partial, value; /* device addresses of [room][3], [room][3], [room] */
    uint64_t *parts;                /* expected: the parts of each node */
    uint64_t *expected;             /* expected: the value of each node */
};

TEST_FN_ struct tg_tensor nodes_vector(uint64_t address, uint64_t first, uint64_t length,
                                       uint64_t room)
{
    int64_t shape = (int64_t)room;
    return tg_tensor_slice(tg_tensor_make(address, TG_UINT64, 1, &shape), 0, (int64_t)first,
                           (int64_t)(first + length), 1);
}

TEST_FN_ void nodes_reset(struct nodes *nodes)
{
    zero_device(nodes->device, nodes->count, nodes->room * 8 * TG_PARTS);
    zero_device(nodes->device, nodes->partial, nodes->room * 8 * TG_PARTS);
    zero_device(nodes->device, nodes->value, nodes->room * 8);
}

/* Makes an empty graph with room for `room` nodes on the device. */
TEST_FN_ struct nodes nodes_make(struct tg_device *device, uint64_t room)
{
    struct nodes nodes = {.device = device, .room = room};
    nodes.module = load_module(device, "graphs");
    nodes.kernel[TG_AIC][0] = tg_module_kernel(nodes.module, "node_aic_0");
    nodes.kernel[TG_AIC][1] = tg_module_kernel(nodes.module, "node_aic_1");
    nodes.kernel[TG_AIV][0] = tg_module_kernel(nodes.module, "node_aiv_0");
    nodes.kernel[TG_AIV][1] = tg_module_kernel(nodes.module, "node_aiv_1");
    nodes.count = alloc_device(device, room * 8 * TG_PARTS);
    nodes.partial = alloc_device(device, room * 8 * TG_PARTS);
    nodes.value = alloc_device(device, room * 8);
    nodes.parts = calloc(room + 1, sizeof *nodes.parts);
    nodes.expected = calloc(room + 1, sizeof *nodes.expected);
    nodes_reset(&nodes);
    GOOD(tg_graph_create(nodes.module, &nodes.graph, error));
    return nodes;
}

TEST_FN_ void nodes_clear(struct nodes *nodes)
{
    tg_graph_clear(nodes->graph);
    nodes->n = 0;
    nodes_reset(nodes);
}

TEST_FN_ void nodes_destroy(struct nodes *nodes)
{
    tg_graph_destroy(nodes->graph);
    tg_device_free(nodes->device, nodes->count, NULL);
    tg_device_free(nodes->device, nodes->partial, NULL);
    tg_device_free(nodes->device, nodes->value, NULL);
    free(nodes->parts);
    free(nodes->expected);
}

/* The value that the kernels must compute for node i. */
TEST_FN_ uint64_t nodes_expect(const struct nodes *nodes, uint64_t i, uint64_t mask, uint64_t first,
                               uint64_t length)
{
    uint64_t value = 0;
    for (uint64_t part = 0; part < TG_PARTS; part++) {
        uint64_t hash = graph_hash(i, part);
        if (!(mask >> part & 1))
            continue;
        for (uint64_t k = 0; k < length; k++)
            hash = graph_hash(hash, nodes->expected[first + k]);
        value = graph_hash(value, hash);
    }
    return value;
}

/* Adds a node with these parts that reads the earlier nodes [first, first + length). */
TEST_FN_ uint64_t nodes_add(struct nodes *nodes, uint64_t mask, uint64_t first, uint64_t length)
{
    uint64_t i = nodes->n++, task = TG_TASK_NONE, *after = calloc(length + 1, sizeof *after);
    uint32_t aic = nodes->kernel[TG_AIC][length > 0], aiv = nodes->kernel[TG_AIV][length > 0];
    uint32_t kernel[TG_PARTS] = {mask & 1 ? aic : TG_NO_KERNEL, mask & 2 ? aiv : TG_NO_KERNEL,
                                 mask & 4 ? aiv : TG_NO_KERNEL};
    struct tg_args args;
    tg_args_init(&args);
    tg_args_inout(&args, nodes_vector(nodes->count, 3 * i, 3, 3 * nodes->room));
    tg_args_out(&args, nodes_vector(nodes->partial, 3 * i, 3, 3 * nodes->room));
    tg_args_out(&args, nodes_vector(nodes->value, i, 1, nodes->room));
    if (length > 0)
        tg_args_in(&args, nodes_vector(nodes->value, first, length, nodes->room));
    tg_args_i64(&args, (int64_t)i);
    tg_args_i64(&args, (int64_t)mask);
    for (uint64_t k = 0; k < length; k++)
        after[k] = first + k;
    tg_args_after_all(&args, after, (uint32_t)length);
    GOOD(tg_graph_add_mix(nodes->graph, kernel, &args, &task, error));
    free(after);
    CHECK_EQ_U(task, i);
    nodes->parts[i] = mask;
    nodes->expected[i] = nodes_expect(nodes, i, mask, first, length);
    return i;
}

/* Adds a random graph: each node reads up to `width` recent nodes; plain tasks, and mixes if
 * wanted. */
TEST_FN_ void nodes_add_random(struct nodes *nodes, uint64_t n, uint64_t width, bool mixes,
                               uint64_t *random)
{
    for (uint64_t k = 0; k < n; k++) {
        uint64_t i = nodes->n, draw = next_random(random);
        uint64_t masks = mixes ? 6 : 2;
        uint64_t mask = (const uint64_t[]){1, 2, 3, 5, 6, 7}[draw % masks];
        uint64_t length = (draw >> 8) % (width + 1), reach;
        if (length > i)
            length = i;
        reach = i - length < 4 * width ? i - length : 4 * width;
        nodes_add(nodes, mask, i - length - (draw >> 32) % (reach + 1), length);
    }
}

/* Compares with the expected values after `runs` complete runs. Reports one failure, not
 * thousands. */
TEST_FN_ bool nodes_right(struct nodes *nodes, uint64_t runs)
{
    uint64_t n = nodes->n, *count = calloc(3 * n + 1, 8), *value = calloc(n + 1, 8);
    bool right = true;
    GOOD(tg_device_copy_out(nodes->device, count, nodes->count, 24 * n, error));
    GOOD(tg_device_copy_out(nodes->device, value, nodes->value, 8 * n, error));
    for (uint64_t i = 0; right && i < n; i++)
        for (uint64_t part = 0; right && part < TG_PARTS; part++)
            right = CHECK_EQ_U(count[3 * i + part], nodes->parts[i] >> part & 1 ? runs : 0);
    for (uint64_t i = 0; right && i < n; i++)
        right = CHECK_EQ_U(value[i], nodes->expected[i]);
    free(count);
    free(value);
    return right;
}

/* Runs the graph once more and checks everything; `runs` counts the runs since the last reset. */
TEST_FN_ void nodes_run(struct nodes *nodes, uint64_t runs)
{
    struct tg_run_result result;
    GOOD(tg_graph_run(nodes->graph, NULL, &result, error));
    CHECK_EQ_U(result.tasks, nodes->n);
    CHECK_EQ_U(result.finished, nodes->n);
    REQUIRE(nodes_right(nodes, runs));
}

#endif
