/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of tasks that take a given time (workloads/slow), for tests of events during a run. */
#ifndef TASKGLASS_CONTRACT_SLOW_H
#define TASKGLASS_CONTRACT_SLOW_H

#include "contract.h"

struct slow {
    struct tg_device *device;
    struct tg_graph *graph;
    uint64_t n, runs; /* `runs` is int32_t[n] on the device: how often each task ran */
};

/* n tasks of `seconds` each, all independent or in one chain. */
TEST_FN_ struct slow slow_make(struct tg_device *device, uint64_t n, double seconds, bool chain)
{
    struct slow slow = {.device = device, .n = n};
    struct tg_module *module = load_module(device, "slow");
    uint32_t kernel = tg_module_kernel(module, "slow_wait");
    int64_t shape = (int64_t)n;
    slow.runs = alloc_device(device, 4 * n);
    zero_device(device, slow.runs, 4 * n);
    GOOD(tg_graph_create(module, &slow.graph, error));
    for (uint64_t i = 0; i < n; i++) {
        struct tg_tensor all = tg_tensor_make(slow.runs, TG_INT32, 1, &shape);
        struct tg_args args;
        tg_args_init(&args);
        tg_args_inout(&args, tg_tensor_slice(all, 0, (int64_t)i, (int64_t)i + 1, 1));
        tg_args_i64(&args, (int64_t)(seconds * 1e9));
        if (chain && i > 0)
            tg_args_after(&args, i - 1);
        GOOD(tg_graph_add(slow.graph, kernel, &args, NULL, error));
    }
    return slow;
}

/* The number of tasks that ran exactly `often` times since the last reset. */
TEST_FN_ uint64_t slow_count(const struct slow *slow, int32_t often)
{
    int32_t *runs = calloc(slow->n + 1, sizeof *runs);
    uint64_t count = 0;
    GOOD(tg_device_copy_out(slow->device, runs, slow->runs, 4 * slow->n, error));
    for (uint64_t i = 0; i < slow->n; i++)
        count += runs[i] == often;
    free(runs);
    return count;
}

TEST_FN_ void slow_reset(const struct slow *slow)
{
    zero_device(slow->device, slow->runs, 4 * slow->n);
}

TEST_FN_ void slow_destroy(struct slow *slow)
{
    tg_graph_destroy(slow->graph);
    tg_device_free(slow->device, slow->runs, NULL);
}

#endif
