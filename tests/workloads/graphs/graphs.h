/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations that the files of this workload share. Every good graph is made of nodes: node i
 * waits for some nodes before it, and its value is a hash of its number and their values. A node
 * that ran too early, twice or never shows in `value` and `count`.
 */
#ifndef GRAPHS_H
#define GRAPHS_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

/*      case, parameter n, what it is */
#define GRAPHS_GOOD(X)                                              \
    X(empty, 4, "no task at all")                                   \
    X(one, 1, "a single task")                                      \
    X(diamond, 4, "1 to 2 to 1")                                    \
    X(deep, 1000, "a chain")                                        \
    X(wide, 1000, "independent tasks")                              \
    X(fan, 1000, "1 to n - 2 to 1")                                 \
    X(reverse, 200, "a chain submitted from its end, by tg_depend") \
    X(random, 2000, "up to four predecessors each, at random")      \
    X(mixes, 2000, "random, with mixes of two and three kernels")

#define GRAPHS_REFUSED(X)                                               \
    X(cycle, 4, "three tasks that wait for one another")                \
    X(self_edge, 4, "a task that waits for itself")                     \
    X(bad_edge, 4, "an edge from a task that is not there")             \
    X(bad_kernel, 4, "a kernel index out of range")                     \
    X(wrong_count, 4, "a tensor too few")                               \
    X(too_much, 4, "a scalar too many")                                 \
    X(stack, 4, "arguments without tg_args_init")                       \
    X(again, 4, "the arguments of two tasks in one")                    \
    X(local, 4, "the address of a local variable")                      \
    X(not_given, 4, "a tensor that the case does not have")             \
    X(wrong_role, 4, "an input where the kernel wants an output")       \
    X(wrong_dtype, 4, "int32 where the kernel wants uint64")            \
    X(wrong_scalar, 4, "a float32 scalar where the kernel wants int64") \
    X(wrong_part, 4, "a vector kernel in the matrix part of a mix")     \
    X(no_part, 4, "a mix with no kernel")                               \
    X(outside, 4, "a view outside its storage")                         \
    X(bad_view, 4, "a slice beyond the end")                            \
    X(broadcast_out, 4, "an output with stride 0")                      \
    X(too_many, 4, "17 tensors")                                        \
    X(too_many_scalars, 4, "17 scalars")                                \
    X(too_many_after, 4, "17 times tg_args_after")                      \
    X(huge_alloc, 4, "an intermediate larger than any device")          \
    X(bad_alloc, 4, "an intermediate of negative size")                 \
    X(fail, 4, "the orchestration gives up by tg_fail")

#define GRAPHS_ENUM(name, n, text) GRAPH_##name,
enum { GRAPHS_GOOD(GRAPHS_ENUM) GRAPHS_REFUSED(GRAPHS_ENUM) N_GRAPHS };
#undef GRAPHS_ENUM

enum { MAX_PREDECESSORS = 4, WINDOW = 256, MAX_FAN = 1024 };

/* One function under fifteen names: for each kind of core and for either, with 0 to 4
 * predecessors. */
enum {
    NODE_AIC = 0,
    NODE_AIV = MAX_PREDECESSORS + 1,
    NODE_EITHER = 2 * NODE_AIV,
    GRAPHS_KERNELS = 3 * NODE_AIV
};

/* The parts of a mix, as a set of bits 1 << enum tg_part. */
enum { MASK_AIC = 1, MASK_AIV = 2 };

TG_KERNEL(graphs_node);
TG_ORCHESTRATION(graphs);
/* The arguments that every node has: a task of node i without predecessors. */
TG_FN void graphs_node_args(struct tg_args *task, const struct tg_args *args, int64_t i,
                            uint64_t mask);
TG_FN void graphs_refused(struct tg_rt *rt, const struct tg_args *args, int64_t graph);

/* Mixes a value into a hash (the finalizer of splitmix64). */
TG_INLINE uint64_t graph_hash(uint64_t hash, uint64_t value)
{
    hash += value + 0x9e3779b97f4a7c15u;
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
    return hash ^ (hash >> 31);
}

/* The parts that node i runs on. */
TG_INLINE uint64_t graph_mask(int64_t graph, int64_t seed, int64_t i)
{
    uint64_t random = graph_hash(graph_hash((uint64_t)seed, (uint64_t)i), 99);
    if (graph != GRAPH_mixes)
        return random % 2 ? MASK_AIV : MASK_AIC;
    switch (random % 6) {
    case 0:
        return MASK_AIC;
    case 1:
        return MASK_AIV;
    default:
        return random % 6 == 2 ? 3 : random % 6 + 2; /* 3, 5, 6, 7: not AIV1 alone */
    }
}

/* The nodes that node i reads; a node may come twice. The last node of a fan reads all others. */
TG_INLINE int graph_predecessors(int64_t graph, int64_t seed, int64_t i,
                                 int64_t before[MAX_PREDECESSORS])
{
    uint64_t random = graph_hash((uint64_t)seed, (uint64_t)i);
    int64_t window = i < WINDOW ? i : WINDOW;
    int n = (int)(random % (MAX_PREDECESSORS + 1));
    switch (graph) {
    case GRAPH_wide:
        return 0;
    case GRAPH_diamond:
        before[0] = i == 3 ? 1 : 0;
        before[1] = 2;
        return i == 0 ? 0 : i == 3 ? 2 : 1;
    case GRAPH_fan:
        before[0] = 0;
        return i > 0;
    case GRAPH_random:
    case GRAPH_mixes:
        for (int k = 0; k < n && i > 0; k++)
            before[k] = i - 1 - (int64_t)(graph_hash(random, (uint64_t)k) % (uint64_t)window);
        return i > 0 ? n : 0;
    default:
        before[0] = i - 1;
        return i > 0;
    }
}

#endif
