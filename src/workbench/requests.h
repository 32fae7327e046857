/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of requests. Each has one function, in a file of its own or of its kind: it takes the parameters that it
 * knows from `ask`, calls tg_ask_check_all_used, and writes the answer. `run` is the run that the request names, open;
 * NULL for `runs`.
 */
#ifndef TG_WORKBENCH_REQUESTS_H
#define TG_WORKBENCH_REQUESTS_H

#include "workbench/answer.h"
#include "workbench/ask.h"
#include "workbench/bench.h"

struct tg_request_context {
    struct tg_workbench *bench;
    struct tg_bench_run *run;
    struct tg_ask *ask;
    struct tg_answer *answer;
};
typedef tg_status (*tg_request_fn)(struct tg_request_context *context, struct tg_error *error);

/* clang-format off */
/*      name, function                            file */
#define TG_REQUEST_MAP(X)                              \
    X("runs",       tg_request_runs)       /* runs.c       */ \
    X("run",        tg_request_run)        /* run.c        */ \
    X("ranks",      tg_request_ranks)      /* ranks.c      */ \
    X("calls",      tg_request_calls)      /* calls.c      */ \
    X("timeline",   tg_request_timeline)   /* timeline.c   */ \
    X("edges",      tg_request_edges)      /* edges.c      */ \
    X("task",       tg_request_task)       /* task.c       */ \
    X("records",    tg_request_records)    /* records.c    */ \
    X("tensor",     tg_request_tensor)     /* tensor.c     */ \
    X("heatmap",    tg_request_heatmap)    /* heatmap.c    */ \
    X("difference", tg_request_difference) /* difference.c */ \
    X("values",     tg_request_values)     /* values.c     */ \
    X("stats",      tg_request_stats)      /* summary.c    */ \
    X("histogram",  tg_request_histogram)  /* summary.c    */ \
    X("npy",        tg_request_npy)        /* npy.c        */ \
    X("rings",      tg_request_rings)      /* rings.c      */ \
    X("explain",    tg_request_explain)    /* explain.c    */
/* clang-format on */

#define TG_REQUEST_DECLARE_(name, function) \
    tg_status function(struct tg_request_context *context, struct tg_error *error);
TG_REQUEST_MAP(TG_REQUEST_DECLARE_)
#undef TG_REQUEST_DECLARE_

#endif
