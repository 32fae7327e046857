/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building a graph on the host, task by task, with explicit edges. A graph takes its kernels from
 * one module and can run any number of times on that module's device. It stays on the device between
 * runs; the host sends it again only after a change.
 *
 * A graph belongs to one thread at a time. It must not be changed or destroyed while it runs.
 */
#ifndef TASKGLASS_GRAPH_H
#define TASKGLASS_GRAPH_H

#include <taskglass/args.h>
#include <taskglass/device.h>
#include <taskglass/wire/comm.h>
#include <taskglass/wire/device.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tg_graph;

/* An empty graph. Destroy it before its device is closed. */
TG_API tg_status tg_graph_create(struct tg_module *module, struct tg_graph **graph,
                                 struct tg_error *error);
TG_API void tg_graph_destroy(struct tg_graph *graph);
/*
 * Removes all tasks and edges, so that the next graph is built in the memory that this one has on the
 * host and on the device: a program that builds one graph after the other pays for fresh memory only
 * when a graph is larger than all before. Frees the memory of tensors that an orchestration allocated.
 * Also allowed after a run that failed, and on a lost device. BUSY while the graph runs. BAD_ARGUMENT
 * for a graph that the device builds: it does so anew in every run, in the same memory.
 */
TG_API tg_status tg_graph_reset(struct tg_graph *graph, struct tg_error *error);
/* The same without an answer: does nothing where tg_graph_reset returns an error. */
TG_API void tg_graph_clear(struct tg_graph *graph);
/* Reserves room for this many tasks and edges, so that the graph does not have to grow. Only a hint. */
TG_API tg_status tg_graph_reserve(struct tg_graph *graph, uint64_t tasks, uint64_t edges);

/*
 * Adds a task of one kernel (`kernel` is an index of tg_module_kernel) or, with several
 * entries, a mix: kernel[TG_PART_AIC], kernel[TG_PART_AIV0], kernel[TG_PART_AIV1],
 * TG_NO_KERNEL for an empty part. The arguments are copied; args may be NULL: none.
 * *task gets the id, counted from 0. Arguments go to device memory or to a buffer for it, so a full
 * device is NO_MEMORY here.
 * BAD_ARGUMENT: no such kernel, a kernel of the wrong kind for its part, arguments that do not
 * match its signature, a tensor that leaves its storage, an edge from an unknown task.
 */
TG_API tg_status tg_graph_add(struct tg_graph *graph, uint32_t kernel, const struct tg_args *args,
                              uint64_t *task, struct tg_error *error);
TG_API tg_status tg_graph_add_mix(struct tg_graph *graph, const uint32_t kernel[TG_PARTS],
                                  const struct tg_args *args, uint64_t *task,
                                  struct tg_error *error);

/* Makes `after` wait for `before`. BAD_ARGUMENT if either is not a task of the graph or both are
 * the same. It does not look for cycles; tg_graph_check does. */
TG_API tg_status tg_graph_add_edge(struct tg_graph *graph, uint64_t before, uint64_t after,
                                   struct tg_error *error);

/*
 * Adds a call of communication: tg_send and the like of orchestration.h, which has the rules for `args`.
 * `peer`, `tag` and `operation` (enum tg_reduction) are TG_COMM_NONE where the kind has none. The device
 * has joined a job (comm.h), or is the only rank. All ranks add their calls in the same order.
 */
TG_API tg_status tg_graph_communicate(struct tg_graph *graph, enum tg_comm_kind kind, int32_t peer,
                                      int32_t tag, int32_t operation, const struct tg_args *args,
                                      uint64_t *task, struct tg_error *error);

/* How a graph comes to be; tg_runtime_get has the name of each. */
enum tg_runtime_kind {
    TG_RUNTIME_HOST_BUILD_GRAPH = 0,
    TG_RUNTIME_AICPU_BUILD_GRAPH = 1,
    TG_RUNTIME_TENSORMAP_AND_RINGBUFFER = 2
};

/* Sizes of the rings for a graph that the device builds. Zero means the default. */
struct tg_rings {
    uint32_t task_window[TG_RINGS]; /* task slots; default 16384 */
    uint32_t dep_pool[TG_RINGS];    /* dependencies not yet met; default 16384 */
    uint64_t heap[TG_RINGS]; /* bytes for tg_alloc; default 256 MiB, less on a small device */
    uint32_t tensormap;      /* tensors that unfinished tasks use; default 65536 */
};

/*
 * Creates a graph from the module's orchestration function and these arguments, which are copied.
 * With TG_RUNTIME_HOST_BUILD_GRAPH this call runs the function and returns its first error. With
 * the other runtimes the device runs it again in every run of the graph; no task can be added to such
 * a graph, and its tasks and edges are known only after a run. `rings` may be NULL.
 */
TG_API tg_status tg_graph_orchestrate(struct tg_module *module, enum tg_runtime_kind runtime,
                                      const struct tg_args *args, const struct tg_rings *rings,
                                      struct tg_graph **graph, struct tg_error *error);

/* How many tasks and edges the graph has. */
TG_API uint64_t tg_graph_tasks(const struct tg_graph *graph);
TG_API uint64_t tg_graph_edges(const struct tg_graph *graph);

/* CYCLE: the error names the tasks on it. Every run checks this too; call it to know earlier. */
TG_API tg_status tg_graph_check(struct tg_graph *graph, struct tg_error *error);

/* Sends the graph to the device now instead of with the first run. NO_MEMORY, CYCLE. */
TG_API tg_status tg_graph_upload(struct tg_graph *graph, struct tg_error *error);

#ifdef __cplusplus
}
#endif
#endif
