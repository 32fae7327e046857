/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A runtime is one const object: how a graph comes to be from an orchestration function. The host
 * knows only this type; the objects and their table are in src/runtime, which is built on the host.
 * What a runtime wants of the device goes into the launch as properties (wire/device.h,
 * wire/orchestration.h), so that the device knows no runtime by name either.
 */
#ifndef TG_HOST_RUNTIME_OPS_H
#define TG_HOST_RUNTIME_OPS_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/graph.h>

struct tg_runtime_ops {
    const char *name;    /* what --runtime takes */
    const char *summary; /* one line, for `taskglass list` */

    /*
     * Fills the empty graph from the orchestration function of its module, which there is. Either
     * calls the function on the host and adds what it submits, or lays out what the device needs to
     * call it in each run: tg_graph_place. The first error is the result. `rings` may be NULL.
     */
    tg_status (*build)(const struct tg_runtime_ops *self, struct tg_graph *graph,
                       const struct tg_args *args, const struct tg_rings *rings,
                       struct tg_error *error);

    /* For tg_graph_place; zeros where the host builds the graph. */
    uint32_t n_rings;      /* 1 to TG_RINGS: scopes use ring 0, 1, ... by their depth */
    bool finds_edges;      /* the tensor map finds edges, besides those that the code names */
    bool scopes_own_slots; /* a task keeps its slot until its scope has ended */
};

/* src/runtime/runtimes.c: all of them, numbered as enum tg_runtime_kind; NULL past the end. */
const struct tg_runtime_ops *tg_runtime_number(uint32_t number);

#endif
