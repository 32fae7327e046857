/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the orchestrator of a device-built graph knew to have completed before it submitted a task, in every
 * schedule; and the memory that its heaps gave out. Both follow from what it logs (enum tg_fact_kind) and
 * from the sizes of the rings, never from how far the cores were:
 *
 *   slots   a ring of n slots submits its task i only after its tasks up to i - n have completed
 *   heap    bytes are given out again only after the tasks of the scopes that had them have completed; so
 *           this plays the heap's bookkeeping again (src/orchestrate/rings.h)
 *   reads   tg_read waits for the tasks that write the value
 *   held    tasks of a TG_SCOPE_HELD start only when it ends, so what was known then came before them
 *   map     a tensor map that is full forgets completed tasks: a later task that uses the same memory has no
 *           edge to them. Had they not completed, it would have one; so what had completed then counts
 *
 * Dependency entries say nothing of one task: which of several tasks has to complete before an entry is free
 * depends on the schedule (docs/design.md).
 *
 * The log comes from device memory. An entry that no orchestrator writes is refused.
 */
#ifndef TG_HOST_LOG_FACTS_H
#define TG_HOST_LOG_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <taskglass/wire/orchestration.h>
#include <taskglass/wire/record.h>

/* Memory that a heap gave out. */
struct tg_logged_piece {
    uint64_t address, bytes;
    uint64_t given; /* number of the first task that can use it */
    uint32_t ring;
};

/* Before task number `task` was submitted, the first done[r] tasks of ring r had completed. */
struct tg_logged_done {
    uint64_t task;
    uint64_t done[TG_RINGS];
    bool from_heap; /* concluded from the heap's bookkeeping */
};

/* Before task number `task` was submitted, the one with id `before` had completed. */
struct tg_logged_seen {
    uint64_t task;
    uint64_t before;
};

/* The scope that held the task `id` back ended before task number `task` was submitted, when the first
 * n_done and n_seen facts of struct tg_log_facts were known. */
struct tg_logged_release {
    uint64_t task;
    uint64_t id;
    size_t n_done, n_seen;
};

/* A scope with memory has ended, and no other of the ring is open. */
struct tg_ended_heap {
    uint64_t start;          /* the position of the first byte that it had */
    uint64_t mark[TG_RINGS]; /* its memory is free once so many tasks of each ring have completed */
};

struct tg_heap_play {
    uint64_t head;   /* bytes given out or skipped so far */
    uint64_t offset; /* of that position in the heap */
    uint64_t start;  /* the position of the first byte that open scopes have */
    bool is_used;    /* open scopes have memory of it */
    struct tg_ended_heap *ended;
    size_t first, n_ended, room; /* those before `first` no longer matter */
};

enum { TG_LAST_SEEN = 256 };

struct tg_log_facts {
    uint32_t n_rings;
    struct tg_ring_layout ring[TG_RINGS];
    uint64_t submitted[TG_RINGS]; /* of each ring, 1 + the largest index */
    struct tg_heap_play heap[TG_RINGS];
    bool heap_is_wrong; /* an entry does not fit the heap, so nothing more is concluded from it */
    uint64_t last_seen[TG_LAST_SEEN]; /* by id: 1 + what was kept last */
    struct tg_logged_piece *piece;
    size_t n_pieces, room_pieces;
    struct tg_logged_done *done; /* in the order of the tasks */
    size_t n_done, room_done;
    struct tg_logged_seen *seen; /* in the order of the tasks */
    size_t n_seen, room_seen;
    struct tg_logged_release *release; /* in the order of time */
    size_t n_releases, room_releases;
};

void tg_log_facts_init(struct tg_log_facts *facts, const struct tg_orchestration *layout);
void tg_log_facts_free(struct tg_log_facts *facts);

/* Takes the entries of one record, edges included, which it skips. `task`: the number of the task that they
 * come before. False if one of them is refused or memory ran out. */
bool tg_log_facts_take(struct tg_log_facts *facts, const uint64_t *entry, uint32_t n,
                       uint64_t task);
/* A task has been logged; called after its facts. */
void tg_log_facts_submitted(struct tg_log_facts *facts, uint64_t id);

/* Goes through the facts in the order of the tasks. */
struct tg_log_walk {
    const struct tg_log_facts *facts;
    bool lost; /* records are missing, so that the heap's bookkeeping cannot be played */
    uint64_t done[TG_RINGS];
    uint64_t submitted[TG_RINGS]; /* as in struct tg_log_facts */
    size_t next_done, next_seen;
};

/* What is new with one task. */
struct tg_log_news {
    bool rings; /* walk->done has grown */
    const struct tg_logged_seen *seen;
    size_t n_seen;
};

/* Call it for every task, in order. */
void tg_log_walk_next(struct tg_log_walk *walk, uint64_t task, uint64_t id,
                      struct tg_log_news *news);
/* What was known when the tasks were let go, as news since the last call of either function. Call it after all
 * tasks that were submitted before. */
void tg_log_walk_release(struct tg_log_walk *walk, const struct tg_logged_release *release,
                         struct tg_log_news *news);

#endif
