/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges that are added while tasks run (TG_EDGES_GROWING): a task's `succ` is the head of a list of
 * the tasks that wait for it, until the task has completed and the list is closed.
 *
 *     orchestrator   pushes an entry by compare-and-swap, unless the list is closed
 *     completer      the worker that completes the task takes the whole list by exchanging CLOSED
 *                    for it, and counts down the tasks in it
 *
 * While the orchestrator adds a task's edges, the task's `pending` is far above their number, so
 * that the task cannot become ready. In the end the orchestrator subtracts the rest, and the thread
 * that brings `pending` to zero has a ready task. A task that waits for only one other needs no
 * count (fanin 1): the worker that takes its entry from the list has the ready task.
 *
 * Named edges:
 *   E1  succ      exchange by the completer (release: its kernel's writes; acquire: the entries)
 *                 pairs with load_acquire and the swap of the orchestrator, which then may use
 *                 the slot for another task: the completer does not touch it again
 *   E2  pending   acq_rel RMW by all, as D1 in fixed_edges.h
 */
#ifndef TG_DEVICE_GROWING_EDGES_H
#define TG_DEVICE_GROWING_EDGES_H

#include "device/successors.h"
#include "device/target.h"
#include <taskglass/wire/orchestration.h>

/* More than any task's edges. */
#define TG_PENDING_GUARD (1u << 30)

/* `entry` must be free. Returns true if `task` now waits for `before`, false if `before` has
 * completed. *behind: the entry that was the first of the list. */
TG_FN static inline bool tg_edge_push_before(struct tg_engine *e, uint32_t before, uint32_t entry,
                                             uint32_t task, uint32_t *behind)
{
    struct tg_dep *dep = &e->deps[entry];
    uint32_t *list = &e->desc[before].succ;
    uint32_t first = tg_load_acquire(list); /* E1 */
    dep->task = task;
    for (;;) {
        if (first == TG_DEP_CLOSED) {
            (void)tg_load_acquire(list); /* E1: a swap that fails acquires nothing */
            return false;
        }
        *behind = dep->next = first;
        if (tg_cas_acq_rel(list, &first, entry)) /* E1 */
            return true;
    }
}

TG_FN static inline bool tg_edge_push(struct tg_engine *e, uint32_t before, uint32_t entry,
                                      uint32_t task)
{
    uint32_t behind;
    return tg_edge_push_before(e, before, entry, task, &behind);
}

/* Gives the lane its entry's task, the one lane the first and so on, or TG_NO_TASK. Entries are freed with
 * their tasks, so all lanes have theirs before any task is counted down. */
TG_FN static inline uint32_t tg_growing_edges_deal(const struct tg_engine *e, uint32_t lanes,
                                                   uint32_t *entry, uint32_t *window)
{
    uint32_t task = TG_NO_TASK;
    for (uint32_t lane = 0; lane < lanes && *entry != TG_DEP_NONE; lane++) {
        struct tg_dep dep = tg_target_dep(lanes, e, *entry, window);
        if (lane == tg_target_lane(lanes))
            task = dep.task;
        *entry = dep.next;
    }
    tg_target_meet(lanes);
    return task;
}

/* The newest entry of a list that may still grow, and what is known of its task. */
struct tg_growing_peek {
    uint32_t entry;  /* TG_DEP_NONE: there was none */
    uint32_t window; /* see tg_target_dep */
    struct tg_dep dep;
    const struct tg_task_desc *look;
};

/* Where a worker has several lanes each load takes long, so it makes these while the kernel may still run.
 * What they bring does not change: an entry is pushed after its task was written. */
TG_FN static inline void tg_growing_edges_peek(const struct tg_engine *e, uint32_t lanes,
                                               uint32_t task, struct tg_growing_peek *peek)
{
    struct tg_task_desc *descs = TG_TARGET_NEAR(e, desc);
    peek->entry = peek->window = TG_DEP_NONE;
    if (TG_TARGET_LANES == 1)
        return;
    peek->entry = tg_target_from_lane(lanes, tg_load_acquire(&descs[task].succ), 0); /* E1 */
    if (peek->entry == TG_DEP_NONE || peek->entry == TG_DEP_CLOSED) {
        peek->entry = TG_DEP_NONE;
        return;
    }
    peek->dep = tg_target_dep(lanes, e, peek->entry, &peek->window);
    peek->look = tg_target_look(lanes, &descs[peek->dep.task]);
}

/* Most lists of chains: one task waits, and it is known already. Returns false if there are others. */
TG_FN static inline bool tg_growing_edges_release_one(struct tg_engine *e, struct tg_worker *w,
                                                      struct tg_successors *s, uint32_t entry,
                                                      const struct tg_growing_peek *peek)
{
    uint32_t task_class;
    bool ready = false;
    if (entry == TG_DEP_NONE || entry != peek->entry || peek->dep.next != TG_DEP_NONE)
        return false;
    task_class = peek->look->task_class;
    if (tg_target_lane(s->lanes) == 0)
        ready = peek->look->fanin <= 1 ||
                tg_sub_acq_rel(&TG_TARGET_NEAR(e, desc)[peek->dep.task].pending, 1u) == 1; /* E2 */
    tg_successors_add(s, e, w, ready, peek->dep.task, task_class);
    if (s->next != TG_NO_TASK)
        tg_target_keep(s->lanes, s->next_lane, s->next);
    return true;
}

/* Counts down the tasks of a closed list from `entry` on, but `runs`, which the worker has started. */
TG_FN static inline void tg_growing_edges_release_list(struct tg_engine *e, struct tg_worker *w,
                                                       struct tg_successors *s, uint32_t entry,
                                                       uint32_t window, uint32_t runs)
{
    while (entry != TG_DEP_NONE) {
        uint32_t mine = tg_growing_edges_deal(e, s->lanes, &entry, &window), task_class = 0;
        bool ready = mine != TG_NO_TASK && mine != runs;
        if (ready) {
            struct tg_task_desc *desc = &TG_TARGET_NEAR(e, desc)[mine];
            task_class = desc->task_class;
            ready = desc->fanin <= 1 || tg_sub_acq_rel(&desc->pending, 1u) == 1; /* E2 */
        }
        tg_successors_add(s, e, w, ready, mine, task_class);
    }
}

/* Offers the tasks that waited only for this one, which has completed; see tg_worker_complete. */
TG_FN static inline uint32_t tg_growing_edges_release_peeked(struct tg_engine *e,
                                                             struct tg_worker *w, uint32_t lanes,
                                                             uint32_t task, uint32_t number,
                                                             bool keep,
                                                             const struct tg_growing_peek *peek)
{
    uint32_t entry = TG_DEP_NONE, next;
    uint32_t *done_words = TG_TARGET_NEAR(e, done_words);
    struct tg_successors successors;
    TG_TARGET_BUNCH(bunch);
    /* E1; and F1: say, because the orchestrator may be waiting for this task. */
    if (tg_target_lane(lanes) == 0)
        entry = TG_TARGET_SLEEPERS_LOOK ? tg_exchange_acq_rel(&e->desc[task].succ, TG_DEP_CLOSED)
                                        : tg_exchange_seq(&e->desc[task].succ, TG_DEP_CLOSED);
    entry = tg_target_from_lane(lanes, entry, 0);
    tg_target_meet(lanes); /* E1 is for all lanes */
    tg_successors_begin(&successors, lanes, bunch, keep);
    if (tg_growing_edges_release_one(e, w, &successors, entry, peek))
        entry = TG_DEP_NONE;
    tg_growing_edges_release_list(e, w, &successors, entry,
                                  entry == peek->entry ? peek->window : TG_DEP_NONE, TG_NO_TASK);
    next = tg_successors_end(&successors, e, w);
    /* Last: a store across a bus may hold up whatever waits for earlier stores. */
    if (done_words && tg_target_lane(lanes) == 0)
        tg_store_told_host(&done_words[task], number);                /* K3 */
    if (!TG_TARGET_SLEEPERS_LOOK && tg_load_seq(&e->awaited) == task) /* F1: check */
        tg_worker_wake_orchestrator(e);
    return next;
}

TG_FN static inline uint32_t tg_growing_edges_release(struct tg_engine *e, struct tg_worker *w,
                                                      uint32_t task, bool keep)
{
    uint32_t lanes = tg_target_lanes();
    uint32_t number = TG_TARGET_NEAR(e, done_words) ? TG_TARGET_NEAR(e, desc)[task].n_succ : 0;
    struct tg_growing_peek peek;
    tg_growing_edges_peek(e, lanes, task, &peek);
    tg_target_end_kernel();
    return tg_growing_edges_release_peeked(e, w, lanes, task, number, keep, &peek);
}

#endif
