/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a worker does with the successors of a task that it has completed, for both kinds of edges.
 * fixed_edges.h and growing_edges.h are the two clients: each goes through its own kind of list with
 * all lanes that the worker has (device/walk.h) and calls tg_successors_add for the entries of all
 * lanes at a time, of which some have become ready.
 *
 *     begin ─► add, for each round ─► end
 *              the worker keeps the first task that it may run itself: no queue and no wake needed
 *              if there is none, its thread takes over a lane that may run the first of the others
 *              it offers the others, and announces all of them to the sleepers at once
 *
 * Everything here is inlined into tg_worker_complete, once for each client.
 */
#ifndef TG_DEVICE_SUCCESSORS_H
#define TG_DEVICE_SUCCESSORS_H

#include "device/role.h"
#include "device/target.h"
#include "device/worker.h"

/* All lanes have the same values in it. */
struct tg_successors {
    uint32_t lanes;
    bool keep;          /* the worker continues with one of them */
    uint32_t next;      /* the task that it keeps, or TG_NO_TASK */
    uint32_t next_lane; /* the lane that it came from */
    uint32_t foreign;   /* the first task that another lane may run, or TG_NO_TASK */
    uint32_t offered;   /* classes of the others: TG_TAKES */
    /* Tasks on their way to one of the device's queues, in memory that all lanes share. It is outside
     * of the struct, because a struct whose address leaves the function cannot stay in registers. */
    uint32_t n_bunch, bunch_class;
    uint32_t *bunch;
};

TG_FN static inline void tg_successors_begin(struct tg_successors *s, uint32_t lanes,
                                             uint32_t *bunch, bool keep)
{
    s->lanes = lanes;
    s->keep = keep;
    s->next = s->foreign = TG_NO_TASK;
    s->offered = 0;
    s->bunch = bunch;
    s->n_bunch = 0;
    s->bunch_class = 0;
}

/* Lets the other workers have the bunch. */
TG_FN static inline void tg_successors_flush(struct tg_successors *s, struct tg_engine *e)
{
    tg_target_meet(s->lanes); /* all of it is there */
    if (s->n_bunch > 0)
        tg_worker_share_all(e, s->bunch, s->n_bunch, s->bunch_class);
    tg_target_meet(s->lanes); /* and can be overwritten */
    s->n_bunch = 0;
}

/* Offers a task of each lane in `bits`; all are of the class. Tasks for the device's queue are collected
 * and pushed together. */
TG_FN static inline void tg_successors_offer(struct tg_successors *s, struct tg_engine *e,
                                             struct tg_worker *w, uint32_t bits, uint32_t task,
                                             uint32_t task_class)
{
    uint32_t lane = tg_target_lane(s->lanes), n = tg_target_count(bits);
    s->offered |= TG_TAKES(task_class);
    if (TG_TARGET_LANES == 1 && !e->shares) {
        tg_worker_offer(e, w, task, task_class);
        return;
    }
    if (s->n_bunch + n > TG_BUNCH || (s->n_bunch > 0 && s->bunch_class != task_class))
        tg_successors_flush(s, e);
    s->bunch_class = task_class;
    if (bits >> lane & 1)
        s->bunch[s->n_bunch + tg_target_count(bits & ((1u << lane) - 1))] = task;
    s->n_bunch += n;
}

/* Returns the bits without the lane whose task the worker keeps, if it keeps one of these. */
TG_FN static inline uint32_t tg_successors_keep(struct tg_successors *s, const struct tg_worker *w,
                                                uint32_t bits, uint32_t task, uint32_t task_class)
{
    bool plain = task_class != TG_CLASS_MIX;
    uint32_t own = bits & tg_target_ballot(
                              s->lanes, plain && (TG_TARGET_NEAR(w, takes) & TG_TAKES(task_class)));
    if (own) {
        uint32_t lane = tg_target_lowest_bit(own);
        s->next = tg_target_from_lane(s->lanes, task, lane);
        s->next_lane = lane;
        return bits & ~(1u << lane);
    }
    if (TG_TARGET_MOVES_ROLES && s->foreign == TG_NO_TASK && plain) {
        s->foreign = task;
        return 0;
    }
    return bits;
}

/* If it is `ready`, the lane's task waits for nothing any more, and no other worker knows that yet. All
 * lanes call this. */
TG_FN static inline void tg_successors_add(struct tg_successors *s, struct tg_engine *e,
                                           struct tg_worker *w, bool ready, uint32_t task,
                                           uint32_t task_class)
{
    uint32_t bits = tg_target_ballot(s->lanes, ready);
    if (bits && s->keep && s->next == TG_NO_TASK)
        bits = tg_successors_keep(s, w, bits, task, task_class);
    while (bits) {
        uint32_t first = tg_target_from_lane(s->lanes, task_class, tg_target_lowest_bit(bits));
        uint32_t same = bits & tg_target_ballot(s->lanes, task_class == first);
        tg_successors_offer(s, e, w, same, task, first);
        bits &= ~same;
    }
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
            tg_successors_offer(s, e, w, 1, s->foreign, task_class);
    }
    if (s->offered) {
        tg_successors_flush(s, e);
        tg_worker_announce(e, w, s->offered);
    }
    return s->next;
}

#endif
