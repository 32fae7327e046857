/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph on the host: descriptors and payload as the device will see them, and the edges in
 * the order they were added. tg_graph_upload turns that into the image the device runs:
 *
 *   image ──► ┌────────┬─────────────┬──────┬──────┬─────────┬──────────────┐
 *             │ launch │ ready tasks │ succ │ desc │ payload │ queues (only │
 *             │        │ per class   │      │      │         │ the device's)│
 *             └────────┴─────────────┴──────┴──────┴─────────┴──────────────┘
 */
#ifndef TG_HOST_GRAPH_H
#define TG_HOST_GRAPH_H

#include "host/module.h"
#include <taskglass/graph.h>
#include <taskglass/wire/device.h>

struct tg_edge {
    uint32_t before;
    uint32_t after;
};

struct tg_graph {
    struct tg_module *module;
    struct tg_task_desc *desc; /* n_succ and fanin are kept while edges are added */
    uint64_t n_tasks, room_tasks;
    struct tg_edge *edge;
    uint64_t n_edges, room_edges;
    char *payload;
    uint64_t payload_used, payload_room;
    const char **site; /* scope sites by number; the strings are the workload's */
    uint32_t n_sites, room_sites;
    uint32_t current_site;
    uint32_t class_count[TG_CLASSES];
    bool may_cycle;       /* an edge goes from a later task to an earlier one */
    uint64_t lowest, end; /* the device addresses its tensors touch: [lowest, end) */

    bool resident;  /* the image on the device is this graph */
    uint64_t image; /* its address, 0 where there is none */
    uint64_t image_room;
};

/* Tasks added from now on belong to this scope; the string must outlive the graph. */
tg_status tg_graph_set_site(struct tg_graph *graph, const char *site, struct tg_error *error);

const struct tg_task_desc *tg_graph_desc(const struct tg_graph *graph, uint64_t task);
const char *tg_graph_site(const struct tg_graph *graph, uint64_t task);
/* The name of a kernel by its number on the device, as descriptors have it. */
const char *tg_graph_kernel_name(const struct tg_graph *graph, uint32_t kernel);
/* In the order they were added. */
const struct tg_edge *tg_graph_edge_list(const struct tg_graph *graph, uint64_t *count);

/* graph_check.c: CYCLE, with the tasks on it. */
tg_status tg_graph_find_cycle(const struct tg_graph *graph, struct tg_error *error);

#endif
