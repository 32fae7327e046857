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

/* True if the worker may go on with such a task when it keeps one. */
TG_FN static inline bool tg_fixed_edges_fits(const struct tg_worker *w, uint32_t task_class)
{
    return task_class != TG_CLASS_MIX && (TG_TARGET_NEAR(w, takes) & TG_TAKES(task_class)) != 0;
}

/* Gives up the claim on the heir. Returns true if it is ready by now, and the caller's to offer. */
TG_FN static inline bool tg_fixed_edges_leave(struct tg_engine *e, uint32_t lanes, uint32_t heir,
                                              uint32_t *task_class)
{
    struct tg_task_desc *desc = &TG_TARGET_NEAR(e, desc)[heir];
    *task_class = desc->task_class;
    return tg_target_lane(lanes) == 0 && tg_heir_leave(desc, desc->fanin);
}

/* Offers the successors that became ready; see tg_worker_complete. One lane, or more successors than lanes. */
TG_FN static inline uint32_t tg_fixed_edges_release_all(struct tg_engine *e, struct tg_worker *w,
                                                        uint32_t task, enum tg_keep keep)
{
    const struct tg_task_desc *done = tg_target_known(e, task);
    const uint32_t *succ = TG_TARGET_NEAR(e, succ) + done->succ;
    struct tg_task_desc *descs = TG_TARGET_NEAR(e, desc);
    uint32_t lanes = tg_target_lanes(), n = done->n_succ, heir = done->next;
    bool any_claimed = false;
    struct tg_successors s;
    TG_TARGET_BUNCH(bunch);
    tg_target_end_kernel();
    if (n == 0)
        return TG_NO_TASK;
    tg_successors_begin(&s, lanes, bunch, keep != TG_KEEP_NONE);
    for (uint32_t first = 0; first < n; first += lanes) {
        uint32_t i = first + tg_target_lane(lanes), next = i < n ? succ[i] : task, claim = 0;
        uint32_t task_class = descs[next].task_class, fanin = descs[next].fanin;
        bool claimed = false;
        if (TG_TARGET_LINES_UP && keep == TG_KEEP_OR_CLAIM && next == heir &&
            tg_fixed_edges_fits(w, task_class) && tg_heir_may_claim(heir, fanin))
            claim = TG_HEIR_CLAIM;
        tg_successors_add(&s, e, w,
                          i < n && tg_fixed_edges_satisfy(&descs[next], fanin, claim, &claimed),
                          next, task_class);
        if (TG_TARGET_LINES_UP)
            any_claimed |= tg_target_ballot(lanes, claimed) != 0;
    }
    if (TG_TARGET_LINES_UP && any_claimed && s.next != TG_NO_TASK) {
        uint32_t task_class;
        bool ready = tg_fixed_edges_leave(e, lanes, heir, &task_class);
        tg_successors_add(&s, e, w, ready, heir, task_class);
        any_claimed = false;
    }
    task = tg_successors_end(&s, e, w);
    return TG_TARGET_LINES_UP && any_claimed ? heir | TG_HEIR_CLAIMED : task;
}

/* ── with a lane for each successor ────────────────────────────────────────────────────── */

/* The lane's successor, and what is known of it; *next is `task` if it has none. */
TG_FN static inline const struct tg_task_desc *tg_fixed_edges_look(struct tg_engine *e,
                                                                   const struct tg_task_desc *done,
                                                                   uint32_t lanes, uint32_t task,
                                                                   uint32_t *next)
{
    uint32_t i = tg_target_lane(lanes);
    const struct tg_task_desc *look = tg_target_seen(lanes, task, next);
    if (look != 0)
        return look;
    *next = i >= done->n_succ   ? task
            : done->n_succ == 1 ? done->next
                                : TG_TARGET_NEAR(e, succ)[done->succ + i];
    return tg_target_look(lanes, &TG_TARGET_NEAR(e, desc)[*next]);
}

/* What tg_fixed_edges_settle left to do. */
TG_FN static inline void tg_fixed_edges_offer(struct tg_engine *e, struct tg_worker *w,
                                              struct tg_fixed_rest rest)
{
    uint32_t lanes = tg_target_lanes();
    struct tg_successors s;
    TG_TARGET_BUNCH(bunch);
    tg_successors_begin(&s, lanes, bunch, false);
    tg_successors_add(&s, e, w, rest.ready, rest.task, rest.task_class);
    if (rest.heir != TG_NO_TASK) {
        rest.ready = tg_fixed_edges_leave(e, lanes, rest.heir, &rest.task_class);
        tg_successors_add(&s, e, w, rest.ready, rest.heir, rest.task_class);
    }
    tg_successors_end(&s, e, w);
}

/* Counts the edges, and decides with which task the worker goes on or at which it waits: what TG_WALK_RELEASE
 * returns. What is known of the successors is loaded while the kernel may still run, and what comes after
 * the heir while the edges are counted. */
TG_FN static inline uint32_t tg_fixed_edges_settle(struct tg_engine *e, struct tg_worker *w,
                                                   uint32_t task, enum tg_keep keep,
                                                   struct tg_fixed_rest *rest)
{
    const struct tg_task_desc *done = tg_target_known(e, task);
    struct tg_task_desc *descs = TG_TARGET_NEAR(e, desc);
    uint32_t lanes = tg_target_lanes(), i = tg_target_lane(lanes), n = done->n_succ;
    uint32_t heir = done->next, beyond = TG_NO_TASK, claim = 0, mine, fanin, own, heirs, on;
    const struct tg_task_desc *look = tg_fixed_edges_look(e, done, lanes, task, &mine);
    bool ready, fits, claimed = false, is_heir = i < n && mine == heir;
    rest->task = mine;
    rest->task_class = look->task_class;
    rest->heir = TG_NO_TASK;
    fanin = look->fanin;
    fits = keep != TG_KEEP_NONE && tg_fixed_edges_fits(w, rest->task_class);
    if (keep == TG_KEEP_OR_CLAIM && is_heir && fits && tg_heir_may_claim(heir, fanin))
        claim = TG_HEIR_CLAIM;
    heirs = tg_target_ballot(lanes, is_heir);
    if (heirs != 0)
        beyond = tg_target_foresee(lanes, tg_target_lowest_bit(heirs), TG_TARGET_NEAR(e, succ));
    tg_target_end_kernel();
    ready = i < n && tg_fixed_edges_satisfy(&descs[mine], fanin, claim, &claimed);
    claimed = tg_target_ballot(lanes, claimed) != 0;
    own = tg_target_ballot(lanes, ready && fits);
    if (own & heirs)
        own &= heirs;
    if (own != 0 || claimed) {
        uint32_t lane = tg_target_lowest_bit(own != 0 ? own : heirs);
        on = tg_target_from_lane(lanes, mine, lane);
        tg_target_keep(lanes, lane, on);
        if (on == heir)
            tg_target_see(lanes, heir, beyond, descs);
        if (own != 0 && i == lane)
            ready = false;
        if (own != 0 && claimed)
            rest->heir = heir;
        if (own == 0)
            on |= TG_HEIR_CLAIMED;
    } else {
        on = TG_NO_TASK;
    }
    rest->ready = ready;
    rest->any = rest->heir != TG_NO_TASK || tg_target_ballot(lanes, ready) != 0;
    return on;
}

TG_FN static inline uint32_t tg_fixed_edges_release(struct tg_engine *e, struct tg_worker *w,
                                                    uint32_t task, enum tg_keep keep)
{
    struct tg_fixed_rest rest;
    if (!TG_TARGET_LINES_UP || tg_target_known(e, task)->n_succ > tg_target_lanes())
        return tg_fixed_edges_release_all(e, w, task, keep);
    task = tg_fixed_edges_settle(e, w, task, keep, &rest);
    if (rest.any)
        tg_fixed_edges_offer(e, w, rest);
    return task;
}

#endif
