/* SPDX-License-Identifier: Apache-2.0 */
/* tg_graph_reset: one graph after the other in the same memory. */
#include "nodes.h"
#include "slow.h"

CONTRACT(a_graph_is_built_again_in_the_memory_of_the_largest)
{
    struct tg_device *device = open_device(3, 0);
    struct nodes nodes = nodes_make(device, 3000);
    struct tg_device_info info;
    uint64_t random = 11, used = 0;
    for (int i = 0; i < ROUNDS(20, 6); i++) {
        uint64_t tasks = i == 0 ? 3000 : next_random(&random) % 1500;
        GOOD(tg_graph_reset(nodes.graph, error));
        CHECK_EQ_U(tg_graph_tasks(nodes.graph) + tg_graph_edges(nodes.graph), 0);
        nodes_clear(&nodes);
        nodes_add_random(&nodes, tasks, i == 0 ? 5 : 1 + next_random(&random) % 4, true, &random);
        nodes_run(&nodes, 1);
        tg_device_get_info(device, &info);
        CHECK(i == 0 || info.memory_used == used);
        used = info.memory_used;
    }
    nodes_destroy(&nodes);
    tg_device_close(device);
}

CONTRACT(a_graph_that_grows_from_one_reset_to_the_next_runs)
{
    struct tg_device *device = open_device(3, 0);
    struct nodes nodes = nodes_make(device, 2000);
    uint64_t random = 12;
    for (uint64_t tasks = 0; tasks <= 2000; tasks = 3 * tasks + 1) {
        GOOD(tg_graph_reset(nodes.graph, error));
        nodes_clear(&nodes);
        nodes_add_random(&nodes, tasks, 4, true, &random);
        nodes_run(&nodes, 1);
    }
    nodes_destroy(&nodes);
    tg_device_close(device);
}

CONTRACT(a_graph_that_runs_is_not_reset)
{
    struct tg_device *device = open_device(1, 0);
    struct slow slow = slow_make(device, 10, 0.01, true), other = slow_make(device, 1, 0, false);
    struct tg_run *run;
    GOOD(tg_run_start(slow.graph, NULL, &run, error));
    REFUSED(BUSY, "the graph runs", tg_graph_reset(slow.graph, error));
    tg_graph_clear(slow.graph); /* does nothing */
    CHECK_EQ_U(tg_graph_tasks(slow.graph), 10);
    GOOD(tg_graph_reset(other.graph, error));
    GOOD(tg_run_wait(run, -1, error));
    CHECK_EQ_U(slow_count(&slow, 1), 10);
    GOOD(tg_graph_reset(slow.graph, error)); /* while the run's handle still exists */
    tg_run_destroy(run);
    slow_destroy(&slow);
    slow_destroy(&other);
    tg_device_close(device);
}

CONTRACT(a_graph_can_be_reset_after_a_run_that_failed)
{
    struct tg_device *device = open_device(3, 0);
    struct nodes nodes = nodes_make(device, 800);
    uint64_t random = 13;
    for (int i = 0; i < ROUNDS(8, 3); i++) {
        struct tg_run *run;
        nodes_add_random(&nodes, 800, 3, true, &random);
        GOOD(tg_run_start(nodes.graph, NULL, &run, error));
        tg_run_cancel(run);
        tg_run_wait(run, -1, NULL);
        tg_run_destroy(run);
        GOOD(tg_graph_reset(nodes.graph, error));
        nodes_clear(&nodes);
        nodes_add_random(&nodes, 300, 4, true, &random);
        nodes_run(&nodes, 1);
        nodes_clear(&nodes);
    }
    nodes_destroy(&nodes);
    tg_device_close(device);
}

CONTRACT(what_cannot_be_reset_is_refused)
{
    struct tg_device *device = open_device(3, 0);
    struct tg_module *module = load_module(device, "rings");
    struct tg_graph *graph = NULL;
    struct tg_args args;
    tg_args_init(&args);
    REFUSED(BAD_ARGUMENT, "graph", tg_graph_reset(NULL, error));
    if (tg_graph_orchestrate(module, TG_RUNTIME_AICPU_BUILD_GRAPH, &args, NULL, &graph, NULL) ==
        TG_OK)
        REFUSED(BAD_ARGUMENT, "in every run", tg_graph_reset(graph, error));
    tg_graph_destroy(graph);
    tg_device_close(device);
}

TEST_MAIN()
