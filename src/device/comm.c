/* SPDX-License-Identifier: Apache-2.0 */
#include "device/comm.h"
#include "common/stored_args.h"
#include "device/core.h"
#include "device/recorder.h"
#include "device/target.h"
#include "device/wait.h"
#include "device/worker.h"

TG_FN static int32_t scalar_of(const struct tg_scalar *scalars, enum tg_comm_scalar which)
{
    return (int32_t)(uint32_t)scalars[which].bits;
}

TG_FN void tg_comm_post(struct tg_engine *e, uint32_t task)
{
    const struct tg_task_desc *desc = &e->desc[task];
    const char *args = e->payload + desc->args;
    const struct tg_scalar *scalars = tg_stored_scalars(args);
    struct tg_comm_note *note = &e->comm_note[task];
    struct tg_comm_post post;
    post.task = desc->id;
    post.slot = task;
    post.line = note->line;
    post.kind = desc->kernel[TG_PART_AIV0] - e->comm->first_kernel;
    post.peer = scalar_of(scalars, TG_COMM_SCALAR_PEER);
    post.tag = scalar_of(scalars, TG_COMM_SCALAR_TAG);
    post.operation = scalar_of(scalars, TG_COMM_SCALAR_OPERATION);
    post.number = scalars[TG_COMM_SCALAR_NUMBER].bits;
    post.n_tensors = desc->n_tensors;
    post.roles = desc->roles;
    tg_stored_get_all(tg_stored_tensors(args, desc->n_scalars), desc->n_tensors, post.tensor);
    tg_add_seq(&e->posted, 1u);                               /* C2 */
    tg_store_release(&note->state, (uint32_t)TG_COMM_POSTED); /* C0 */
    tg_target_post(e, &post);
}

TG_FN bool tg_comm_arrive(struct tg_engine *e, struct tg_worker *home, uint32_t task, bool helps)
{
    bool helped = false;
    if (!tg_comm_is_on(e) || !tg_engine_running(e) || task >= e->n_slots ||
        tg_load_acquire(&e->comm_note[task].state) != TG_COMM_POSTED) /* C0 */
        return false;
    tg_store_relaxed(&e->comm_note[task].state, (uint32_t)TG_COMM_ARRIVED); /* C1 */
    tg_worker_share(e, task, TG_CLASS_EITHER);
    tg_add_seq(&e->arrived, 1u); /* C2 */
    if (helps && e->n_schedulers == 0)
        helped = tg_core_help(e, home, &e->phase, TG_OVER);
    /* Nobody is woken for a task that is gone from the queue: then this thread ran it, or a core has it. */
    if (!helped || tg_worker_could_take(e, TG_TAKES(TG_CLASS_EITHER)))
        tg_worker_announce(e, home, TG_TAKES(TG_CLASS_EITHER));
    return tg_load_relaxed(&e->posted) != tg_load_relaxed(&e->arrived);
}

/* ── ears ──────────────────────────────────────────────────────────────────────────────── */

TG_FN static uint32_t number_of(const struct tg_engine *e, const struct tg_worker *ear)
{
    return (uint32_t)(ear - e->worker) - e->n_workers + 1;
}

TG_FN void tg_comm_listen(struct tg_engine *e, const struct tg_worker *ear)
{
    const struct tg_patience none = {0, 0};
    uint32_t listens = tg_load_acquire(&e->listens);
    if (listens == number_of(e, ear))
        return;
    tg_add_acq_rel(&e->deaf, 1u);
    while (listens != 0 || !tg_cas_acq_rel(&e->listens, &listens, number_of(e, ear))) {
        if (listens != 0)
            tg_wait_for_change(&none, &e->listens, listens);
        listens = 0;
    }
    tg_sub_acq_rel(&e->deaf, 1u);
}

/* A call that is posted or through with takes a moment, a kernel any time, and a recorder copies tensors. */
TG_FN static bool is_short(const struct tg_engine *e, uint32_t task)
{
    return !tg_record_is_on(e) && tg_comm_is_call(e, task);
}

TG_FN bool tg_comm_may_help(struct tg_engine *e, const struct tg_worker *home, uint32_t task)
{
    if (home < e->worker + e->n_workers || tg_load_relaxed(&e->listens) != number_of(e, home) ||
        is_short(e, task))
        return true;
    if (tg_load_acquire(&e->deaf) == 0)
        return false;
    tg_store_release(&e->listens, 0u);
    tg_target_wake(&e->listens, 1);
    return true;
}
