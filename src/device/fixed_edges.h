/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges that are all known before the run (TG_EDGES_FIXED): the whole graph lies in memory, so the
 * successors of a task are a run of entries in one array.
 */
#ifndef TG_DEVICE_FIXED_EDGES_H
#define TG_DEVICE_FIXED_EDGES_H

#include "device/heir.h"
#include "device/successors.h"

/* Counts one edge to the task. Returns true to the worker that counts the last one, unless another has
 * claimed the task: it is ready. `claim` is TG_HEIR_CLAIM or 0; *claimed: it is this worker's when it is
 * ready. */
TG_FN static inline bool tg_fixed_edges_satisfy(struct tg_task_desc *desc, uint32_t fanin,
                                                uint32_t claim, bool *claimed)
{
    if (fanin > 1) {
        /* D1: releases this kernel's writes, acquires those of the other predecessors. */
        uint32_t before = tg_sub_acq_rel(&desc->pending, 1u - claim);
        *claimed = claim != 0 && before != 1 && before < TG_HEIR_CLAIM;
        if (before != 1)
            return false;
        tg_store_relaxed(&desc->pending,
                         fanin); /* for the next run: no worker reads it until then */
    }
    return true;
}

/* The worker has claimed its heir. If it keeps another task, it leaves the heir to others, or offers it if it
 * is ready by now. Returns what tg_fixed_edges_release does. */
TG_FN static inline uint32_t tg_fixed_edges_wait(struct tg_successors *s, struct tg_engine *e,
                                                 struct tg_worker *w, uint32_t heir, uint32_t lane)
{
    struct tg_task_desc *desc = &TG_TARGET_NEAR(e, desc)[heir];
    bool ready = false;
    if (s->next == TG_NO_TASK) {
        tg_target_keep(s->lanes, lane, heir);
        tg_successors_end(s, e, w);
        return heir | TG_HEIR_CLAIMED;
    }
    if (tg_target_lane(s->lanes) == 0)
        ready = tg_heir_leave(desc, desc->fanin);
    tg_successors_add(s, e, w, ready, heir, desc->task_class);
    return tg_successors_end(s, e, w);
}

/* Offers the successors that became ready; see tg_worker_complete. What is known of the first ones is
 * loaded while the kernel may still run. */
TG_FN static inline uint32_t tg_fixed_edges_release(struct tg_engine *e, struct tg_worker *w,
                                                    uint32_t task, enum tg_keep keep)
{
    const struct tg_task_desc *done = tg_target_known(e, task);
    const uint32_t *succ = TG_TARGET_NEAR(e, succ) + done->succ;
    struct tg_task_desc *descs = TG_TARGET_NEAR(e, desc);
    uint32_t lanes = tg_target_lanes(), n = done->n_succ, heir = done->next;
    uint32_t claimed_by = 0; /* a bit for the lane that has claimed the heir */
    struct tg_successors successors;
    TG_TARGET_BUNCH(bunch);
    if (n == 0) {
        tg_target_end_kernel();
        return TG_NO_TASK;
    }
    tg_successors_begin(&successors, lanes, bunch, keep != TG_KEEP_NONE, heir);
    for (uint32_t first = 0; first < n; first += lanes) {
        uint32_t i = first + tg_target_lane(lanes), next = i < n ? succ[i] : task;
        const struct tg_task_desc *look =
            first == 0 ? tg_target_look(lanes, &descs[next]) : &descs[next];
        uint32_t task_class = look->task_class, fanin = look->fanin, claim = 0;
        bool ready, claimed = false;
        if (TG_TARGET_LINES_UP && keep == TG_KEEP_OR_CLAIM && first == 0 && next == heir &&
            tg_heir_may_claim(w, heir, task_class, fanin))
            claim = TG_HEIR_CLAIM;
        if (first == 0)
            tg_target_end_kernel();
        ready = i < n && tg_fixed_edges_satisfy(&descs[next], fanin, claim, &claimed);
        tg_successors_add(&successors, e, w, ready, next, task_class);
        if (TG_TARGET_LINES_UP)
            claimed_by |= tg_target_ballot(lanes, claimed);
        if (first == 0 && successors.next != TG_NO_TASK)
            tg_target_keep(lanes, successors.next_lane, successors.next);
    }
    if (TG_TARGET_LINES_UP && claimed_by != 0)
        return tg_fixed_edges_wait(&successors, e, w, heir, tg_target_lowest_bit(claimed_by));
    return tg_successors_end(&successors, e, w);
}

#endif
