/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deps.json in memory: the tasks of a run in the order of submission, and the tasks that each of
 * them waited for. Edges to ids that no task has are counted and left out. Edges may point
 * anywhere, and may form cycles.
 *
 * Besides the edges it says what the orchestrator knew: `seen` is the list of what it knew to have
 * completed, which only grows from task to task (deps_facts.h). A task that was seen to have completed
 * comes before the task `at` and every later one, and so do the tasks that it waited for.
 */
#ifndef TG_ANALYSIS_DEPS_H
#define TG_ANALYSIS_DEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/recording.h>

#include "analysis/deps_facts.h"
#include "base/names.h"

struct tg_deps_task {
    uint64_t id;
    uint64_t submitted;      /* when, on the device's clock; TG_NONE if the file does not say */
    uint32_t func[TG_PARTS]; /* in the order of the file; TG_NO_KERNEL after the last */
    uint8_t slot[TG_PARTS];  /* the part that each is of; TG_PARTS if the file does not say */
    const char *kernel[TG_PARTS]; /* names, "" for a kernel without one; NULL after the last */
    const char *scope;            /* "" if the task has none */
    const char *line;             /* of the call that submitted it; "" if the file does not say */
    uint64_t first_edge, n_edges;
};

/* What had completed, in every schedule, before task `at` was submitted: all that is known by then, not
 * only what is new. */
struct tg_deps_seen {
    uint32_t at; /* index of a task: larger than that of the entry before */
    uint64_t
        done[TG_RINGS]; /* the tasks of each ring (id >> 32) with a smaller index (low 32 bits) */
    uint64_t n_tasks;   /* and the first n of seen_task */
};

struct tg_deps {
    struct tg_deps_task *task;
    uint32_t n_tasks;
    uint32_t *before; /* edges: the tasks that were waited for, as indices into `task` */
    uint64_t n_edges;
    uint64_t unknown;    /* edges to ids that no task has */
    uint64_t lost;       /* tasks and edges that the run reports as not written */
    const char *runtime; /* that made the graph; "" if the file does not say */
    struct tg_deps_seen *seen;
    uint32_t n_seen;
    uint32_t *seen_task; /* indices of tasks that come before the task of the entry that has them */
    uint64_t n_seen_tasks;
    /* Memory that the device's heaps gave out. The bytes that a task uses belong to the last allocation
     * that covers them and was given out before or with the task (given <= its index); see deps_space.h.
     * Other memory is never given out again during a run. */
    struct tg_deps_allocation *allocation;
    size_t n_allocations;
    /* Tasks that started only when a scope ended, by time. Of each entry, n_seen and then n_held indices of
     * tasks are in release_task: those it names as complete by then, and those that started then. */
    struct tg_deps_release *release;
    size_t n_releases;
    uint32_t *release_task;
    bool is_peer;      /* another implementation wrote the file (deps_peer.h) */
    bool knows_memory; /* the file lists the allocations; a file of an older version does not */
    struct tg_names names;
    uint64_t *edge_id, *seen_id; /* only while the file is read */
};

/* Reads the deps.json beside a recording. Sets *deps to NULL and returns TG_OK if there is none.
 * Returns BAD_ARGUMENT if the file is not a deps.json; the text names the file. */
tg_status tg_deps_find(const struct tg_recording *recording, struct tg_deps **deps,
                       struct tg_error *error);
/* `name` is for messages. Keeps no pointer into the text. */
tg_status tg_deps_parse(const char *text, size_t size, const char *name, struct tg_deps **deps,
                        struct tg_error *error);
/* What was known before the task was submitted; NULL: nothing. */
const struct tg_deps_seen *tg_deps_seen_by(const struct tg_deps *deps, uint32_t task);
void tg_deps_free(struct tg_deps *deps);

#endif
