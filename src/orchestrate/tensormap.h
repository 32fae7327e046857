/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tensor map knows which tasks use which memory, and finds a task's dependencies from its
 * tensors.
 *
 *   region   bytes that a task named, the last task that wrote them, and the tasks that have read
 *            them since
 *   reads    wait for the last writer of every region they meet, and become readers of their own
 *   writes   wait for the readers of every region they meet, or for its writer if it has none
 *            (readers wait for the writer themselves); regions that a write covers are dropped
 *
 * A region is found by its first byte: regions of at most 2^l bytes lie in buckets of 2^l bytes,
 * each in the bucket of its first byte. A search for regions that meet [lo, hi) looks, for every l
 * in use, into the buckets from one before lo's to hi's; or, if those are more than there are
 * regions, at all regions of that size.
 *
 * There are few buckets at first, so that a small graph does not have to clear many. They become more
 * as entries do.
 *
 * Entries are bounded. A region that only completed tasks used is dropped when a search finds it;
 * or when a new region is added, which checks the oldest of its size; or, when entries run out, by
 * a sweep over all. Only the orchestrator's thread uses the map.
 */
#ifndef TG_ORCHESTRATE_TENSORMAP_H
#define TG_ORCHESTRATE_TENSORMAP_H

#include "device/task_ref.h"
#include "orchestrate/region.h"
#include <taskglass/wire/orchestration.h>
#include <taskglass/wire/record.h>

enum { TG_MAP_LEVELS = 64 };

struct tg_tensormap {
    struct tg_map_region *region;
    struct tg_map_reader *reader;
    uint32_t *bucket;
    uint32_t size;
    uint32_t mask;         /* buckets in use - 1 */
    uint32_t most_buckets; /* there is memory for that many */
    uint32_t live;         /* entries in use, regions and readers together: at most `size` */
    uint32_t most;         /* of `live` since the orchestrator last looked */
    uint32_t free_region, free_reader;   /* lists: entry + 1 */
    uint32_t fresh_region, fresh_reader; /* entries from here on were never used */
    uint32_t hand;                       /* where the next sweep begins */
    uint64_t levels;                     /* bit l: there are regions of size class l */
    uint32_t level_first[TG_MAP_LEVELS]; /* entry + 1: the newest, */
    uint32_t level_last[TG_MAP_LEVELS];  /* the oldest */
    uint32_t level_count[TG_MAP_LEVELS];
};

/* The functions and data that the map needs from its user, the orchestrator. */
struct tg_map_user {
    /* The task being submitted waits for this one. */
    void (*found)(struct tg_map_user *user, uint64_t task, enum tg_edge_kind kind);
    /* Called if no entry is left: returns true after a task has completed, false if none will. */
    bool (*wait)(struct tg_map_user *user);
    const struct tg_task_desc *desc;
    const uint64_t *done[TG_RINGS]; /* tasks before these have completed */
    bool keep_done; /* completed tasks count as dependencies too, because edges are logged */
};

TG_FN static inline bool tg_map_is_done(const struct tg_map_user *user, uint64_t task)
{
    return tg_task_ref_index(task) < *user->done[tg_task_ref_ring(task)] ||
           tg_load_acquire(&user->desc[tg_task_ref_slot(task)].succ) == TG_DEP_CLOSED; /* E1 */
}

TG_FN void tg_map_init(struct tg_tensormap *map, const struct tg_orchestration *o);

/* Enters that the task uses the region. Returns false if there is no entry for it and will not be
 * one. */
TG_FN bool tg_map_access(struct tg_tensormap *map, struct tg_map_user *user,
                         const struct tg_region *region, enum tg_role role, uint64_t task);

/* Finds the tasks that write the region, for a caller that waits for it without being a task. */
TG_FN void tg_map_find_writers(struct tg_tensormap *map, struct tg_map_user *user,
                               const struct tg_region *region);

/* Called when memory is allocated again: tasks that used it before no longer matter. */
TG_FN void tg_map_forget(struct tg_tensormap *map, struct tg_map_user *user, uint64_t lo,
                         uint64_t hi);

#endif
