/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three members of deps.json that say what the edges do not:
 *
 *   "seen"         of a task: what the orchestrator knew to have completed before it submitted this
 *                  task and all later ones, {"rings": [n, …], "tasks": ["0x…", …]}: the first n tasks
 *                  of each ring, and these tasks
 *   "allocations"  of the document: the memory that the device's heaps gave out, [{"address": "0x…",
 *                  "bytes": n, "ring": r, "given": k}, …]: k tasks were submitted before it
 *   "released"     of the document: tasks that started only when the scope that held them back ended,
 *                  [{"at": k, "tasks": ["0x…", …], "seen": {…}}, …]: k tasks were submitted before that, and
 *                  the orchestrator knew what `seen` says besides what it knew before
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

/* Tasks that a TG_SCOPE_HELD held back until it ended. */
struct tg_deps_release {
    uint64_t at; /* the tasks submitted before: never less than that of the one before */
    uint64_t done[TG_RINGS]; /* the first tasks of each ring had completed by then */
    size_t n_seen,
        n_held; /* so many more of `id`: tasks that had completed by then, then those held */
};

struct tg_deps_releases {
    struct tg_deps_release *at;
    size_t count, room;
    uint64_t *id;
    size_t n_ids, id_room;
};

/* Each reads the value behind the key that was read last. False if the JSON is broken, memory ran out, or
 * with *problem. */
bool tg_deps_facts_seen(struct tg_pull *pull, struct tg_deps_read_seen *seen, const char **problem);
bool tg_deps_facts_allocations(struct tg_pull *pull, struct tg_deps_allocations *list,
                               const char **problem);
bool tg_deps_facts_releases(struct tg_pull *pull, struct tg_deps_releases *list,
                            const char **problem);

#endif
