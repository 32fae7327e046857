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
TG_FN static inline bool tg_fixed_edges_satisfy(struct tg_task_desc *desc, uint32_t fanin)
{
    if (fanin > 1) {
        /* D1: releases this kernel's writes, acquires those of the other predecessors. */
        if (tg_sub_acq_rel(&desc->pending, 1u) != 1)
            return false;
        tg_store_relaxed(&desc->pending,
                         fanin); /* for the next run: no worker reads it until then */
    }
    return true;
}

/* Offers the successors that became ready; see tg_worker_complete. What is known of the first ones is
 * loaded while the kernel may still run. */
TG_FN static inline uint32_t tg_fixed_edges_release(struct tg_engine *e, struct tg_worker *w,
                                                    uint32_t task, bool keep)
{
    const struct tg_task_desc *done = tg_target_known(e, task);
    const uint32_t *succ = TG_TARGET_NEAR(e, succ) + done->succ;
    struct tg_task_desc *descs = TG_TARGET_NEAR(e, desc);
    uint32_t lanes = tg_target_lanes(), n = done->n_succ;
    struct tg_successors successors;
    TG_TARGET_BUNCH(bunch);
    if (n == 0) {
        tg_target_end_kernel();
        return TG_NO_TASK;
    }
    tg_successors_begin(&successors, lanes, bunch, keep);
    for (uint32_t first = 0; first < n; first += lanes) {
        uint32_t i = first + tg_target_lane(lanes), next = i < n ? succ[i] : task;
        const struct tg_task_desc *look =
            first == 0 ? tg_target_look(lanes, &descs[next]) : &descs[next];
        uint32_t task_class = look->task_class, fanin = look->fanin;
        if (first == 0)
            tg_target_end_kernel();
        tg_successors_add(&successors, e, w, i < n && tg_fixed_edges_satisfy(&descs[next], fanin),
                          next, task_class);
        if (first == 0 && successors.next != TG_NO_TASK)
            tg_target_keep(lanes, successors.next_lane, successors.next);
    }
    return tg_successors_end(&successors, e, w);
}

#endif
