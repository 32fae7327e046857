/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scope stats: what the rings held when a scope began and ended, and the most in between. A sample
 * is stores into the stream's next record and one counter; nothing is formatted, nothing waits
 * unless the host has fallen far behind. Off, it is one load and one branch per scope and task.
 */
#ifndef TG_ORCHESTRATE_SCOPE_LOG_H
#define TG_ORCHESTRATE_SCOPE_LOG_H

#include "orchestrate/rings.h"
#include "device/stream.h"
#include <taskglass/wire/record.h>

/* The most a scope has had at a time. */
struct tg_scope_peaks {
    uint64_t heap;
    uint32_t task_window, dep_pool, tensormap;
};

struct tg_scope_log {
    struct tg_engine *e;
    struct tg_stream stream;
    struct tg_record_scopes *open; /* the record that is being filled; 0: none */
};

TG_FN void tg_scope_log_open(struct tg_scope_log *log, struct tg_engine *e,
                             struct tg_worker *worker, const struct tg_record_setup *setup);

/* The peaks as they are now count too. `own`: scopes own slots, so that only those count that open
 * ones keep; else all that are in use do. */
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

/* One scope inside another: what it had, the outer one had, as far as they share. */
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

/* `peaks` is of a scope that ends; 0: it begins. */
TG_FN void tg_scope_log_sample(struct tg_scope_log *log, const struct tg_ring *ring, uint32_t site,
                               uint32_t depth, uint32_t tensormap,
                               const struct tg_scope_peaks *peaks);
/* Hands over the record that is not full yet. */
TG_FN void tg_scope_log_flush(struct tg_scope_log *log);

#endif
