/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of every shape run to the end, each task once and after all of its predecessors. */
#include "nodes.h"

/* All kinds of devices: cores that run tasks of both kinds, whole blocks, whole blocks with a short
 * one, each with and without dedicated schedulers. */
static const struct {
    uint32_t cores, schedulers;
} arrangements[] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {7, 0}, {1, 1}, {3, 1}, {5, 2}, {12, 4}};

enum { ARRANGEMENTS = sizeof arrangements / sizeof arrangements[0] };

#define EACH_ARRANGEMENT(nodes, room)                                                       \
    for (size_t at_ = 0; at_ < ARRANGEMENTS; at_ += platform->slow_to_open ? 2 : 1)         \
        for (struct nodes nodes =                                                           \
                 open_nodes(arrangements[at_].cores, arrangements[at_].schedulers, (room)); \
             nodes.device != NULL; close_nodes(&nodes))

static void close_nodes(struct nodes *nodes)
{
    nodes_destroy(nodes);
    tg_device_close(nodes->device);
    nodes->device = NULL;
}

static struct nodes open_nodes(uint32_t cores, uint32_t schedulers, uint64_t room)
{
    return nodes_make(open_device(cores, schedulers_up_to(schedulers)), room);
}

CONTRACT(an_empty_graph_finishes)
{
    EACH_ARRANGEMENT(nodes, 1)
    {
        for (int i = 0; i < 3; i++)
            nodes_run(&nodes, 1);
    }
}

CONTRACT(a_single_task_runs)
{
    EACH_ARRANGEMENT(nodes, 1)
    {
        for (uint64_t mask = 1; mask <= WHOLE_BLOCK; mask++) {
            if (mask == 4)
                continue; /* AIV1 alone is an AIV kernel like any other */
            nodes_clear(&nodes);
            nodes_add(&nodes, mask, 0, 0);
            nodes_run(&nodes, 1);
        }
    }
}

CONTRACT(a_lone_kernel_runs_whatever_part_it_was_put_in)
{
    struct nodes nodes = open_nodes(3, 0, 1);
    uint32_t aiv = nodes.kernel[TG_AIV][0];
    const uint32_t kernels[][TG_PARTS] = {{aiv, TG_NO_KERNEL, TG_NO_KERNEL},
                                          {TG_NO_KERNEL, aiv, TG_NO_KERNEL},
                                          {TG_NO_KERNEL, TG_NO_KERNEL, aiv}};
    struct tg_args args;
    tg_args_init(&args);
    tg_args_inout(&args, nodes_vector(nodes.count, 0, 3, 3));
    tg_args_out(&args, nodes_vector(nodes.partial, 0, 3, 3));
    tg_args_out(&args, nodes_vector(nodes.value, 0, 1, 1));
    tg_args_i64(&args, 0);
    tg_args_i64(&args, MASK_AIV);
    for (int i = 0; i < 3; i++)
        GOOD(tg_graph_add_mix(nodes.graph, kernels[i], &args, NULL, error));
    GOOD(tg_graph_add_edge(nodes.graph, 0, 1, error)); /* because they share their tensors */
    GOOD(tg_graph_add_edge(nodes.graph, 1, 2, error));
    GOOD(tg_graph_run(nodes.graph, NULL, NULL, error));
    nodes.n = 1;
    nodes.parts[0] = MASK_AIV;
    nodes.expected[0] = nodes_expect(&nodes, 0, MASK_AIV, 0, 0);
    CHECK(nodes_right(&nodes, 3));
    close_nodes(&nodes);
}

CONTRACT(a_hundred_thousand_independent_tasks_run)
{
    const uint64_t n = ROUNDS(100000, 10000);
    struct nodes nodes = open_nodes(3, 0, n);
    for (uint64_t i = 0; i < n; i++)
        nodes_add(&nodes, i % 2 ? MASK_AIV : MASK_AIC, 0, 0);
    nodes_run(&nodes, 1);
    nodes_run(&nodes, 2);
    close_nodes(&nodes);
}

CONTRACT(a_hundred_thousand_tasks_of_one_kind_run_under_schedulers)
{
    const uint64_t n = ROUNDS(100000, 5000);
    struct nodes nodes = open_nodes(3, 2, n);
    for (uint64_t i = 0; i < n; i++)
        nodes_add(&nodes, MASK_AIC, 0, 0);
    nodes_run(&nodes, 1);
    close_nodes(&nodes);
}

CONTRACT(a_million_edges_are_all_obeyed)
{
    const uint64_t n = ROUNDS(50000, 3000), width = 20;
    struct nodes nodes = open_nodes(6, 0, n);
    uint64_t random = 11;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t length = i < width ? i : width;
        uint64_t reach = i - length < 100 ? i - length : 100;
        nodes_add(&nodes, i % 3 ? MASK_AIV : MASK_AIC,
                  i - length - next_random(&random) % (reach + 1), length);
    }
    CHECK(tg_graph_edges(nodes.graph) >= n * width - width * width);
    nodes_run(&nodes, 1);
    nodes_run(&nodes, 2);
    close_nodes(&nodes);
}

CONTRACT(a_long_chain_runs_in_order)
{
    const uint64_t n = ROUNDS(100000, 2000);
    const struct {
        uint32_t cores, schedulers;
    } at[] = {{1, 0}, {3, 0}, {3, 1}};
    for (size_t k = 0; k < sizeof at / sizeof at[0]; k++) {
        struct nodes nodes =
            open_nodes(at[k].cores, at[k].schedulers, at[k].schedulers ? n / 10 : n);
        for (uint64_t i = 0; i < nodes.room; i++)
            nodes_add(&nodes, i % 2 ? MASK_AIV : MASK_AIC, i ? i - 1 : 0, i > 0);
        nodes_run(&nodes, 1);
        close_nodes(&nodes);
    }
}

CONTRACT(a_fan_out_and_in_again_runs)
{
    const uint64_t n = ROUNDS(20000, 2000);
    EACH_ARRANGEMENT(nodes, n)
    {
        nodes_add(&nodes, MASK_AIC, 0, 0);
        for (uint64_t i = 1; i + 1 < n; i++)
            nodes_add(&nodes, i % 2 ? MASK_AIV : MASK_AIC, 0, 1);
        nodes_add(&nodes, MASK_AIV, 1, n - 2);
        nodes_run(&nodes, 1);
    }
}

CONTRACT(random_graphs_of_plain_tasks_run_exactly)
{
    uint64_t random = 101;
    EACH_ARRANGEMENT(nodes, 2000)
    {
        for (int round = 0; round < ROUNDS(10, 2); round++) {
            nodes_clear(&nodes);
            nodes_add_random(&nodes, 1 + next_random(&random) % 2000, 1 + next_random(&random) % 9,
                             false, &random);
            nodes_run(&nodes, 1);
        }
    }
}

CONTRACT(random_graphs_with_mixes_run_exactly)
{
    uint64_t random = 202;
    EACH_ARRANGEMENT(nodes, 1000)
    {
        for (int round = 0; round < ROUNDS(8, 2); round++) {
            nodes_clear(&nodes);
            nodes_add_random(&nodes, 1 + next_random(&random) % 1000, 1 + next_random(&random) % 6,
                             true, &random);
            nodes_run(&nodes, 1);
        }
    }
}

CONTRACT(a_chain_of_mixes_runs_in_order)
{
    const uint64_t n = ROUNDS(1000, 200);
    EACH_ARRANGEMENT(nodes, n)
    {
        for (uint64_t i = 0; i < n; i++)
            nodes_add(&nodes, (const uint64_t[]){7, 3, 5, 6}[i % 4], i ? i - 1 : 0, i > 0);
        nodes_run(&nodes, 1);
    }
}

CONTRACT(many_mixes_at_once_run)
{
    const uint64_t n = ROUNDS(3000, 300);
    EACH_ARRANGEMENT(nodes, n)
    {
        for (uint64_t i = 0; i < n; i++)
            nodes_add(&nodes, i % 5 ? WHOLE_BLOCK : MASK_AIV, 0, 0);
        nodes_run(&nodes, 1);
    }
}

CONTRACT(edges_given_twice_count_as_one_wait)
{
    struct nodes nodes = open_nodes(3, 0, 3);
    nodes_add(&nodes, MASK_AIV, 0, 0);
    nodes_add(&nodes, MASK_AIC, 0, 1);
    nodes_add(&nodes, MASK_AIV, 0, 2);
    for (int i = 0; i < 5; i++) {
        GOOD(tg_graph_add_edge(nodes.graph, 0, 1, error));
        GOOD(tg_graph_add_edge(nodes.graph, 1, 2, error));
    }
    for (uint64_t i = 1; i <= 10; i++)
        nodes_run(&nodes, i);
    close_nodes(&nodes);
}

CONTRACT(edges_from_later_to_earlier_tasks_are_obeyed)
{
    enum { N = 300 };
    struct nodes nodes = open_nodes(3, 0, N);
    uint32_t kernel = nodes.kernel[TG_AIV][1], first = nodes.kernel[TG_AIV][0];
    for (uint64_t i = 0; i < N; i++) { /* task i: node N - 1 - i, which reads node N - 2 - i */
        uint64_t node = N - 1 - i;
        struct tg_args args;
        tg_args_init(&args);
        tg_args_inout(&args, nodes_vector(nodes.count, 3 * node, 3, 3 * N));
        tg_args_out(&args, nodes_vector(nodes.partial, 3 * node, 3, 3 * N));
        tg_args_out(&args, nodes_vector(nodes.value, node, 1, N));
        if (node > 0)
            tg_args_in(&args, nodes_vector(nodes.value, node - 1, 1, N));
        tg_args_i64(&args, (int64_t)node);
        tg_args_i64(&args, MASK_AIV);
        GOOD(tg_graph_add(nodes.graph, node > 0 ? kernel : first, &args, NULL, error));
    }
    for (uint64_t i = 0; i + 1 < N; i++)
        GOOD(tg_graph_add_edge(nodes.graph, i + 1, i, error));
    for (nodes.n = 0; nodes.n < N; nodes.n++) {
        uint64_t i = nodes.n;
        nodes.parts[i] = MASK_AIV;
        nodes.expected[i] = nodes_expect(&nodes, i, MASK_AIV, i ? i - 1 : 0, i > 0);
    }
    nodes_run(&nodes, 1);
    nodes_run(&nodes, 2);
    close_nodes(&nodes);
}

CONTRACT(every_tensor_of_a_task_arrives_in_its_place)
{
    struct nodes nodes = open_nodes(3, 0, 8);
    uint32_t widest = tg_module_kernel(nodes.module, "node_aiv_4");
    struct tg_args args;
    for (int i = 0; i < 4; i++)
        nodes_add(&nodes, MASK_AIV, 0, 0);
    tg_args_init(&args);
    tg_args_inout(&args, nodes_vector(nodes.count, 12, 3, 24));
    tg_args_out(&args, nodes_vector(nodes.partial, 12, 3, 24));
    tg_args_out(&args, nodes_vector(nodes.value, 4, 1, 8));
    for (uint64_t k = 0; k < 4; k++) {
        tg_args_in(&args, nodes_vector(nodes.value, k, 1, 8));
        tg_args_after(&args, k);
    }
    tg_args_i64(&args, 4);
    tg_args_i64(&args, MASK_AIV);
    GOOD(tg_graph_add(nodes.graph, widest, &args, NULL, error));
    nodes.n = 5;
    nodes.parts[4] = MASK_AIV;
    nodes.expected[4] = nodes_expect(&nodes, 4, MASK_AIV, 0, 4);
    nodes_run(&nodes, 1);
    close_nodes(&nodes);
}

TEST_MAIN()
