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

/* The most that a scope has had in use at a time. */
struct tg_scope_peaks {
    uint64_t heap;
    uint32_t task_window, dep_pool, tensormap;
};

struct tg_scope_log {
    struct tg_engine *e;
    struct tg_stream stream;
    struct tg_record_scopes *open; /* the record being filled; 0: none */
};

TG_FN void tg_scope_log_open(struct tg_scope_log *log, struct tg_engine *e,
                             struct tg_worker *worker, const struct tg_record_setup *setup);

/* Raises the peaks to what is in use now. `own`: scopes own slots, so only the slots that open
 * scopes keep count; otherwise all slots in use count. */
TG_FN static inline void tg_scope_peak(struct tg_scope_peaks *peaks, const struct tg_ring *ring,
                                       bool own, uint32_t tensormap)
{
    uint64_t unowned = own ? ring->at->head : ring->at->tail;
    uint64_t slots_from = ring->pin == TG_NO_PIN ? unowned : ring->pin;
    uint64_t heap_from = ring->heap_pin == TG_NO_PIN ? ring->at->heap_head : ring->heap_pin;
    uint32_t slots = (uint32_t)(ring->at->head - slots_from);
    uint32_t deps = (uint32_t)(ring->at->dep_head - ring->at->dep_tail);
    if (slots > peaks->task_window)
        peaks->task_window = slots;
    if (deps > peaks->dep_pool)
        peaks->dep_pool = deps;
    if (tensormap > peaks->tensormap)
        peaks->tensormap = tensormap;
    if (ring->at->heap_head - heap_from > peaks->heap)
        peaks->heap = ring->at->heap_head - heap_from;
}

/* Adds the peaks of an inner scope to the outer one, for the resources that they share. */
TG_FN static inline void tg_scope_peaks_join(struct tg_scope_peaks *outer,
                                             const struct tg_scope_peaks *inner, bool same_ring)
{
    if (inner->tensormap > outer->tensormap)
        outer->tensormap = inner->tensormap;
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
/* Publishes the record that is not full yet. */
TG_FN void tg_scope_log_flush(struct tg_scope_log *log);

#endif
