/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that follow one by one, in a graph that is fed from beside the device (device/feed.h). Where several
 * lanes walk, a worker that runs such a task learns which tasks come after it, runs them one behind the other,
 * and completes them together:
 *
 *     task ──► first ──► first + step ──► first + 2 step ──► …
 *              look ahead: as many as each wait for the one before alone     TG_WALK_AHEAD
 *              the worker runs them
 *     close: what else waits for them is offered, the orchestrator is told     TG_WALK_CLOSE
 *
 * A task that waits for one other alone is ready when the list that it is in is closed, and only the worker that
 * runs the other one closes it. So nobody else can have it, and it may start before the list is closed.
 * A chain's tasks mostly lie side by side, one slot up or down from each other, so each lane looks at one of
 * them, and the links between them are checked. `next` of a task says which task waits for it, as long as
 * that is one, which waits for nothing else; the thread that makes the edge writes that.
 *
 * Slots are used again. What a lane reads of a slot is of the task meant if the task before it links to it
 * and has not completed; but a `next` may have been read before that task was there. So each lane reads the
 * slot's id before `next` and again after all lanes have read theirs: if it is the same, so was the task. Ids
 * repeat in the next run, which therefore begins with no `next` at all (tg_engine_fill).
 *
 * Named edges:
 *   N1  id      store_release by the draining thread, after all else of the descriptor, pairs with
 *               load_acquire of the lane that looks: a `next` that it reads after that is of that task
 *   N2  next    store_release by the draining thread, after the edge is made, pairs with load_acquire of
 *               the worker that runs the task, or of its lanes: the next task is there, and waits
 */
#ifndef TG_DEVICE_AHEAD_H
#define TG_DEVICE_AHEAD_H

#include "device/growing_edges.h"

/* The draining thread has made an edge from `before` to the task, which waits for nothing else if it is `alone`.
 * `behind`: see tg_edge_push_before. */
TG_FN static inline void tg_ahead_note(struct tg_engine *e, uint32_t before, uint32_t behind,
                                       uint32_t task, bool alone)
{
    if (behind != TG_DEP_NONE)
        tg_store_relaxed(&e->desc[before].next, TG_NO_TASK); /* there are several */
    else if (alone)
        tg_store_release(&e->desc[before].next, task); /* N2 */
}

/* The task that waits for this one, if that is one and it is known. The caller runs the task. */
TG_FN static inline uint32_t tg_ahead_next(const struct tg_engine *e, uint32_t task)
{
    return tg_load_acquire(&TG_TARGET_NEAR(e, desc)[task].next); /* N2 */
}

/* Returns how many tasks follow one by one: `first`, which tg_ahead_next gave for `task`, and those after it
 * at the same distance. The lanes have looked at them (tg_target_look), the one lane at the first and so on. */
TG_FN static inline uint32_t tg_walk_ahead(struct tg_engine *e, struct tg_worker *w, uint32_t task,
                                           uint32_t first)
{
    uint32_t lanes = tg_target_lanes(), lane = tg_target_lane(lanes);
    uint32_t mine = first + lane * (first - task), linked, found;
    struct tg_task_desc *desc =
        &TG_TARGET_NEAR(e, desc)[mine < TG_TARGET_NEAR(e, n_slots) ? mine : first];
    const struct tg_task_desc *look;
    uint64_t id = tg_load_acquire(&desc->id);     /* N1 */
    uint32_t next = tg_load_acquire(&desc->next); /* N2 */
    tg_target_meet(lanes);
    look = tg_target_look(lanes, desc);
    linked = tg_target_from_lane(lanes, look->id == id ? next : TG_NO_TASK, lane ? lane - 1 : 0);
    found = tg_target_ballot(lanes, mine < TG_TARGET_NEAR(e, n_slots) &&
                                        (lane == 0 || linked == mine) && look->fanin == 1 &&
                                        look->task_class != TG_CLASS_MIX &&
                                        (TG_TARGET_NEAR(w, takes) & TG_TAKES(look->task_class)));
    tg_target_meet(lanes);
    if (lanes == 32 && found == UINT32_MAX)
        return lanes;
    return tg_target_lowest_bit(~found);
}

/* Completes `n` tasks, at most one for each lane, from `task` on, `step` apart: each has run, and the one after
 * it too, or it runs. */
TG_FN static inline uint32_t tg_walk_close(struct tg_engine *e, struct tg_worker *w, uint32_t task,
                                           uint32_t step, uint32_t n)
{
    uint32_t lanes = tg_target_lanes(), lane = tg_target_lane(lanes);
    uint32_t mine = task + lane * step, entry = TG_DEP_NONE, number = 0, rest;
    uint32_t *done_words = TG_TARGET_NEAR(e, done_words);
    struct tg_task_desc *descs = TG_TARGET_NEAR(e, desc);
    struct tg_successors successors;
    TG_TARGET_BUNCH(bunch);
    bool has_more = false;
    if (lane < n) {
        struct tg_dep dep;
        number = descs[mine].n_succ;
        entry =
            tg_exchange_acq_rel(&descs[mine].succ, TG_DEP_CLOSED); /* E1; the next one is in it */
        dep = TG_TARGET_NEAR(e, deps)[entry];
        has_more = dep.task != mine + step || dep.next != TG_DEP_NONE;
    }
    tg_target_meet(lanes); /* E1 is for all lanes */
    tg_successors_begin(&successors, lanes, bunch, false);
    for (rest = tg_target_ballot(lanes, has_more); rest != 0; rest &= rest - 1) {
        uint32_t from = tg_target_lowest_bit(rest), runs = task + (from + 1) * step;
        uint32_t at = tg_target_from_lane(lanes, entry, from);
        tg_growing_edges_release_list(e, w, &successors, at, TG_DEP_NONE, runs);
    }
    tg_successors_end(&successors, e, w);
    if (done_words && lane < n)
        tg_store_told_host(&done_words[mine], number); /* K3 */
    return n;
}

#endif
