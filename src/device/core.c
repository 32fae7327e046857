/* SPDX-License-Identifier: Apache-2.0 */
#include "device/core.h"
#include "device/gang.h"
#include "device/park.h"
#include "device/record.h"
#include "device/worker.h"

TG_FN void tg_core_call(struct tg_engine *e, struct tg_worker *lane, uint32_t task, uint32_t part)
{
    const struct tg_task_desc *desc = &e->desc[task];
    const char *args = e->payload + desc->args;
    struct tg_ctx ctx;
    ctx.tensor = (const struct tg_tensor *)args;
    ctx.scalar = (const struct tg_scalar *)(args + desc->n_tensors * sizeof(struct tg_tensor));
    ctx.n_tensors = desc->n_tensors;
    ctx.n_scalars = desc->n_scalars;
    ctx.part = part;
    ctx.parts = desc->n_parts;
    ctx.core = lane->index;
    ctx.reserved = 0;
    ctx.mix_barrier = tg_gang_barrier;
    ctx.engine = e;
    tg_target_call(e->kernel[desc->kernel[part]], &ctx);
}

TG_FN void tg_core_say_running(struct tg_engine *e, struct tg_worker *lane, uint32_t task,
                               uint32_t part)
{
    struct tg_worker_status now;
    now.running = (uint64_t)task + 1;
    now.finished = lane->finished;
    now.part = part;
    now.kernel = e->desc[task].kernel[part];
    now.task_id = e->desc[task].id;
    tg_target_say_running(lane->status, &now);
}

/* A task of one kernel. */
TG_FN static void run_alone(struct tg_engine *e, struct tg_worker *lane, uint32_t task)
{
    uint32_t part = e->desc[task].task_class == TG_CLASS_AIC ? TG_PART_AIC : TG_PART_AIV0;
    tg_core_say_running(e, lane, task, part);
    if (tg_record_is_on(e))
        tg_record_call(e, lane, task, part);
    else
        tg_core_call(e, lane, task, part);
    tg_target_say_between(lane->status);
}

TG_FN void tg_core_post(struct tg_worker *lane, uint32_t task)
{
    tg_store_seq(&lane->mail, task + 1); /* S2: say */
    tg_park_wake(&lane->park);           /* S2: check */
}

/* ── cores that schedule for themselves ────────────────────────────────────────────────── */

TG_FN static bool has_mail(const struct tg_worker *lane)
{
    return tg_load_acquire(&lane->mail) != 0;
}

TG_FN static uint32_t find_own(struct tg_worker *lane)
{
    uint32_t task = TG_NO_TASK;
    if (lane->takes & TG_TAKES(TG_CLASS_AIV))
        task = tg_ring_pop(&lane->ring[TG_CLASS_AIV]);
    if (task == TG_NO_TASK && (lane->takes & TG_TAKES(TG_CLASS_AIC)))
        task = tg_ring_pop(&lane->ring[TG_CLASS_AIC]);
    return task;
}

/* Any ready task this core may run. A mix comes with the block's gang lock held. */
TG_FN static uint32_t find(struct tg_engine *e, struct tg_worker *lane)
{
    uint32_t task = TG_NO_TASK;
    if (lane->takes & TG_TAKES(TG_CLASS_AIV))
        task = tg_worker_take(e, lane, TG_CLASS_AIV);
    if (task == TG_NO_TASK && (lane->takes & TG_TAKES(TG_CLASS_AIC)))
        task = tg_worker_take(e, lane, TG_CLASS_AIC);
    if (task == TG_NO_TASK)
        task = tg_gang_try_lead(e, lane);
    return task;
}

/* Something to do may have come while this core was saying that it sleeps. */
TG_FN static bool must_stay_awake(struct tg_engine *e, struct tg_worker *lane)
{
    if (tg_load_seq(&e->phase) != TG_RUNNING || tg_load_seq(&lane->mail) != 0)
        return true;
    if (tg_worker_could_take(e, lane->takes & ~TG_TAKES(TG_CLASS_MIX)))
        return true;
    if (tg_gang_could_lead(e, lane))
        return true;
    return tg_engine_check_over(e, lane);
}

TG_FN static void sleep_unless_needed(struct tg_engine *e, struct tg_worker *lane)
{
    tg_park_say(&lane->park);
    tg_worker_say_asleep(e, lane, lane->takes);
    tg_worker_search_give_up(e, lane->takes);
    if (must_stay_awake(e, lane))
        tg_park_cancel(&lane->park);
    else
        tg_park_sleep(&lane->park, &e->phase);
    tg_worker_say_awake(e, lane, lane->takes);
}

TG_FN static bool is_called(const struct tg_engine *e, const struct tg_worker *lane)
{
    return has_mail(lane) || !tg_engine_running(e);
}

/* Looks at least once, and for a while without giving up the thread. */
TG_FN static uint32_t search(struct tg_engine *e, struct tg_worker *lane)
{
    for (uint32_t round = 0; !is_called(e, lane); round++) {
        uint32_t task = find(e, lane);
        if (task != TG_NO_TASK)
            return task;
        if (round == 0) {
            tg_target_say_idle(lane->status, lane->finished);
            if (tg_engine_check_over(e, lane))
                break;
        }
        if (round < e->spin)
            tg_target_pause();
        else if (round < e->spin + e->yields)
            tg_target_yield();
        else
            break;
    }
    return TG_NO_TASK;
}

/* The next task, or TG_NO_TASK because there is mail or the run is over. A core that was woken
 * leaves through tg_worker_search_leave whatever it found: what it was woken for is passed on. */
TG_FN static uint32_t wait_for_work(struct tg_engine *e, struct tg_worker *lane)
{
    uint32_t task = find_own(lane);
    if (task != TG_NO_TASK || is_called(e, lane))
        return task;
    for (;;) {
        tg_worker_search_begin(e, lane->takes);
        task = search(e, lane);
        if (task != TG_NO_TASK || is_called(e, lane))
            break;
        sleep_unless_needed(e, lane);
    }
    tg_worker_search_leave(e, lane->takes);
    return task;
}

TG_FN void tg_core_loop_self(struct tg_engine *e, struct tg_worker *lane)
{
    uint32_t task = TG_NO_TASK;
    while (tg_engine_running(e)) {
        if (task == TG_NO_TASK)
            task = wait_for_work(e, lane);
        if (has_mail(lane)) {
            /* The mix may have to wait for the others; a task in hand (plain, since a mix comes
             * with the gang's lock) must not. */
            if (task != TG_NO_TASK)
                tg_gang_hand_on(e, lane, task);
            task = tg_gang_serve(e, lane);
            continue;
        }
        if (task == TG_NO_TASK)
            continue;
        if (e->desc[task].task_class == TG_CLASS_MIX) {
            task = tg_gang_lead(e, lane, task);
        } else {
            run_alone(e, lane, task);
            task = tg_worker_complete(e, lane, task, true);
        }
    }
}

/* ── lanes that are served ─────────────────────────────────────────────────────────────── */

TG_FN static bool wait_for_mail(struct tg_engine *e, struct tg_worker *lane)
{
    uint32_t round = 0;
    while (tg_engine_running(e)) {
        if (has_mail(lane))
            return true;
        if (round < e->spin) {
            tg_target_pause();
        } else if (round < e->spin + e->yields) {
            tg_target_yield();
        } else {
            tg_park_say(&lane->park); /* S2, S4: say */
            if (tg_load_seq(&lane->mail) != 0 || tg_load_seq(&e->phase) != TG_RUNNING)
                tg_park_cancel(&lane->park);
            else
                tg_park_sleep(&lane->park, &e->phase);
            round = 0;
            continue;
        }
        round++;
    }
    return false;
}

/* Under a scheduler: run it, empty the slot, and the scheduler sees to the rest. A part that was
 * stopped before it ran leaves the slot full, so that nobody takes it for done. */
TG_FN static void obey(struct tg_engine *e, struct tg_worker *lane)
{
    uint32_t task = tg_load_relaxed(&lane->mail) - 1;
    struct tg_worker *scheduler = &e->worker[e->n_lanes + lane->block % e->n_schedulers];
    if (e->desc[task].task_class != TG_CLASS_MIX)
        run_alone(e, lane, task);
    else if (tg_gang_run_part(e, lane, task) == TG_PART_STOPPED)
        return;
    tg_store_seq(&lane->mail, 0u);  /* S3: say; a release for the kernel's writes */
    tg_park_wake(&scheduler->park); /* S3: check */
}

TG_FN void tg_core_loop_served(struct tg_engine *e, struct tg_worker *lane)
{
    while (wait_for_mail(e, lane)) {
        if (e->n_schedulers > 0) {
            obey(e, lane);
        } else {
            /* A stand-in takes no tasks, so what it makes ready goes to the others; but if it was
             * the last to finish, they may all be asleep. */
            tg_gang_serve(e, lane);
            tg_engine_check_over(e, lane);
        }
    }
}
