/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges between tasks of which some may be running (TG_EDGES_GROWING): a task's `succ` is the head of a list of those
 * that wait for it, until it has completed and the list is closed.
 *
 *     orchestrator   pushes an entry by compare-and-swap, unless the list is closed
 *     who completes  takes the whole list by exchanging CLOSED for it, and counts down
 *
 * While its edges are made a task's `pending` is far above their number, so that it cannot become
 * ready; in the end the rest is taken off, and whoever brings it to zero has a ready task. A task
 * that waits for one other needs no count (fanin 1): who takes its entry from the list has it.
 *
 * Named edges:
 *   E1  succ      exchange by who completes (release: its kernel's writes; acquire: the entries)
 *                 pairs with load_acquire and the swap of the orchestrator, which then may use
 *                 the slot for another task: who completes touches it no more
 *   E2  pending   acq_rel RMW by all, as D1 in fixed_edges.h
 */
#ifndef TG_DEVICE_GROWING_EDGES_H
#define TG_DEVICE_GROWING_EDGES_H

#include "device/target.h"
#include "device/worker.h"
#include <taskglass/wire/orchestration.h>

/* More than any task's edges. */
#define TG_PENDING_GUARD (1u << 30)

/* `entry` is free. True where `task` now waits for `before`, false where that has completed. */
TG_FN static inline bool tg_edge_push(struct tg_engine *e, uint32_t before, uint32_t entry,
                                      uint32_t task)
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
        dep->next = first;
        if (tg_cas_acq_rel(list, &first, entry)) /* E1 */
            return true;
    }
}

/* The task has completed: offers those that waited for it alone; see tg_worker_complete. */
TG_FN static inline uint32_t tg_growing_edges_release(struct tg_engine *e, struct tg_worker *w,
                                                      uint32_t task, bool keep)
{
    /* E1; and say: the orchestrator may wait for this very task (F1). */
    uint32_t entry = TG_TARGET_SLEEPERS_LOOK
                         ? tg_exchange_acq_rel(&e->desc[task].succ, TG_DEP_CLOSED)
                         : tg_exchange_seq(&e->desc[task].succ, TG_DEP_CLOSED);
    uint32_t next = TG_NO_TASK, offered = 0;
    struct tg_bunch bunch;
    bunch.n = 0;
    while (entry != TG_DEP_NONE) {
        uint32_t ready = e->deps[entry].task;
        struct tg_task_desc *desc = &e->desc[ready];
        uint32_t task_class = desc->task_class;
        entry = e->deps[entry].next; /* before the count: the entry goes with its task */
        if (desc->fanin > 1 && tg_sub_acq_rel(&desc->pending, 1u) != 1) /* E2 */
            continue;
        if (keep && next == TG_NO_TASK && task_class != TG_CLASS_MIX &&
            (w->takes & TG_TAKES(task_class))) {
            next = ready;
            continue;
        }
        tg_worker_offer_with(e, w, &bunch, ready, task_class);
        offered |= TG_TAKES(task_class);
    }
    if (offered) {
        tg_bunch_flush(e, &bunch);
        tg_worker_announce(e, w, offered);
    }
    if (!TG_TARGET_SLEEPERS_LOOK && tg_load_seq(&e->awaited) == task) /* F1: check */
        tg_worker_wake_orchestrator(e);
    return next;
}

#endif
