/* SPDX-License-Identifier: Apache-2.0 */
/* Finding ready tasks, offering tasks that became ready, and waiting for work. */
#ifndef TG_DEVICE_WORKER_H
#define TG_DEVICE_WORKER_H

#include "device/engine.h"
#include "device/target.h"

/* Takes a task of the class: from the worker's own deque, the device's queue, or another worker's
 * deque. It wakes no sleeper for the tasks that it moves to the worker's deque: a core must be
 * searching, a scheduler must pass them on. */
TG_FN uint32_t tg_worker_take(struct tg_engine *e, struct tg_worker *w, uint32_t task_class,
                              bool steals);

/* True if there might be a task of one of these classes anywhere. It is the check of a worker that
 * has said that it sleeps (S1). */
TG_FN bool tg_worker_could_take(struct tg_engine *e, uint32_t classes);

/* A cheap look at the device's queues, for a worker that polls. */
TG_FN static inline bool tg_worker_sees(const struct tg_engine *e, uint32_t classes)
{
    for (uint32_t c = 0; c < TG_CLASSES; c++)
        if ((classes & TG_TAKES(c)) &&
            tg_queue_has(tg_load_relaxed(&e->queue[c].head), tg_load_relaxed(&e->queue[c].tail)))
            return true;
    return false;
}

/* Looks at the deques of other workers. This takes longer, so it is done once in TG_NAPS naps. */
enum { TG_NAPS = 64 };
TG_FN bool tg_worker_sees_loot(struct tg_engine *e, struct tg_worker *w, uint32_t classes);

/* True if the worker has said that it stands in line and no task has come to its place. */
TG_FN static inline bool tg_worker_waits_in_line(const struct tg_engine *e,
                                                 const struct tg_worker *w)
{
    uint32_t task_class;
    if (!TG_TARGET_LINES_UP || tg_load_seq(&w->park) != TG_IN_LINE)
        return false;
    task_class = tg_target_lowest_bit(w->takes & ~TG_TAKES(TG_CLASS_MIX));
    return !tg_queue_has(tg_load_relaxed(&w->place), tg_load_seq(&e->queue[task_class].tail));
}

/* Stands in line for the class, if the worker waits for no other plain class. */
TG_FN static inline bool tg_worker_line_up(struct tg_engine *e, const struct tg_worker *w,
                                           uint32_t *task_class, struct tg_place *place)
{
    uint32_t classes = w->takes & ~TG_TAKES(TG_CLASS_MIX);
    if (classes == 0 || (classes & (classes - 1)) != 0)
        return false;
    *task_class = tg_target_lowest_bit(classes);
    return tg_queue_line_up(&e->queue[*task_class], e->n_workers, place);
}

/* Makes a ready task available: to the worker itself if it takes the class and its deque has room,
 * otherwise to the device. tg_worker_announce must follow. */
TG_FN void tg_worker_offer(struct tg_engine *e, struct tg_worker *w, uint32_t task,
                           uint32_t task_class);

/* Makes a ready task available to all workers: in the device's queue, or in the bag. */
TG_FN void tg_worker_share(struct tg_engine *e, uint32_t task, uint32_t task_class);
/* Several of one class, with all lanes that there are. */
TG_FN void tg_worker_share_all(struct tg_engine *e, const uint32_t *task, uint32_t n,
                               uint32_t task_class);

/* Called after tasks of these classes were offered: wakes a sleeper for each, unless a core is
 * searching. */
TG_FN void tg_worker_announce(struct tg_engine *e, struct tg_worker *w, uint32_t classes);
/* Wakes a sleeper for each of these classes that still has a task somewhere. */
TG_FN void tg_worker_pass_on(struct tg_engine *e, uint32_t classes);
/* The same for a scheduler that has moved tasks to its deques without searching. */
TG_FN void tg_worker_pass_on_own(struct tg_engine *e, struct tg_worker *w);

/* Wakes a sleeper that could take a task of the class, if there is one (S1: check). */
TG_FN void tg_worker_wake_sleeper(struct tg_engine *e, uint32_t task_class);

/* True if there is a sleeper that could take tasks. */
TG_FN bool tg_worker_any_sleeps(struct tg_engine *e);

/* True if no worker has a task or could get one: no task completes before another one is offered. All
 * tasks that are in the queues were offered before the call. */
TG_FN bool tg_worker_all_still(struct tg_engine *e);

/* Says that the worker can be woken for these classes, or that it no longer can. */
TG_FN void tg_worker_say_asleep(struct tg_engine *e, const struct tg_worker *w, uint32_t classes);
TG_FN void tg_worker_say_awake(struct tg_engine *e, const struct tg_worker *w, uint32_t classes);

/* Counts the core in and out as searching. If the last searcher leaves because it has work, it
 * passes the search on. A core that goes to sleep must say so before it leaves, and look again
 * afterwards. */
TG_FN void tg_worker_search_begin(struct tg_engine *e, uint32_t classes);
TG_FN void tg_worker_search_leave(struct tg_engine *e, uint32_t classes);
TG_FN void tg_worker_search_give_up(struct tg_engine *e, uint32_t classes);

/* Called when the task that the orchestrator waits for has completed. */
TG_FN void tg_worker_wake_orchestrator(struct tg_engine *e);

/*
 * Completes a finished task: counts it, and offers the successors that became ready. With `keep`,
 * returns one that the thread takes itself instead of offering it. The thread may have another lane
 * then (device/role.h), and must not use `w` any more.
 */
TG_FN uint32_t tg_worker_complete(struct tg_engine *e, struct tg_worker *w, uint32_t task,
                                  bool keep);

#endif
