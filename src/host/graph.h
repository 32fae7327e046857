/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph that the host builds: tasks (graph_tasks.h), arguments where the device reads them
 * (graph_args.h), and the edges in the order in which they were added. tg_graph_upload makes the image
 * that the device runs:
 *
 *   image ──► ┌────────┬─────────────┬──────┬──────┬──────────────┐    ┌───────────┐
 *             │ launch │ ready tasks │ succ │ desc │ queues (only │    │ arguments │ …
 *             │        │ per class   │      │      │ the device's)│    │           │
 *             └────────┴─────────────┴──────┴──────┴──────────────┘    └───────────┘
 *
 * The host keeps tasks and edges of its own, because it makes the image again after a run that failed,
 * and names tasks and edges in its reports: a kernel can overwrite the image.
 */
#ifndef TG_HOST_GRAPH_H
#define TG_HOST_GRAPH_H

#include "host/graph_args.h"
#include "host/graph_tasks.h"
#include "host/module.h"
#include <taskglass/graph.h>
#include <taskglass/wire/device.h>
#include <taskglass/wire/orchestration.h>

struct tg_runtime_ops;

struct tg_edge {
    uint32_t before;
    uint32_t after;
};

/* A line that was not the last of its hash gets another number, which only takes memory. */
enum { TG_RECENT_LINES = 64 };

/* The memory layout of a graph that the device builds: the host's own copy. */
struct tg_graph_layout {
    struct tg_launch launch;
    struct tg_orchestration orchestration;
    uint64_t device_orchestration; /* offset in the image of the one that a device thread uses */
};

/* A graph whose orchestration can run on the device or beside it has its struct tg_orchestration twice,
 * because each place is near one of them and far from the other. `layout` is that of the last run. */
struct tg_graph_beside {
    uint64_t memory;     /* shared: struct tg_orchestration and what the host reads of it */
    uint64_t done_words; /* in that memory */
    bool used;           /* by the last run */
    struct tg_orchestration orchestration, on_device;
};

/* Addresses in the launch on the device, which differ from run to run. */
struct tg_graph_told {
    uint64_t record, trace, schedule, comm;
};

struct tg_graph {
    struct tg_module *module;
    struct tg_graph_tasks tasks;
    struct tg_edge *edge;
    uint64_t n_edges;
    size_t room_edges;
    struct tg_graph_args args;
    const char **site; /* scope sites by number; the workload owns the strings */
    uint32_t n_sites;
    size_t room_sites;
    uint32_t current_site;
    uint32_t current_line; /* of the next task: 1 + the number of its site; 0: not known */
    uint32_t recent_line[TG_RECENT_LINES]; /* the last line of that hash, likewise */
    uint32_t class_count[TG_CLASSES];
    uint32_t n_ready[TG_CLASSES]; /* tasks that wait for no other */
    bool may_cycle;               /* an edge goes from a later task to an earlier one */
    uint64_t lowest, end;         /* the device addresses that its tensors use: [lowest, end) */

    uint64_t *memory; /* device memory that the graph owns */
    uint32_t n_memory;
    size_t room_memory;
    uint64_t orchestration;         /* device-built graphs: the orchestration's address */
    struct tg_graph_layout *layout; /* device-built graphs: what the host wrote there */
    struct tg_graph_beside *beside; /* of runs whose orchestrator is beside the device; or NULL */
    struct tg_device_log *log;      /* device-built graphs: the last run's log, or NULL */
    struct tg_args *given;    /* the orchestration's arguments, for recordings; NULL: it had none */
    const char *const *names; /* of its tensors, for messages; the caller's. NULL: not known */

    struct tg_comm_count *comm_counts; /* numbers calls of communication; NULL: there is none yet */
    bool calls;                        /* the task being added is a call */
    bool has_calls;                    /* the host has added one */
    bool resident;                     /* the image on the device is up to date */
    uint64_t image;                    /* the image's address; 0: none */
    struct tg_graph_told told;         /* what runs have written into it; zeros when it is new */
    uint64_t image_room;
    uint64_t image_ready; /* how much of it the host has announced to the device */
};

/* tg_graph_orchestrate for a caller that knows the names of the orchestration's tensors, which messages
 * then say. There is one for each tensor, and they outlive the graph. */
tg_status tg_graph_orchestrate_named(struct tg_module *module, enum tg_runtime_kind runtime,
                                     const struct tg_args *args, const char *const *names,
                                     const struct tg_rings *rings, struct tg_graph **graph,
                                     struct tg_error *error);

/* Tasks that are added from now on belong to this scope. The string must outlive the graph. */
tg_status tg_graph_set_site(struct tg_graph *graph, const char *site, struct tg_error *error);

/* The descriptor of a task; `succ` and `next`, which only the image needs, are 0. */
struct tg_task_desc tg_graph_desc(const struct tg_graph *graph, uint64_t task);
const char *tg_graph_site(const struct tg_graph *graph, uint64_t task);
/* The next tasks are added by the call at this source line; NULL: it is not known. The workload owns the
 * text. */
tg_status tg_graph_set_line(struct tg_graph *graph, const char *line, struct tg_error *error);
/* "" if it is not known. */
const char *tg_graph_line(const struct tg_graph *graph, uint64_t task);
/* Reads the tensors of a task by its descriptor: see tg_graph_args_read. */
bool tg_graph_tensors(struct tg_graph *graph, const struct tg_task_desc *desc,
                      struct tg_tensor *tensors);
/* Allocates device memory that is freed when the graph is destroyed or cleared. */
tg_status tg_graph_alloc(struct tg_graph *graph, uint64_t bytes, uint64_t *address,
                         struct tg_error *error);
/* The name of a kernel by its number on the device, as in descriptors. */
const char *tg_graph_kernel_name(const struct tg_graph *graph, uint32_t kernel);
/* All edges, in the order in which they were added. */
const struct tg_edge *tg_graph_edge_list(const struct tg_graph *graph, uint64_t *count);

/* ring_layout.c: allocates and writes what the device needs to build the graph: rings, arguments,
 * kernels. It is the `build` of every runtime whose orchestration runs on the device. */
tg_status tg_graph_place(const struct tg_runtime_ops *runtime, struct tg_graph *graph,
                         const struct tg_args *args, const struct tg_rings *rings,
                         struct tg_error *error);

/* Before a run: whether its orchestration runs beside the device, for which the graph must have `beside`. */
tg_status tg_graph_orchestrate_beside(struct tg_graph *graph, bool beside, struct tg_error *error);
void tg_graph_free_beside(struct tg_graph *graph);

/* BAD_ARGUMENT if a ring is too small or too large; 0 means the default size. */
tg_status tg_rings_check(const struct tg_rings *rings, struct tg_error *error);

/* graph_upload.c: how many predecessors of a task have not completed, as the device counts; after the last of
 * them it begins again at the number of all. False: that cannot be read. */
bool tg_graph_read_pending(const struct tg_graph *graph, uint64_t task, uint32_t *pending);

/* graph_check.c: CYCLE if there is one; the message lists its tasks. */
tg_status tg_graph_find_cycle(const struct tg_graph *graph, struct tg_error *error);

#endif
