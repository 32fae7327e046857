/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a core waits that goes on with nothing. A task with fixed edges has an heir (`next`): one of its
 * successors, chosen by the host so that few tasks share one; or, if others have all of these, a successor of one
 * (TG_DESC_BEYOND), as where many tasks meet in one and part again. On a target with TG_TARGET_LINES_UP a core
 * that has completed a task, and keeps none of its successors, claims the heir and waits for the heir's
 * other predecessors:
 *
 *     the core             counts its edge and claims ──► looks at `pending` until nothing is left ──► runs it
 *     another predecessor          counts its edge, sees the claim: the task is not its to offer
 *
 * In the queue's line the same task would need a place, a push, and its descriptor anew. In a graph
 * that is as wide all along, as a stencil, each core goes on with its own column and needs no queue at all.
 *
 *     pending     claims << 16 │ predecessors that have not completed
 *
 * Counting and claiming are one step (D1 in fixed_edges.h). Who claims first has the task; further claims
 * mean nothing. A core that has to do something else, because there is a task in the queue, mail or the
 * end of the run, wipes the claims: then the next that counts an edge may claim, and the last finds the
 * task ready as ever. So a task never waits for a core that has other work, and no core is idle at an heir
 * while a task waits in the queue. While the queue is full of tasks cores claim nothing.
 */
#ifndef TG_DEVICE_HEIR_H
#define TG_DEVICE_HEIR_H

#include "device/core.h"
#include "device/engine.h"
#include "device/target.h"

/* A task with more predecessors than fit into the lower half is not claimed. */
enum { TG_HEIR_MOST = TG_MOST_COUNTED, TG_HEIR_CLAIM = TG_HEIR_MOST + 1 };

/* Set in what TG_WALK_RELEASE returns: the worker does not have this task, it has claimed it. */
#define TG_HEIR_CLAIMED (1u << 31)

TG_FN static inline bool tg_heir_is_claimed(uint32_t next)
{
    return TG_TARGET_LINES_UP && next != TG_NO_TASK && (next & TG_HEIR_CLAIMED) != 0;
}

/* True if this task can be claimed at all. */
TG_FN static inline bool tg_heir_may_claim(uint32_t heir, uint32_t fanin)
{
    return fanin <= TG_HEIR_MOST && heir < TG_HEIR_CLAIMED - 2;
}

/* Claims an heir that is no successor, before the worker counts the edges of its task: until then it cannot be
 * ready, because it comes after one of the successors. Gives what `pending` was: the heir is the worker's if
 * that is less than TG_HEIR_CLAIM. */
TG_FN static inline uint32_t tg_heir_claim_beyond(struct tg_task_desc *desc)
{
    return tg_add_relaxed(&desc->pending, (uint32_t)TG_HEIR_CLAIM);
}

/* Gives up a claim. Returns true if nothing is left to wait for: then the task is the caller's. */
TG_FN static inline bool tg_heir_leave(struct tg_task_desc *desc, uint32_t fanin)
{
    if ((tg_and_seq(&desc->pending, (uint32_t)TG_HEIR_MOST) & TG_HEIR_MOST) != 0) /* D1 */
        return false;
    tg_store_relaxed(&desc->pending, fanin); /* for the next run */
    return true;
}

/* True if the heir has become ready, and is the worker's. */
TG_FN static inline bool tg_heir_look(struct tg_task_desc *desc, uint32_t fanin)
{
    if ((tg_load_acquire(&desc->pending) & TG_HEIR_MOST) != 0) /* D1 */
        return false;
    tg_store_relaxed(&desc->pending, fanin); /* for the next run */
    return true;
}

/* tg_heir_wait after the first looks. */
TG_FN uint32_t tg_heir_wait_on(struct tg_engine *e, struct tg_worker *w, uint32_t heir);

/* Waits at the heir that the worker has claimed, and returns it when it is ready. TG_NO_TASK: there is
 * something else to do. */
TG_FN static inline uint32_t tg_heir_wait(struct tg_engine *e, struct tg_worker *w, uint32_t heir)
{
    struct tg_task_desc *desc = &TG_TARGET_NEAR(e, desc)[heir];
    uint32_t fanin = desc->fanin;
    for (uint32_t look = 0; look < TG_CORE_LOOKS; look++)
        if (tg_heir_look(desc, fanin))
            return heir;
    return tg_heir_wait_on(e, w, heir);
}

#endif
