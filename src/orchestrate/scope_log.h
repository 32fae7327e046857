/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scope stats: what the rings held when a scope began and ended, and the most in between. A sample
 * costs some stores into the stream's next record and one counter; it formats nothing, and waits
 * only if the host has fallen far behind. While scope stats are off, they cost one load and one
 * branch per scope and task.
 */
#ifndef TG_ORCHESTRATE_SCOPE_LOG_H
#define TG_ORCHESTRATE_SCOPE_LOG_H

#include "orchestrate/rings.h"
#include "device/stream.h"
#include <taskglass/wire/record.h>

enum { TG_WAITED_RESOURCES = 4 }; /* slots, heap, dependencies, map entries */

/* The most that a scope has had in use at a time, and how it waited. */
struct tg_scope_peaks {
    uint64_t heap;
    uint32_t task_window, dep_pool, tensormap;
    uint32_t rings; /* bit r: the scope, or one inside it, took room of ring r */
    uint32_t waits[TG_WAITED_RESOURCES];
    uint64_t wait_ns;
};

struct tg_scope_log {
    struct tg_engine *e;
    struct tg_stream stream;
    struct tg_record_scopes *open; /* the record being filled; 0: none */
};

TG_FN void tg_scope_log_open(struct tg_scope_log *log, struct tg_engine *e,
                             struct tg_worker *worker, const struct tg_record_setup *setup);

/* Raises the peaks to what the ring and the tensor map hold now. */
TG_FN static inline void tg_scope_peak(struct tg_scope_peaks *peaks, const struct tg_ring *ring,
                                       uint32_t tensormap)
{
    const struct tg_ring_cursors *at = ring->at;
    if (at->head - at->tail > peaks->task_window)
        peaks->task_window = (uint32_t)(at->head - at->tail);
    if (at->dep_head - at->dep_tail > peaks->dep_pool)
        peaks->dep_pool = (uint32_t)(at->dep_head - at->dep_tail);
    if (at->heap_head - at->heap_tail > peaks->heap)
        peaks->heap = at->heap_head - at->heap_tail;
    if (tensormap > peaks->tensormap)
        peaks->tensormap = tensormap;
}

/* Adds the peaks of an inner scope to the outer one, for the resources that they share. */
TG_FN static inline void tg_scope_peaks_join(struct tg_scope_peaks *outer,
                                             const struct tg_scope_peaks *inner, bool same_ring)
{
    if (inner->tensormap > outer->tensormap)
        outer->tensormap = inner->tensormap;
    outer->rings |= inner->rings;
    if (!same_ring)
        return;
    if (inner->heap > outer->heap)
        outer->heap = inner->heap;
    if (inner->task_window > outer->task_window)
        outer->task_window = inner->task_window;
    if (inner->dep_pool > outer->dep_pool)
        outer->dep_pool = inner->dep_pool;
}

/* `peaks` belongs to a scope that ends; 0: the scope begins. */
TG_FN void tg_scope_log_sample(struct tg_scope_log *log, const struct tg_ring *ring, uint32_t site,
                               uint32_t depth, uint32_t tensormap,
                               const struct tg_scope_peaks *peaks);
/* How the scope waited; the sample of its end follows. `asked_map`: map entries asked for so far. */
TG_FN void tg_scope_log_waits(struct tg_scope_log *log, uint32_t site, uint32_t depth,
                              const struct tg_ring *rings, uint64_t asked_map,
                              const struct tg_scope_peaks *peaks);
/* Publishes the record that is not full yet. */
TG_FN void tg_scope_log_flush(struct tg_scope_log *log);

#endif
