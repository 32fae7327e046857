/* SPDX-License-Identifier: Apache-2.0 */
/* Finding ready tasks, handing on those that became ready, and waiting for either. */
#ifndef TG_DEVICE_WORKER_H
#define TG_DEVICE_WORKER_H

#include "device/engine.h"

/* A task of the class: from the worker's own deque, the device's queue, another's deque. No sleeper
 * is woken for what moves to its deque: a core must be searching, a scheduler must pass it on. */
TG_FN uint32_t tg_worker_take(struct tg_engine *e, struct tg_worker *w, uint32_t task_class,
                              bool steals);

/* Might there be a task of one of these classes anywhere? The check of a worker that has said
 * it sleeps (S1). */
TG_FN bool tg_worker_could_take(struct tg_engine *e, uint32_t classes);

/* A cheap look at the device's queues, for a worker that looks again and again. */
TG_FN static inline bool tg_worker_sees(const struct tg_engine *e, uint32_t classes)
{
    for (uint32_t c = 0; c < TG_CLASSES; c++)
        if ((classes & TG_TAKES(c)) &&
            tg_load_relaxed(&e->queue[c].head) != tg_load_relaxed(&e->queue[c].tail))
            return true;
    return false;
}

/* A look at the deques of other workers, which takes longer: once in TG_NAPS naps. */
enum { TG_NAPS = 64 };
TG_FN bool tg_worker_sees_loot(const struct tg_engine *e, uint32_t classes);

/* Makes a ready task available: to the worker itself if it takes the class and its deque has
 * room, to the device otherwise. tg_worker_announce must follow. */
TG_FN void tg_worker_offer(struct tg_engine *e, struct tg_worker *w, uint32_t task,
                           uint32_t task_class);

/* Several tasks on their way to one of the device's queues. */
enum { TG_BUNCH = 16 };
struct tg_bunch {
    uint32_t n;
    uint32_t task_class;
    uint32_t task[TG_BUNCH];
};
TG_FN void tg_bunch_flush(struct tg_engine *e, struct tg_bunch *bunch);

/* tg_worker_offer, but where they go to the device's queue anyway they go together: tg_bunch_flush
 * must follow, before the announcement. */
TG_FN static inline void tg_worker_offer_with(struct tg_engine *e, struct tg_worker *w,
                                              struct tg_bunch *bunch, uint32_t task,
                                              uint32_t task_class)
{
    if (!e->shares) {
        tg_worker_offer(e, w, task, task_class);
        return;
    }
    if (bunch->n == TG_BUNCH || (bunch->n > 0 && bunch->task_class != task_class))
        tg_bunch_flush(e, bunch);
    bunch->task_class = task_class;
    bunch->task[bunch->n++] = task;
}

/* After tasks of these classes were offered: wakes a sleeper for each, unless one is searching. */
TG_FN void tg_worker_announce(struct tg_engine *e, struct tg_worker *w, uint32_t classes);
/* Wakes a sleeper for each of these classes that still has a task somewhere. */
TG_FN void tg_worker_pass_on(struct tg_engine *e, uint32_t classes);
/* The same for a scheduler, which has moved tasks to its deques without searching. */
TG_FN void tg_worker_pass_on_own(struct tg_engine *e, struct tg_worker *w);

/* Is there a sleeper that could take tasks? */
TG_FN bool tg_worker_any_sleeps(struct tg_engine *e);

/* The worker says that it can be woken for these classes, or that it no longer can. */
TG_FN void tg_worker_say_asleep(struct tg_engine *e, const struct tg_worker *w, uint32_t classes);
TG_FN void tg_worker_say_awake(struct tg_engine *e, const struct tg_worker *w, uint32_t classes);

/* Counts the core in and out as searching. One that leaves because it has something to do passes
 * the search on if it was the last; one that goes to sleep must say so before, and look after. */
TG_FN void tg_worker_search_begin(struct tg_engine *e, uint32_t classes);
TG_FN void tg_worker_search_leave(struct tg_engine *e, uint32_t classes);
TG_FN void tg_worker_search_give_up(struct tg_engine *e, uint32_t classes);

/* Called when the task that the orchestrator waits for has completed. */
TG_FN void tg_worker_wake_orchestrator(struct tg_engine *e);

/*
 * Everything a finished task means: counts it, and offers the successors that became ready.
 * With `keep`, one of them that the worker takes itself is the result instead of being offered.
 */
TG_FN uint32_t tg_worker_complete(struct tg_engine *e, struct tg_worker *w, uint32_t task,
                                  bool keep);

#endif
