/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph that the device builds, collected during the run from the orchestrator's stream
 * (src/orchestrate/edge_log.h): every task with its kernels, its scope and the tasks it waits for; and what
 * the orchestrator knew of the tasks before (log_facts.h).
 */
#ifndef TG_HOST_DEVICE_LOG_H
#define TG_HOST_DEVICE_LOG_H

#include <taskglass/run.h>
#include <taskglass/wire/record.h>

#include "host/graph.h"
#include "host/log_facts.h"
#include "scope/scope_writer.h"

struct tg_logged_task {
    uint64_t id;
    uint64_t time; /* of its submission, on the device's clock */
    uint32_t kernel[TG_PARTS];
    uint32_t site;
    uint32_t line; /* 1 + the site of the call that submitted it; 0: not known */
};

/* Task number `task` waits for the one with id `before`. */
struct tg_logged_edge {
    uint64_t task;
    uint64_t before;
    uint32_t kind; /* enum tg_edge_kind */
};

struct tg_device_log;

/* Creates the streams and starts collecting; the graph's next run writes to them. `edges`: collect
 * tasks and edges. `scope_stats`: the folder in which to create scope_stats/; NULL: none. */
tg_status tg_device_log_start(struct tg_graph *graph, bool edges, const char *scope_stats,
                              struct tg_device_log **log, struct tg_error *error);
/* After the stop: writes the rest of the scope stats and fills in their result. `fatal` may be
 * NULL. */
void tg_device_log_finish_scopes(struct tg_device_log *log, const struct tg_scope_fatal *fatal,
                                 struct tg_scope_result *result);
/* The memory of the device, and what slots, dependencies and map entries cost: what advice on larger
 * rings needs to know. */
struct tg_scope_memory tg_device_log_memory(const struct tg_graph *graph);
/* As tg_record_area_pulse. */
uint64_t tg_device_log_pulse(const struct tg_device_log *log);
/* True if the log collects tasks and edges. */
bool tg_device_log_has_edges(const struct tg_device_log *log);
/* After the run: takes the remaining records and the sites. */
void tg_device_log_stop(struct tg_device_log *log);
void tg_device_log_destroy(struct tg_device_log *log);

/* After the stop: tasks in the order of submission, edges sorted by the task that waits. */
const struct tg_logged_task *tg_device_log_tasks(const struct tg_device_log *log, uint64_t *count);
const struct tg_logged_edge *tg_device_log_edges(const struct tg_device_log *log, uint64_t *count);
/* What the orchestrator knew, and the memory that its heaps gave out. */
const struct tg_log_facts *tg_device_log_facts(const struct tg_device_log *log);
/* A scope's source line, until the next call. */
const char *tg_device_log_site(struct tg_device_log *log, uint32_t site);
/* Records that the device could not write, or that failed the host's checks. */
uint64_t tg_device_log_lost(const struct tg_device_log *log);

#endif
