/* SPDX-License-Identifier: Apache-2.0 */
#include "device/mix.h"
#include "device/core.h"
#include "device/park.h"
#include "device/recorder.h"
#include "device/target.h"
#include "device/trace.h"
#include "device/wait.h"
#include "device/worker.h"

TG_FN uint32_t tg_mix_try_lead(struct tg_engine *e, struct tg_worker *lane)
{
    struct tg_mix *mix = &e->mix[lane->block];
    if (TG_TARGET_SLEEPERS_LOOK && !tg_worker_sees(e, TG_TAKES(TG_CLASS_MIX)))
        return TG_NO_TASK; /* a cheap look: this core will look again */
    /* Looks again after a failed attempt: a worker that offered a mix in the meantime saw the block
     * as busy and did not wake it (S1). */
    while (tg_queue_occupied(&e->queue[TG_CLASS_MIX])) {
        uint32_t unlocked = 0, task;
        if (!tg_cas_seq(&mix->lock, &unlocked, 1u)) /* S1: say */
            return TG_NO_TASK; /* busy; the lane that unlocks it checks the queue */
        task = tg_worker_take(e, lane, TG_CLASS_MIX, false);
        if (task != TG_NO_TASK)
            return task;
        tg_store_seq(&mix->lock, 0u);
    }
    return TG_NO_TASK;
}

TG_FN bool tg_mix_could_lead(struct tg_engine *e, const struct tg_worker *lane)
{
    return tg_queue_occupied(&e->queue[TG_CLASS_MIX]) &&
           tg_load_seq(&e->mix[lane->block].lock) == 0;
}

TG_FN static void call_off(struct tg_mix *mix)
{
    uint32_t gathering = TG_GATHERING;
    if (tg_cas_seq(&mix->start, &gathering, (uint32_t)TG_CALLED_OFF))
        tg_target_wake(&mix->start, TG_PARTS);
}

TG_FN void tg_mix_assemble(struct tg_engine *e, struct tg_mix *mix, uint32_t task)
{
    const struct tg_task_desc *desc = &e->desc[task];
    mix->task = task;
    mix->parts = desc->n_parts & TG_DESC_PARTS;
    mix->wanted = 0;
    for (uint32_t part = 0; part < TG_PARTS; part++)
        if (desc->kernel[part] != TG_NO_KERNEL)
            mix->wanted |= 1u << part;
    mix->unreaped = mix->wanted;
    tg_store_relaxed(&mix->arrived, 0u);
    tg_store_relaxed(&mix->finished, 0u);
    tg_store_relaxed(&mix->met, 0u);
    if (tg_load_acquire(&e->any_mix) == 0)
        tg_store_seq(&e->any_mix, 1u);                    /* S4: say */
    tg_exchange_seq(&mix->start, (uint32_t)TG_GATHERING); /* S4: say */
    if (tg_load_seq(&e->phase) != TG_RUNNING)             /* S4: check */
        call_off(mix);
}

/* The start of a mix that is recorded or traced. The inputs are recorded while no kernel runs yet. */
TG_FN static uint32_t start_watched(struct tg_engine *e, struct tg_worker *lane, uint32_t task)
{
    tg_record(e, lane, task, TG_BEFORE_DISPATCH);
    tg_target_told(); /* other lanes start kernels, too */
    return TG_STARTED_WATCHED;
}

/* The part that arrives last gives the signal to start. Returns what became of the mix (enum
 * tg_start_word); all its parts get the same answer. */
TG_FN static uint32_t arrive(struct tg_engine *e, struct tg_worker *lane, uint32_t task,
                             uint32_t parts)
{
    struct tg_mix *mix = &e->mix[lane->block];
    uint32_t gathering = TG_GATHERING, start = TG_STARTED;
    if (tg_add_acq_rel(&mix->arrived, 1u) + 1 < parts) { /* G1 */
        tg_wait_for_change(&e->patience, &mix->start, TG_GATHERING);
        return tg_load_acquire(&mix->start); /* G1 */
    }
    if (tg_is_watched(e))
        start = start_watched(e, lane, task);
    if (!tg_cas_seq(&mix->start, &gathering, start)) /* G1 */
        return TG_CALLED_OFF;
    tg_target_wake(&mix->start, TG_PARTS);
    return start;
}

/* True if it is the last part that ends. */
TG_FN static bool finish_part(struct tg_mix *mix, uint32_t parts)
{
    return tg_add_acq_rel(&mix->finished, 1u) + 1 == parts; /* G2 */
}

TG_FN static enum tg_part_end run_watched(struct tg_engine *e, struct tg_worker *lane,
                                          uint32_t task, uint32_t parts)
{
    tg_watch_call_part(e, lane, task, lane->part);
    if (!finish_part(&e->mix[lane->block], parts))
        return TG_PART_DONE;
    tg_record(e, lane, task, TG_AFTER_COMPLETION);
    return TG_PART_DONE_LAST;
}

TG_FN enum tg_part_end tg_mix_run_part(struct tg_engine *e, struct tg_worker *lane, uint32_t task)
{
    struct tg_mix *mix = &e->mix[lane->block];
    uint32_t parts = mix->parts; /* the block may have another mix once this part is finished */
    enum tg_part_end end = TG_PART_STOPPED;
    uint32_t start;
    tg_core_say_running(e, lane, task, lane->part);
    start = arrive(e, lane, task, parts);
    if (start == TG_STARTED) {
        tg_core_call(e, lane, task, lane->part);
        end = finish_part(mix, parts) ? TG_PART_DONE_LAST : TG_PART_DONE;
    } else if (start == TG_STARTED_WATCHED) {
        end = run_watched(e, lane, task, parts);
    }
    tg_target_say_between(lane->status);
    return end;
}

/* Called by the lane of the last part: the task is done, and the block is free for the next mix. */
TG_FN static uint32_t finish(struct tg_engine *e, struct tg_worker *lane, uint32_t task)
{
    tg_store_seq(&e->mix[lane->block].lock, 0u); /* S1: say */
    if (e->bag) {
        tg_bag_complete(e, lane, task);
        return TG_NO_TASK;
    }
    tg_worker_pass_on(e, TG_TAKES(TG_CLASS_MIX)); /* S1: check */
    return tg_worker_complete(e, lane, task, true);
}

TG_FN uint32_t tg_mix_lead(struct tg_engine *e, struct tg_worker *lane, uint32_t task)
{
    struct tg_mix *mix = &e->mix[lane->block];
    uint32_t wanted, own = 1u << lane->part;
    tg_mix_assemble(e, mix, task);
    /* Once all parts are posted, another lane may finish the mix and reuse it. */
    wanted = mix->wanted;
    for (uint32_t part = 0; part < TG_PARTS; part++)
        if (wanted & ~own & (1u << part))
            tg_core_post(e, &e->worker[TG_PARTS * lane->block + part], task);
    if ((wanted & own) && tg_mix_run_part(e, lane, task) == TG_PART_DONE_LAST)
        return finish(e, lane, task);
    return TG_NO_TASK;
}

TG_FN uint32_t tg_mix_serve(struct tg_engine *e, struct tg_worker *lane)
{
    uint32_t task = tg_load_acquire(&lane->mail) - 1;
    /* Emptied before the part ends, because the next mix can be posted as soon as this one is
     * finished. */
    tg_store_relaxed(&lane->mail, 0u);
    if (tg_mix_run_part(e, lane, task) == TG_PART_DONE_LAST)
        return finish(e, lane, task);
    return TG_NO_TASK;
}

TG_FN void tg_mix_hand_on(struct tg_engine *e, struct tg_worker *lane, uint32_t task)
{
    uint32_t task_class = e->desc[task].task_class;
    /* A task that came through a deque or the queue finds room in the deque, because nothing was
     * put there since. So no task goes to the queue twice, as tg_queue_push demands. */
    tg_worker_offer(e, lane, task, task_class);
    tg_worker_announce(e, lane, TG_TAKES(task_class));
}

/* Called by one thread of each lane. */
TG_FN static void meet(const struct tg_ctx *ctx)
{
    struct tg_engine *e = (struct tg_engine *)ctx->engine;
    struct tg_mix *mix = &e->mix[e->worker[ctx->core].block];
    uint32_t meeting = tg_load_acquire(&mix->meetings);
    if (tg_add_acq_rel(&mix->met, 1u) + 1 == ctx->parts) { /* G3 */
        tg_store_relaxed(&mix->met, 0u);
        tg_add_acq_rel(&mix->meetings, 1u); /* G3 */
        tg_target_wake(&mix->meetings, TG_PARTS);
    } else {
        tg_wait_for_change(&e->patience, &mix->meetings, meeting);
    }
}

TG_FN void tg_mix_meet(const struct tg_ctx *ctx)
{
    TG_BARRIER();
    if (TG_THREAD_ID == 0)
        meet(ctx);
    TG_BARRIER();
}

TG_FN void tg_mix_call_off_all(struct tg_engine *e)
{
    for (uint32_t b = 0; b < e->n_blocks; b++)
        call_off(&e->mix[b]);
}
