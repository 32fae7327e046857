/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two members of deps.json that say what the edges do not:
 *
 *   "seen"         of a task: what the orchestrator knew to have completed before it submitted this
 *                  task and all later ones, {"rings": [n, …], "tasks": ["0x…", …]}: the first n tasks
 *                  of each ring, and these tasks
 *   "allocations"  of the document: the memory that the device's heaps gave out, [{"address": "0x…",
 *                  "bytes": n, "ring": r, "given": k}, …]: k tasks were submitted before it
 */
#ifndef TG_ANALYSIS_DEPS_FACTS_H
#define TG_ANALYSIS_DEPS_FACTS_H

#include "base/json_pull.h"

#include <taskglass/wire/task.h>

/* "seen" of one task. */
struct tg_deps_read_seen {
    uint64_t done[TG_RINGS]; /* 0 for a ring that the file does not name */
    uint64_t *task;          /* ids */
    size_t n_tasks, room;
    bool is_there; /* the task has the member */
};

struct tg_deps_allocation {
    uint64_t address, bytes; /* not empty, and the end does not overflow */
    uint64_t given; /* the tasks submitted before: never less than that of the one before */
    uint32_t ring;
};

struct tg_deps_allocations {
    struct tg_deps_allocation *at;
    size_t count, room;
    bool is_there; /* the document has the member */
};

/* Each reads the value behind the key that was read last. False if the JSON is broken, memory ran out, or
 * with *problem. */
bool tg_deps_facts_seen(struct tg_pull *pull, struct tg_deps_read_seen *seen, const char **problem);
bool tg_deps_facts_allocations(struct tg_pull *pull, struct tg_deps_allocations *list,
                               const char **problem);

#endif
