/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph of a run, from its deps.json: read once, one task at a time, into columns that the requests `edges` and
 * `task` share.
 *
 * A task is a number here, as in the answer: its index among the tasks of tasks.h, and behind those the tasks that
 * only deps.json has, in the order in which they come.
 */
#ifndef TG_WORKBENCH_EDGES_H
#define TG_WORKBENCH_EDGES_H

#include "workbench/tasks.h"
#include "workbench/texts.h"

struct tg_bench_edges {
    struct tg_columns columns; /* the answer to `edges`; the arrays are in it */
    uint32_t count;            /* tasks of deps.json, in the order of submission */
    uint32_t known;            /* tasks of tasks.h */
    uint32_t n_extra;
    uint64_t *extra_id;
    uint32_t *task, *scope, *line, *kernel; /* by task of deps.json */
    bool is_wide;                           /* the times are f64; else u32 */
    void *submitted;                        /* by task of deps.json: nanoseconds since the start */
    uint64_t n_edges;
    uint32_t *before, *after;
    uint8_t *kind;    /* enum tg_edge_kind; UINT8_MAX: not known */
    uint32_t *row_of; /* by task: its row; TG_BENCH_NONE: deps.json does not list it */
    struct tg_texts scopes, lines, kernels;
    char runtime[256];
    uint64_t lost;    /* tasks and edges that the run reports as not written */
    uint64_t unknown; /* edges to ids that no task has: they are left out */
};

/* The graph of an open run, made by the first thread that asks; it lives as long as the run. UNSUPPORTED: there is no
 * deps.json, or it is none, as *error says; IO_ERROR, NO_MEMORY. */
tg_status tg_bench_edges_of(struct tg_bench_run *run, const struct tg_bench_edges **edges,
                            struct tg_error *error);
void tg_bench_edges_free(struct tg_bench_edges *edges);

/* The id of a task. */
uint64_t tg_bench_edges_id(const struct tg_bench_edges *edges, const struct tg_bench_tasks *tasks,
                           uint32_t task);
/* When row `row` of deps.json was submitted; NaN if that is not known. */
double tg_bench_submitted_at(const struct tg_bench_edges *edges, uint32_t row);

#endif
