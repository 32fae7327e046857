/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logs the graph while it is built: every task with the tasks that it waits for, through a stream
 * of the orchestrator's own, for deps.json; and its edges to the trace. It runs only if the host asked
 * for one of the two.
 *
 * To the stream go facts too (enum tg_fact_kind): they wait in `record` for the next task.
 */
#ifndef TG_ORCHESTRATE_EDGE_LOG_H
#define TG_ORCHESTRATE_EDGE_LOG_H

#include "device/stream.h"
#include "device/trace.h"
#include <taskglass/wire/record.h>

struct tg_edge_log {
    struct tg_engine *e;
    struct tg_tracer *tracer; /* gets the edges; 0: no trace */
    bool streams;             /* the stream gets the tasks */
    struct tg_stream stream;
    uint64_t done[TG_RINGS];      /* the last that tg_edge_log_done logged */
    struct tg_record_task record; /* of the task being submitted, or to be submitted next */
};

/* `tracer` may be 0. */
TG_FN void tg_edge_log_open(struct tg_edge_log *log, struct tg_engine *e, struct tg_tracer *tracer);
/* Writes what follows to a stream too. `setup` must have one. */
TG_FN void tg_edge_log_stream(struct tg_edge_log *log, struct tg_worker *worker,
                              const struct tg_record_setup *setup);

/* Begins a task; its edges follow, then its end. `line`: as in struct tg_record_task. */
TG_FN void tg_edge_log_begin(struct tg_edge_log *log, const struct tg_task_desc *desc,
                             uint32_t line);
TG_FN void tg_edge_log_add(struct tg_edge_log *log, uint64_t before, enum tg_edge_kind kind);
TG_FN void tg_edge_log_end(struct tg_edge_log *log);
/* Adds an edge to a task that has been logged already. */
TG_FN void tg_edge_log_late(struct tg_edge_log *log, const struct tg_task_desc *desc,
                            uint64_t before);

/* Facts, at any time. Only if the log has a stream. */
TG_FN void tg_edge_log_seen(struct tg_edge_log *log, uint64_t task);
/* The first `done` tasks of the ring have completed. Logs it once, in whatever record. */
TG_FN void tg_edge_log_done(struct tg_edge_log *log, uint32_t ring, uint64_t done);
TG_FN void tg_edge_log_given(struct tg_edge_log *log, uint64_t address, uint64_t bytes);
TG_FN void tg_edge_log_ended(struct tg_edge_log *log, uint32_t ring);
/* The scope that held the task back has ended: what was logged up to here came before the task. */
TG_FN void tg_edge_log_let_go(struct tg_edge_log *log, uint64_t task);

#endif
