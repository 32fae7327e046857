/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges that are all known before the run (TG_EDGES_FIXED): the whole graph lies in memory, so the
 * successors of a task are a run of entries in one array.
 */
#ifndef TG_DEVICE_FIXED_EDGES_H
#define TG_DEVICE_FIXED_EDGES_H

#include "device/successors.h"

/* Counts one edge to the task. Returns true to the worker that counts the last one: the task is
 * ready. */
TG_FN static inline bool tg_fixed_edges_satisfy(struct tg_task_desc *desc)
{
    if (desc->fanin > 1) {
        /* D1: releases this kernel's writes, acquires those of the other predecessors. */
        if (tg_sub_acq_rel(&desc->pending, 1u) != 1)
            return false;
        tg_store_relaxed(&desc->pending,
                         desc->fanin); /* for the next run: no worker reads it until then */
    }
    return true;
}

/* Offers the successors that became ready; see tg_worker_complete. */
TG_FN static inline uint32_t tg_fixed_edges_release(struct tg_engine *e, struct tg_worker *w,
                                                    uint32_t task, bool keep)
{
    const struct tg_task_desc *done = &e->desc[task];
    const uint32_t *succ = e->succ + done->succ;
    struct tg_successors successors;
    struct tg_bunch bunch;
    tg_successors_begin(&successors, &bunch, keep);
    for (uint32_t i = 0; i < done->n_succ; i++) {
        struct tg_task_desc *desc = &e->desc[succ[i]];
        uint32_t task_class = desc->task_class;
        if (tg_fixed_edges_satisfy(desc))
            tg_successors_ready(&successors, e, w, succ[i], task_class);
    }
    return tg_successors_end(&successors, e, w);
}

#endif
