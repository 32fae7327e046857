/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges that are all known before the run (TG_EDGES_FIXED): the whole graph lies in memory, so the
 * successors of a task are a run of entries in one array.
 */
#ifndef TG_DEVICE_FIXED_EDGES_H
#define TG_DEVICE_FIXED_EDGES_H

#include "device/worker.h"

/* True where the task has become ready. Whoever satisfies the last edge gets true, alone. */
TG_FN static inline bool tg_fixed_edges_satisfy(struct tg_task_desc *desc)
{
    if (desc->fanin > 1) {
        /* D1: a release for our kernel's writes, an acquire of the other predecessors'. */
        if (tg_sub_acq_rel(&desc->pending, 1u) != 1)
            return false;
        tg_store_relaxed(&desc->pending, desc->fanin); /* for the next run; nobody looks now */
    }
    return true;
}

/* Offers the successors that became ready; see tg_worker_complete. */
TG_FN static inline uint32_t tg_fixed_edges_release(struct tg_engine *e, struct tg_worker *w,
                                                    uint32_t task, bool keep)
{
    const struct tg_task_desc *done = &e->desc[task];
    const uint32_t *succ = e->succ + done->succ;
    uint32_t next = TG_NO_TASK, offered = 0;
    struct tg_bunch bunch;
    bunch.n = 0;
    for (uint32_t i = 0; i < done->n_succ; i++) {
        struct tg_task_desc *desc = &e->desc[succ[i]];
        uint32_t task_class = desc->task_class;
        if (!tg_fixed_edges_satisfy(desc))
            continue;
        if (keep && next == TG_NO_TASK && task_class != TG_CLASS_MIX &&
            (w->takes & TG_TAKES(task_class))) {
            next = succ[i];
            continue;
        }
        tg_worker_offer_with(e, w, &bunch, succ[i], task_class);
        offered |= TG_TAKES(task_class);
    }
    if (offered) {
        tg_bunch_flush(e, &bunch);
        tg_worker_announce(e, w, offered);
    }
    return next;
}

#endif
