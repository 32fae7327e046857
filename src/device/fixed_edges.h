/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges that are all known before the run (TG_EDGES_FIXED): the whole graph lies in memory, so the
 * successors of a task are a run of entries in one array.
 */
#ifndef TG_DEVICE_FIXED_EDGES_H
#define TG_DEVICE_FIXED_EDGES_H

#include "device/heir.h"
#include "device/successors.h"

/* True if a task is ready with the end of its one predecessor, and nobody waits at it: nothing is counted. */
TG_FN static inline bool tg_fixed_edges_is_sole(uint32_t fanin, uint32_t n_parts)
{
    return fanin == 1 && !(TG_TARGET_LINES_UP && (n_parts & TG_DESC_AWAITED));
}

/* Counts one edge to the task. Returns true to the worker that counts the last one, unless another has
 * claimed the task: it is ready. `claim` is TG_HEIR_CLAIM or 0; *claimed: it is this worker's when it is
 * ready. */
TG_FN static inline bool tg_fixed_edges_satisfy(struct tg_task_desc *desc, uint32_t fanin,
                                                bool sole, uint32_t claim, bool *claimed)
{
    if (!sole) {
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
    struct tg_task_desc *descs = TG_TARGET_NEAR(e, desc);
    const struct tg_task_desc *done = &descs[task];
    const uint32_t *succ = TG_TARGET_NEAR(e, succ) + done->succ;
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
        bool sole = tg_fixed_edges_is_sole(fanin, descs[next].n_parts), claimed = false;
        if (TG_TARGET_LINES_UP && keep == TG_KEEP_OR_CLAIM && next == heir &&
            tg_fixed_edges_fits(w, task_class) && tg_heir_may_claim(heir, fanin))
            claim = TG_HEIR_CLAIM;
        tg_successors_add(
            &s, e, w, i < n && tg_fixed_edges_satisfy(&descs[next], fanin, sole, claim, &claimed),
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

/* A lane's successor of the task that completes, and what its worker may do with it. */
struct tg_fixed_sight {
    uint32_t task, task_class, fanin;
    uint32_t claim; /* TG_HEIR_CLAIM, or 0 */
    bool is;        /* there is one for this lane */
    bool sole;
    bool is_heir;
    bool fits; /* the worker may go on with it */
};

/* What is left to do after tg_fixed_edges_settle; each lane has its own task. */
struct tg_fixed_rest {
    bool any;
    bool ready; /* the lane's task is to be offered */
    uint32_t task, task_class;
    uint32_t heir; /* to be left, or offered too if it is ready by now; TG_NO_TASK: none */
};

/* `desc`: the task's, or a copy of it. */
TG_FN static inline void tg_fixed_edges_judge(struct tg_fixed_sight *s,
                                              const struct tg_task_desc *desc, uint32_t heir,
                                              uint32_t takes, enum tg_keep keep)
{
    s->task_class = s->is ? desc->task_class : TG_CLASS_MIX;
    s->fanin = desc->fanin;
    s->sole = tg_fixed_edges_is_sole(s->fanin, desc->n_parts);
    s->is_heir = s->is && s->task == heir;
    s->fits = keep != TG_KEEP_NONE && s->task_class != TG_CLASS_MIX &&
              (takes & TG_TAKES(s->task_class)) != 0;
    s->claim =
        keep == TG_KEEP_OR_CLAIM && s->is_heir && s->fits && tg_heir_may_claim(heir, s->fanin)
            ? TG_HEIR_CLAIM
            : 0;
}

/* Counts the edges, and decides with which task the worker goes on or at which it waits: what TG_WALK_RELEASE
 * returns. *from: the lane that has this task. */
TG_FN static inline uint32_t tg_fixed_edges_settle(uint32_t lanes, struct tg_task_desc *descs,
                                                   const struct tg_fixed_sight *s,
                                                   struct tg_fixed_rest *rest, uint32_t *from)
{
    bool claimed = false;
    bool ready =
        s->is && tg_fixed_edges_satisfy(&descs[s->task], s->fanin, s->sole, s->claim, &claimed);
    uint32_t claims = tg_target_ballot(lanes, claimed), on = TG_NO_TASK;
    uint32_t own = tg_target_ballot(lanes, ready && s->fits);
    uint32_t heirs = tg_target_ballot(lanes, ready && s->fits && s->is_heir);
    tg_target_meet(lanes); /* D1 is for all lanes */
    rest->task = s->task;
    rest->task_class = s->task_class;
    rest->heir = TG_NO_TASK;
    if (own != 0) {
        *from = tg_target_lowest_bit(heirs != 0 ? heirs : own);
        on = tg_target_from_lane(lanes, s->task, *from);
        if (tg_target_lane(lanes) == *from)
            ready = false;
        if (claims != 0)
            rest->heir = tg_target_from_lane(lanes, s->task, tg_target_lowest_bit(claims));
    } else if (claims != 0) {
        *from = tg_target_lowest_bit(claims);
        on = tg_target_from_lane(lanes, s->task, *from) | TG_HEIR_CLAIMED;
    }
    rest->ready = ready;
    rest->any = rest->heir != TG_NO_TASK || tg_target_ballot(lanes, ready) != 0;
    return on;
}

/* Offers what tg_fixed_edges_settle left. */
TG_FN static inline void tg_fixed_edges_offer(struct tg_engine *e, struct tg_worker *w,
                                              uint32_t lanes, struct tg_fixed_rest rest)
{
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

TG_FN static inline uint32_t tg_fixed_edges_release_few(struct tg_engine *e, struct tg_worker *w,
                                                        uint32_t task, enum tg_keep keep)
{
    struct tg_task_desc *descs = TG_TARGET_NEAR(e, desc);
    uint32_t lanes = tg_target_lanes(), i = tg_target_lane(lanes), n = descs[task].n_succ, from, on;
    struct tg_fixed_rest rest;
    struct tg_fixed_sight sight;
    sight.is = i < n;
    sight.task = i < n ? TG_TARGET_NEAR(e, succ)[descs[task].succ + i] : task;
    tg_fixed_edges_judge(&sight, &descs[sight.task], descs[task].next, TG_TARGET_NEAR(w, takes),
                         keep);
    tg_target_end_kernel();
    on = tg_fixed_edges_settle(lanes, descs, &sight, &rest, &from);
    if (rest.any)
        tg_fixed_edges_offer(e, w, lanes, rest);
    return on;
}

TG_FN static inline uint32_t tg_fixed_edges_release(struct tg_engine *e, struct tg_worker *w,
                                                    uint32_t task, enum tg_keep keep)
{
    if (TG_TARGET_LINES_UP && TG_TARGET_NEAR(e, desc)[task].n_succ <= tg_target_lanes())
        return tg_fixed_edges_release_few(e, w, task, keep);
    return tg_fixed_edges_release_all(e, w, task, keep);
}

#endif
