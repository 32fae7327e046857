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
 * A region is found by where it begins. Regions of about one size are on one shelf, which is divided
 * into cells of about that size; each region lies in the cell of its beginning. A search looks, on every
 * shelf in use, into the cells that the wanted bytes lie in, and into those before if a region of theirs
 * may reach so far; or, if those cells are more than there are regions, at all regions of the shelf.
 *
 *   contiguous   shelf l: regions of at most 2^l bytes, in cells of 2^l bytes
 *   strided      a shelf has a grid (grid.h) and a size 2^l for each axis; regions and cells are boxes.
 *                So tiles side by side lie in different cells although their addresses interleave.
 *
 * There are few grids. If a region finds no place on a shelf of its grid, it lies on a shelf for
 * contiguous regions, by all bytes from its first to its last.
 *
 * There are few buckets at first, so that a small graph does not have to clear many. They become more
 * as entries do.
 *
 * Entries are bounded. A region that only completed tasks used is dropped when a search finds it;
 * or when a new region is added, which checks the oldest of its shelf; or, when entries run out, by
 * a sweep over all. Only the orchestrator's thread uses the map.
 */
#ifndef TG_ORCHESTRATE_TENSORMAP_H
#define TG_ORCHESTRATE_TENSORMAP_H

#include "device/task_ref.h"
#include "orchestrate/grid.h"
#include "orchestrate/region.h"
#include <taskglass/wire/orchestration.h>
#include <taskglass/wire/record.h>

enum {
    TG_MAP_LEVELS = 64, /* shelves 0 … 63 are for contiguous regions */
    TG_MAP_BOXED = 64,  /* the others are for boxes */
    TG_MAP_SHELVES = TG_MAP_LEVELS + TG_MAP_BOXED,
    TG_MAP_GRIDS = 16,
    TG_MAP_ALIKE = 4 /* grids with the same strides */
};

/* How one axis of a shelf of boxes is divided into cells. The cells are as large as the first region,
 * and one of them begins where it does, because tiles that are all alike then have a cell each. */
struct tg_map_axis {
    uint64_t inverse; /* of the size of a cell, times 2^64 */
    uint64_t longest; /* no region is longer than this */
    uint64_t last;    /* the last cell; on axis 0, as large as can be */
    uint64_t shift;   /* added to a coordinate, so that a cell begins with the first region */
    uint64_t back; /* a region that begins further than this before another one ends before it, or
                         in its own cell */
};

struct tg_map_shelf {
    uint32_t first, last; /* entry + 1: the newest, the oldest */
    uint32_t count;
    uint8_t grid;                /* of boxes: its number */
    uint8_t level[TG_GRID_AXES]; /* on axis i a region has at most 2^level coordinates */
    uint64_t beyond; /* contiguous: no region goes further than this beyond its cell of 2^level */
    struct tg_map_axis axis[TG_GRID_AXES]; /* of boxes */
};

struct tg_map_grid {
    struct tg_grid grid;
    uint64_t owns;   /* bit i: it has shelf TG_MAP_LEVELS + i */
    uint64_t used;   /* those with regions */
    uint64_t lo, hi; /* all its regions lie in [lo, hi) */
};

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
    uint32_t search;                     /* number of the last search */
    uint32_t n_grids;                    /* that have been made, */
    uint32_t grids;                      /* bit i: grid i has regions */
    uint64_t levels;                     /* bit l: shelf l has regions */
    uint64_t boxed;                      /* bit i: a grid owns shelf TG_MAP_LEVELS + i */
    uint64_t looked; /* cells and entries that searches looked at: their work, for tests */
    struct tg_map_shelf shelf[TG_MAP_SHELVES];
    struct tg_map_grid grid[TG_MAP_GRIDS];
};

/* The functions and data that the map needs from its user, the orchestrator. */
struct tg_map_user {
    /* The task being submitted waits for this one. */
    void (*found)(struct tg_map_user *user, uint64_t task, enum tg_edge_kind kind);
    /* Called if no entry is left: returns true after a task has completed, false if none will. */
    bool (*wait)(struct tg_map_user *user);
    const struct tg_task_desc *desc;
    const uint32_t *done_words;     /* as in struct tg_engine */
    const uint64_t *done[TG_RINGS]; /* tasks before these have completed */
    /* The map is full and forgets that a completed task used memory. Called only with keep_done. */
    void (*forgot)(struct tg_map_user *user, uint64_t task);
    bool keep_done; /* completed tasks count as dependencies too, because edges are logged */
};

TG_FN static inline bool tg_map_is_done(const struct tg_map_user *user, uint64_t task)
{
    return tg_task_ref_index(task) < *user->done[tg_task_ref_ring(task)] ||
           tg_task_is_closed(user->desc, user->done_words, tg_task_ref_slot(task));
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
