/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a worker does with the successors of a task that it has completed, for both kinds of edges.
 * fixed_edges.h and growing_edges.h are the two clients: each goes through its own kind of list and
 * calls tg_successors_ready for every task that has become ready.
 *
 *     begin ─► ready, for each ─► end
 *              the worker keeps the first task that it may run itself: no queue and no wake needed
 *              if there is none, its thread takes over a lane that may run the first of the others
 *              it offers the others, and announces all of them to the sleepers at once
 *
 * Everything here is inlined into tg_worker_complete, once for each client.
 */
#ifndef TG_DEVICE_SUCCESSORS_H
#define TG_DEVICE_SUCCESSORS_H

#include "device/role.h"
#include "device/worker.h"

struct tg_successors {
    bool keep;        /* the worker continues with one of them */
    uint32_t next;    /* the task that it keeps, or TG_NO_TASK */
    uint32_t foreign; /* the first task that another lane may run, or TG_NO_TASK */
    uint32_t offered; /* classes of the others: TG_TAKES */
    /* A pointer, because the bunch is passed to functions that are not inlined, and a struct whose
     * address leaves the function cannot stay in registers. */
    struct tg_bunch *bunch;
};

TG_FN static inline void tg_successors_begin(struct tg_successors *s, struct tg_bunch *bunch,
                                             bool keep)
{
    s->keep = keep;
    s->next = s->foreign = TG_NO_TASK;
    s->offered = 0;
    s->bunch = bunch;
    bunch->n = 0;
}

TG_FN static inline void tg_successors_offer(struct tg_successors *s, struct tg_engine *e,
                                             struct tg_worker *w, uint32_t task,
                                             uint32_t task_class)
{
    tg_worker_offer_with(e, w, s->bunch, task, task_class);
    s->offered |= TG_TAKES(task_class);
}

/* The task waits for nothing any more, and no other worker knows that yet. */
TG_FN static inline void tg_successors_ready(struct tg_successors *s, struct tg_engine *e,
                                             struct tg_worker *w, uint32_t task,
                                             uint32_t task_class)
{
    if (s->keep && s->next == TG_NO_TASK && task_class != TG_CLASS_MIX) {
        if (w->takes & TG_TAKES(task_class)) {
            s->next = task;
            return;
        }
        if (TG_TARGET_MOVES_ROLES && s->foreign == TG_NO_TASK) {
            s->foreign = task;
            return;
        }
    }
    tg_successors_offer(s, e, w, task, task_class);
}

/* Returns the task that the worker keeps. */
TG_FN static inline uint32_t tg_successors_end(struct tg_successors *s, struct tg_engine *e,
                                               struct tg_worker *w)
{
    if (TG_TARGET_MOVES_ROLES && s->foreign != TG_NO_TASK) {
        uint32_t task_class = e->desc[s->foreign].task_class;
        if (s->next == TG_NO_TASK && tg_role_reach(e, w, task_class))
            s->next = s->foreign;
        else
            tg_successors_offer(s, e, w, s->foreign, task_class);
    }
    if (s->offered) {
        tg_bunch_flush(e, s->bunch);
        tg_worker_announce(e, w, s->offered);
    }
    return s->next;
}

#endif
