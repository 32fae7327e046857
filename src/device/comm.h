/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that are calls of communication (wire/comm.h). A core takes such a task twice:
 *
 *     ready ─► a core records its inputs, posts it to the host, and goes on    NEW → POSTED
 *              a thread of the host does what the call asks for
 *              tg_comm_arrive: ready once more                                 POSTED → ARRIVED
 *     ready ─► a core records its outputs and completes it                     ARRIVED → NEW
 *
 * So no core waits for another rank. A run without calls pays nothing: they count as something to
 * watch (device/trace.h).
 *
 * Named edges:
 *   C0  state   the core that posts the call, and whatever it knows of, pairs with the thread that tells the
 *               engine of its arrival. The host's messages between the two go through another process, which
 *               is order enough for a CPU, but is none that the memory models of C or of a GPU speak of
 *   C1  state   the thread that tells the engine of an arrival stores it before it pushes the task to
 *               the device's queue; whoever pops the task sees it (Q1, device/queue.h)
 *   C2  posted, arrived   counted up by the core before it sleeps, and by the thread of the arrival after
 *               it has pushed the task. Whoever asks whether anything can still complete
 *               (tg_worker_all_still) looks before it looks at workers and queues, and once more at `posted`
 *               after that: a core that has posted a call has finished no task
 */
#ifndef TG_DEVICE_COMM_H
#define TG_DEVICE_COMM_H

#include "device/engine.h"
#include <taskglass/wire/comm.h>

TG_FN static inline bool tg_comm_is_on(const struct tg_engine *e)
{
    return e->comm != 0 && e->comm->first_kernel != TG_NO_KERNEL;
}

/* True if the task is a call. Only asked in runs with calls. */
TG_FN static inline bool tg_comm_is_call(const struct tg_engine *e, uint32_t task)
{
    const struct tg_task_desc *desc = &e->desc[task];
    return desc->task_class == TG_CLASS_EITHER &&
           desc->kernel[TG_PART_AIV0] - e->comm->first_kernel < TG_COMM_KINDS;
}

/* True if the call has not been posted yet. */
TG_FN static inline bool tg_comm_is_new(const struct tg_engine *e, uint32_t task)
{
    return tg_load_relaxed(&e->comm_note[task].state) == TG_COMM_NEW; /* C1 */
}

/* Posts the call to the host. */
TG_FN void tg_comm_post(struct tg_engine *e, uint32_t task);
/* Says that the task's call is through with: its slot is as that of any other task. */
TG_FN static inline void tg_comm_close(struct tg_engine *e, uint32_t task)
{
    tg_store_relaxed(&e->comm_note[task].state, (uint32_t)TG_COMM_NEW);
}

/*
 * The host has done the call: the task is ready for the second time. A slot that has no posted call is
 * ignored. With `helps`, the calling thread then runs what is ready on lanes whose threads sleep, so that
 * none of them has to be woken for it; `home` is its own worker, which is no core. Returns whether other calls
 * are under way.
 */
TG_FN bool tg_comm_arrive(struct tg_engine *e, struct tg_worker *home, uint32_t task, bool helps);

/* --- ears: threads that hear of arrivals. One listens, and the others wait for their turn. --- */

/* The worker of an ear: it takes no tasks, is not counted among the workers, and lies behind them. */
TG_FN static inline struct tg_worker *tg_comm_ear(struct tg_engine *e, uint32_t ear)
{
    return &e->worker[e->n_workers + ear];
}

/* Returns when the ear is the one that listens. */
TG_FN void tg_comm_listen(struct tg_engine *e, const struct tg_worker *ear);

/* A thread that helps is about to run the task. If it is the ear that listens, and may be busy for long, another ear
 * listens from now on. False: there is none, so that the task is for a core. */
TG_FN bool tg_comm_may_help(struct tg_engine *e, const struct tg_worker *home, uint32_t task);

#endif
