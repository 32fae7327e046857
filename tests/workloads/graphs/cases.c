/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs.h"

#include <string.h>
#include <taskglass/workload.h>

#define NODE "inout:uint64 out:uint64 out:uint64 "
#define NUMBERS "scalar:int64 scalar:int64"
#define READ "in:uint64 "
/* clang-format off */
#define NODES(kind, name)                                                                    \
    [NODE_##kind + 0] = {name "0", graphs_node, TG_##kind, NODE NUMBERS},                    \
    [NODE_##kind + 1] = {name "1", graphs_node, TG_##kind, NODE READ NUMBERS},               \
    [NODE_##kind + 2] = {name "2", graphs_node, TG_##kind, NODE READ READ NUMBERS},          \
    [NODE_##kind + 3] = {name "3", graphs_node, TG_##kind, NODE READ READ READ NUMBERS},     \
    [NODE_##kind + 4] = {name "4", graphs_node, TG_##kind, NODE READ READ READ READ NUMBERS}
/* clang-format on */

static const struct tg_kernel_def kernels[GRAPHS_KERNELS] = {
    NODES(AIC, "node_aic_"),
    NODES(AIV, "node_aiv_"),
    NODES(EITHER, "node_either_"),
};

#define CASE(name, n, text) {#name, text, "graph=" #name " n=" #n " seed=1"},
static const struct tg_case_def cases[] = {GRAPHS_GOOD(CASE) GRAPHS_REFUSED(CASE)};
#undef CASE

enum { MAX_NODES = 1 << 23 };

/* The graph of that name; N_GRAPHS if there is none. Cases are in the order of the enum. */
static int64_t graph_of(struct tg_case *c)
{
    const char *name = tg_case_text(c, "graph");
    int64_t graph = 0;
    while (graph < N_GRAPHS && strcmp(name, cases[graph].name) != 0)
        graph++;
    return graph;
}

static void prepare(struct tg_case *c)
{
    int64_t graph = graph_of(c), n = tg_case_int(c, "n"), seed = tg_case_int(c, "seed");

    if (graph == N_GRAPHS) {
        tg_case_fail(c, "graph must be the name of a case of this workload");
        return;
    }
    if (n < 0 || n > MAX_NODES) {
        tg_case_fail(c, "n must be from 0 to 8388608");
        return;
    }
    if (graph == GRAPH_fan && (n < 3 || n > MAX_FAN)) {
        tg_case_fail(c, "n must be from 3 to 1024 for a fan");
        return;
    }
    if ((graph == GRAPH_diamond || graph >= GRAPH_cycle) && n != 4) {
        tg_case_fail(c, "this graph has n=4");
        return;
    }
    tg_case_tensor(c, "count", TG_INOUT, TG_UINT64, 2, ((int64_t[]){n, TG_PARTS}));
    tg_case_tensor(c, "partial", TG_INOUT, TG_UINT64, 2, ((int64_t[]){n, TG_PARTS}));
    tg_case_tensor(c, "value", TG_INOUT, TG_UINT64, 1, &n);
    tg_case_scalar(c, "graph", TG_INT64, (uint64_t)graph);
    tg_case_scalar(c, "n", TG_INT64, (uint64_t)n);
    tg_case_scalar(c, "seed", TG_INT64, (uint64_t)seed);
}

/* Computes one node as graphs_node does; the values of its predecessors are known already. */
static void one_node(int64_t graph, int64_t n, int64_t seed, int64_t i, uint64_t *count,
                     uint64_t *partial, uint64_t *value)
{
    int64_t before[MAX_PREDECESSORS];
    int n_before = graph_predecessors(graph, seed, i, before);
    bool reads_all = graph == GRAPH_fan && i == n - 1;
    uint64_t mask = graph_mask(graph, seed, i);

    value[i] = 0;
    for (uint64_t part = 0; part < TG_PARTS; part++) {
        if (!(mask >> part & 1))
            continue;
        uint64_t hash = graph_hash((uint64_t)i, part);
        for (int64_t k = 0; k < (reads_all ? i : n_before); k++)
            hash = graph_hash(hash, value[reads_all ? k : before[k]]);
        count[i * TG_PARTS + (int64_t)part] = 1;
        partial[i * TG_PARTS + (int64_t)part] = hash;
        value[i] = graph_hash(value[i], hash);
    }
}

/* Computes the same graph, one node after the other. */
static void golden(struct tg_case *c)
{
    int64_t graph = graph_of(c), n = tg_case_int(c, "n"), seed = tg_case_int(c, "seed");
    uint64_t *count = tg_case_expect_exact(c, "count");
    uint64_t *partial = tg_case_expect_exact(c, "partial");
    uint64_t *value = tg_case_expect_exact(c, "value");

    memset(count, 0, (size_t)n * TG_PARTS * sizeof *count);
    memset(partial, 0, (size_t)n * TG_PARTS * sizeof *partial);
    memset(value, 0, (size_t)n * sizeof *value);
    for (int64_t i = 0; graph != GRAPH_empty && i < n; i++)
        one_node(graph, n, seed, i, count, partial, value);
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "graphs",
    .summary = "graphs of every shape, and graphs that must be refused",
    .kernels = kernels,
    .n_kernels = GRAPHS_KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = graphs,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
};
