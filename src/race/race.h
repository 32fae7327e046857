/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the races of a graph: pairs of tasks that touch a common byte, of which at least one writes it, and
 * that no order keeps apart. Knows neither recordings nor devices; its users put in what they know:
 *
 *     tg_race_search_new(n_tasks, &search, error)
 *     tg_race_add_edge, tg_race_add_seen, tg_race_add_access      in any order
 *     tg_race_search_run(search, &config, &result, error)         tells groups and pairs
 *     tg_race_search_free(search)
 *
 * Tasks are named by their position in the order of submission. A path of edges orders two tasks, and so does
 * the orchestrator if it knew the first to be complete before it submitted the second.
 *
 * What is told is exact: two views collide if they share a byte (a byte of 4-bit elements too), never because
 * their hulls do. A question that would take too long is counted as open instead of being guessed.
 */
#ifndef TG_RACE_RACE_H
#define TG_RACE_RACE_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/status.h>
#include <taskglass/tensor.h>

/* A task touches a tensor. */
struct tg_race_access {
    uint32_t task, argument;
    bool reads, writes;
    uint64_t space; /* accesses of different spaces never collide, whatever their addresses */
    const struct tg_tensor *tensor;
};

struct tg_race_search;

/* One of two tasks that race, and the argument that shares bytes with the other's. */
struct tg_race_end {
    uint32_t task, argument;
    bool reads, writes;
};

/* All pairs that race over the same two regions (often one and the same). */
struct tg_race_group {
    struct tg_race_end first, second; /* the earliest task that races with one before
                                         * it, and the last of those: an edge between these two
                                         * often orders the other pairs too */
    uint64_t pairs;
    uint64_t bytes; /* that the two regions share; UINT64_MAX: too irregular to be counted */
};

/* Returns other than 0 to cancel the search. */
typedef int (*tg_race_group_fn)(void *context, const struct tg_race_group *group);
typedef int (*tg_race_pair_fn)(void *context, uint32_t first, uint32_t second);
typedef int (*tg_race_watch_fn)(void *context, uint64_t done, uint64_t total);

/* Zeros are the defaults. */
struct tg_race_config {
    tg_race_group_fn group; /* once for each group, the earliest first; at the end */
    tg_race_pair_fn
        pair; /* once for each pair, while the search goes on, until it returns other than 0;
                             * that does not cancel the search */
    tg_race_watch_fn watch; /* from time to time, in tasks */
    void *context;          /* of all three */
    const bool *chosen;     /* NULL, or for each task: only pairs with a chosen task count */
    uint64_t work;          /* steps that the search may take; 0: enough for some seconds */
};

struct tg_race_result {
    uint64_t pairs; /* that race; exact if `is_exact`, otherwise at least that many */
    uint64_t groups;
    uint64_t
        unclear; /* unordered pairs, at least, of which it is not known whether they share bytes */
    uint64_t
        left_out; /* accesses whose bytes are not known, as of a view that leaves the address space */
    bool is_exact; /* every pair was judged, and counted once */
    uint32_t
        judged; /* tasks that were compared with all before them; n_tasks unless work ran out */
};

/* NO_MEMORY. */
tg_status tg_race_search_new(uint32_t n_tasks, struct tg_race_search **search,
                             struct tg_error *error);
/* NULL is allowed. */
void tg_race_search_free(struct tg_race_search *search);

/* `after` waits for `before`. These three return false if memory ran out. Positions beyond the last task, and
 * an edge from a task to itself, are left out. */
bool tg_race_add_edge(struct tg_race_search *search, uint32_t before, uint32_t after);
/* The orchestrator knew that `seen` was complete before it submitted `task`, and so all later ones. Left out
 * if `seen` is not before `task`. */
bool tg_race_add_seen(struct tg_race_search *search, uint32_t seen, uint32_t task);
/* Tasks that were held back until the orchestrator let them go, when it had submitted `at` tasks: it knew then
 * what it had known before, and what tg_race_gate_seen adds. Gates are added in the order of time. A gate that
 * opens for nobody costs little. */
bool tg_race_add_gate(struct tg_race_search *search, uint32_t at, uint32_t *gate);
bool tg_race_gate_seen(struct tg_race_search *search, uint32_t gate, uint32_t seen);
bool tg_race_gate_opens(struct tg_race_search *search, uint32_t gate, uint32_t task);
/* Keeps nothing of the tensor but its bytes. A tensor without elements, or without reads and writes, touches
 * nothing. */
bool tg_race_add_access(struct tg_race_search *search, const struct tg_race_access *access);

/* Once. BAD_ARGUMENT: the edges form a cycle; CANCELLED; NO_MEMORY. */
tg_status tg_race_search_run(struct tg_race_search *search, const struct tg_race_config *config,
                             struct tg_race_result *result, struct tg_error *error);

#endif
