/* SPDX-License-Identifier: Apache-2.0 */
/* Random task graphs, and their images for the engine. */
#ifndef TG_EMULATED_GRAPHS_H
#define TG_EMULATED_GRAPHS_H

#include <vector>

#include "fibers.h"
#include "device/engine.h"

enum {
    KERNELS = 40,
    PARTS = 3,
    ARGS_BYTES = 1600, /* of a task, at most */
    ARGS_WORDS = ARGS_BYTES / 8
};

struct node {
    std::vector<uint32_t> successors, predecessors;
    uint32_t task_class, parts, kernel, work, n_tensors;
    bool meets; /* its threads meet at a barrier */
    uint32_t starts[PARTS][EMU_CREW], ends[PARTS][EMU_CREW];
};

struct graph {
    const char *shape;
    bool fed;
    std::vector<node> nodes;
    struct tg_launch launch;
    /* What the launch points to. */
    std::vector<struct tg_task_desc> desc;
    std::vector<uint32_t> succ, ready[TG_CLASSES];
    std::vector<uint64_t> payload, queue[TG_CLASSES];
};

/* What the tasks of a graph are like. */
struct taste {
    uint32_t classes; /* which classes of tasks */
    uint32_t work;    /* how long kernels take */
    bool mixes;
};
struct taste random_taste(bool mixes);

/* A graph of a random shape. `in_order`: each task comes after its predecessors. */
void make_graph(struct graph *g, const struct taste *taste, bool in_order);

/* Its descriptors and queues, as src/host/graph_upload.c makes them. */
void seal_graph(struct graph *g);

/* The arguments of a task: its number, a scalar that follows from it, and its tensors. */
enum { ID_FACTOR = 7919 };
struct tg_tensor tensor_of(uint32_t id, uint32_t i);
uint64_t *put_args(uint64_t *to, uint32_t id, uint32_t n_tensors);
void fill_desc(struct tg_task_desc *desc, const struct node *n, uint32_t id, uint64_t args);

#endif
