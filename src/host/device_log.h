/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph as the device built it, collected while it did: every task with its kernels, its scope
 * and whom it waited for, from the orchestrator's stream (src/orchestrate/edge_log.h).
 */
#ifndef TG_HOST_DEVICE_LOG_H
#define TG_HOST_DEVICE_LOG_H

#include <taskglass/run.h>
#include <taskglass/wire/record.h>

#include "host/graph.h"
#include "scope/scope_writer.h"

struct tg_logged_task {
    uint64_t id;
    uint32_t kernel[TG_PARTS];
    uint32_t site;
};

/* Task number `task` waits for the one with id `before`. */
struct tg_logged_edge {
    uint64_t task;
    uint64_t before;
    uint32_t kind; /* enum tg_edge_kind */
};

struct tg_device_log;

/* Makes the streams and starts collecting; the graph's next run writes to them. `edges`: the graph
 * is kept. `scope_stats`: the folder in which scope_stats/ is made; NULL: none. */
tg_status tg_device_log_start(struct tg_graph *graph, bool edges, const char *scope_stats,
                              struct tg_device_log **log, struct tg_error *error);
/* After the stop: writes the rest of the scope stats, and what is to be said of them. `fatal` may be
 * NULL. */
void tg_device_log_finish_scopes(struct tg_device_log *log, const struct tg_scope_fatal *fatal,
                                 struct tg_scope_result *result);
/* Whether it has the graph. */
bool tg_device_log_has_edges(const struct tg_device_log *log);
/* After the run: takes what is left, and the sites. */
void tg_device_log_stop(struct tg_device_log *log);
void tg_device_log_destroy(struct tg_device_log *log);

/* After the stop, in the order of submission; edges by the task that waits. */
const struct tg_logged_task *tg_device_log_tasks(const struct tg_device_log *log, uint64_t *count);
const struct tg_logged_edge *tg_device_log_edges(const struct tg_device_log *log, uint64_t *count);
/* A scope's source line. */
const char *tg_device_log_site(const struct tg_device_log *log, uint32_t site);
/* Tasks that the device could not write down, or that made no sense. */
uint64_t tg_device_log_lost(const struct tg_device_log *log);

#endif
