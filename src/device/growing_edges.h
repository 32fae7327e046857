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
 * completed. */
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

/* Offers the tasks that waited only for this one, which has completed; see tg_worker_complete. */
TG_FN static inline uint32_t tg_growing_edges_release(struct tg_engine *e, struct tg_worker *w,
                                                      uint32_t task, bool keep)
{
    /* E1; and F1: say, because the orchestrator may be waiting for this task. */
    uint32_t entry = TG_TARGET_SLEEPERS_LOOK
                         ? tg_exchange_acq_rel(&e->desc[task].succ, TG_DEP_CLOSED)
                         : tg_exchange_seq(&e->desc[task].succ, TG_DEP_CLOSED);
    struct tg_successors successors;
    struct tg_bunch bunch;
    uint32_t next;
    tg_successors_begin(&successors, &bunch, keep);
    while (entry != TG_DEP_NONE) {
        uint32_t ready = e->deps[entry].task;
        struct tg_task_desc *desc = &e->desc[ready];
        uint32_t task_class = desc->task_class;
        entry = e->deps[entry].next; /* before the count: the entry is freed with its task */
        if (desc->fanin > 1 && tg_sub_acq_rel(&desc->pending, 1u) != 1) /* E2 */
            continue;
        tg_successors_ready(&successors, e, w, ready, task_class);
    }
    next = tg_successors_end(&successors, e, w);
    if (!TG_TARGET_SLEEPERS_LOOK && tg_load_seq(&e->awaited) == task) /* F1: check */
        tg_worker_wake_orchestrator(e);
    return next;
}

#endif
