/* SPDX-License-Identifier: Apache-2.0 */
#include "device/core.h"
#include "device/mix.h"
#include "device/park.h"
#include "device/recorder.h"
#include "device/worker.h"

TG_FN static inline void fill_in(struct tg_ctx *ctx, struct tg_engine *e, struct tg_worker *lane,
                                 const struct tg_task_desc *desc, uint32_t part)
{
    const char *args = e->payload + desc->args;
    ctx->tensor = (const struct tg_tensor *)args;
    ctx->scalar = (const struct tg_scalar *)(args + desc->n_tensors * sizeof(struct tg_tensor));
    ctx->n_tensors = desc->n_tensors;
    ctx->n_scalars = desc->n_scalars;
    ctx->part = part;
    ctx->parts = desc->n_parts;
    ctx->core = lane->index;
    ctx->reserved = 0;
    ctx->mix_barrier = tg_mix_meet;
    ctx->engine = e;
}

TG_FN static inline void describe(struct tg_worker_status *now, uint64_t finished,
                                  const struct tg_task_desc *desc, uint32_t task, uint32_t part)
{
    now->running = (uint64_t)task + 1;
    now->finished = finished;
    now->part = part;
    now->kernel = desc->kernel[part];
    now->task_id = desc->id;
}

TG_FN void tg_core_call(struct tg_engine *e, struct tg_worker *lane, uint32_t task, uint32_t part)
{
    const struct tg_task_desc *desc = &e->desc[task];
    struct tg_ctx ctx;
    fill_in(&ctx, e, lane, desc, part);
    tg_target_call(e->kernel[desc->kernel[part]], &ctx);
}

TG_FN void tg_core_say_running(struct tg_engine *e, struct tg_worker *lane, uint32_t task,
                               uint32_t part)
{
    struct tg_worker_status now;
    describe(&now, lane->finished, &e->desc[task], task, part);
    tg_target_say_running(lane->status, &now);
}

TG_FN static inline uint32_t part_of(uint32_t task_class)
{
    return task_class == TG_CLASS_AIC ? TG_PART_AIC : TG_PART_AIV0;
}

/* A task of one kernel. */
TG_FN static void run_alone(struct tg_engine *e, struct tg_worker *lane, uint32_t task)
{
    uint32_t part = part_of(e->desc[task].task_class);
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

/* Whoever takes the mail acquires what came with it. */
TG_FN static bool has_mail(const struct tg_worker *lane)
{
    return tg_load_relaxed(&lane->mail) != 0;
}

TG_FN static uint32_t find_own(struct tg_worker *lane)
{
    uint32_t task = TG_NO_TASK;
    if (lane->takes & TG_TAKES(TG_CLASS_AIV))
        task = tg_deque_pop(&lane->deque[TG_CLASS_AIV]);
    if (task == TG_NO_TASK && (lane->takes & TG_TAKES(TG_CLASS_AIC)))
        task = tg_deque_pop(&lane->deque[TG_CLASS_AIC]);
    return task;
}

/* Any ready task this core may run. A mix comes with the block's mix lock held. */
TG_FN static uint32_t find(struct tg_engine *e, struct tg_worker *lane, bool steals)
{
    uint32_t task = TG_NO_TASK;
    if (lane->takes & TG_TAKES(TG_CLASS_AIV))
        task = tg_worker_take(e, lane, TG_CLASS_AIV, steals);
    if (task == TG_NO_TASK && (lane->takes & TG_TAKES(TG_CLASS_AIC)))
        task = tg_worker_take(e, lane, TG_CLASS_AIC, steals);
    if (task == TG_NO_TASK)
        task = tg_mix_try_lead(e, lane);
    return task;
}

/* Something to do may have come while this core was saying that it sleeps. */
TG_FN static bool must_stay_awake(struct tg_engine *e, struct tg_worker *lane)
{
    if (tg_load_seq(&e->phase) != TG_RUNNING || tg_load_seq(&lane->mail) != 0)
        return true;
    if (tg_worker_could_take(e, lane->takes & ~TG_TAKES(TG_CLASS_MIX)))
        return true;
    if (tg_mix_could_lead(e, lane))
        return true;
    return tg_engine_check_over(e, lane);
}

/* Where nobody wakes us: has something happened that we would be woken for? */
TG_FN static bool sees_something(const struct tg_engine *e, const struct tg_worker *lane)
{
    return has_mail(lane) || !tg_engine_running(e) || tg_worker_sees(e, lane->takes);
}

TG_FN static void sleep_unless_needed(struct tg_engine *e, struct tg_worker *lane)
{
    tg_park_say(&lane->park);
    if (TG_TARGET_SLEEPERS_LOOK) {
        for (uint32_t nap = 1; !sees_something(e, lane); nap++) {
            tg_park_sleep(&lane->park);
            if (nap % TG_NAPS == 0 && tg_worker_sees_loot(e, lane->takes))
                break;
        }
        tg_park_cancel(&lane->park);
        return;
    }
    tg_worker_say_asleep(e, lane, lane->takes);
    tg_worker_search_give_up(e, lane->takes);
    if (must_stay_awake(e, lane))
        tg_park_cancel(&lane->park);
    else
        tg_park_sleep(&lane->park);
    tg_worker_say_awake(e, lane, lane->takes);
}

/* Both are looked at, whatever the first one says: on a GPU it is the wait that costs. */
TG_FN static bool is_called(const struct tg_engine *e, const struct tg_worker *lane)
{
    bool mail = has_mail(lane), running = tg_engine_running(e);
    return mail | !running;
}

/* Looks at least once, and for a while without giving up the thread. */
TG_FN static uint32_t search(struct tg_engine *e, struct tg_worker *lane)
{
    for (uint32_t round = 0; !is_called(e, lane); round++) {
        uint32_t task = find(e, lane, (round + 1) % e->steal_every == 0);
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

#if TG_TARGET_OVERLAPS

/* How often a chain looks whether it is wanted elsewhere, and how far it sends for descriptors. */
enum { CALLS = 16, FAR_AHEAD = 8 };

/* Can what comes after a task be got ready while the task runs? Only if it is known who that is,
 * and nobody wants to look at the arguments in between. */
TG_FN static bool can_overlap(const struct tg_engine *e)
{
    return e->edges == TG_EDGES_FIXED && !tg_record_is_on(e);
}

/* What a chain needs of engine and lane, at hand. */
struct chain {
    struct tg_engine *e;
    struct tg_worker *lane;
    const struct tg_task_desc *desc;
    const tg_kernel_fn *kernel;
    uint64_t finished;
    uint32_t takes;
    uint32_t order; /* number of the next */
};

TG_FN static inline void start(struct chain *c, const struct tg_task_desc *desc, uint32_t task)
{
    uint32_t part = part_of(desc->task_class);
    struct tg_target_order *order = &tg_orders()->call[c->order % 2];
    fill_in(&order->ctx, c->e, c->lane, desc, part);
    order->kernel = c->kernel[desc->kernel[part]];
    describe(&order->now, c->finished, desc, task, part);
    order->status = c->lane->status;
    tg_order_give(c->order++, TG_ORDER_CALL_NEXT);
}

/* May the task follow the one before on this core, without anybody else having a say in it? */
TG_FN static inline bool follows(const struct chain *c, const struct tg_task_desc *before,
                                 const struct tg_task_desc *desc)
{
    return before->n_succ == 1 && desc->fanin == 1 && desc->task_class != TG_CLASS_MIX &&
           (c->takes & TG_TAKES(desc->task_class));
}

/*
 * Runs the task and, as long as each has one successor that waits for it alone, those after it: the
 * next is started behind the one that runs, and the descriptor after that is already on its way.
 * Gives the last one, which is still to be completed.
 */
TG_FN static uint32_t run_chain(struct tg_engine *e, struct tg_worker *lane, uint32_t task)
{
    struct chain c;
    struct tg_task_desc desc, ahead;
    c.e = e;
    c.lane = lane;
    c.desc = e->desc;
    c.kernel = e->kernel;
    c.finished = lane->finished;
    c.takes = lane->takes;
    c.order = tg_orders()->given;
    desc = c.desc[task];
    ahead = c.desc[desc.n_succ == 1 ? desc.next : task];
    start(&c, &desc, task);
    for (uint32_t n = 1; follows(&c, &desc, &ahead); n++) {
        uint32_t next = desc.next, later = ahead.n_succ == 1 ? ahead.next : next;
        struct tg_task_desc after = c.desc[later];
        tg_target_prefetch(&c.desc[later + FAR_AHEAD]); /* tasks tend to follow in order */
        if (n % CALLS == 0 && is_called(e, lane))
            break;
        c.finished++;
        start(&c, &ahead, next);
        tg_order_wait(c.order - 2);
        task = next;
        desc = ahead;
        ahead = after;
    }
    tg_order_wait(c.order - 1);
    tg_orders()->given = c.order;
    tg_store_relaxed(&lane->finished, c.finished);
    return task;
}

#else

TG_FN static bool can_overlap(const struct tg_engine *e)
{
    (void)e;
    return false;
}

TG_FN static uint32_t run_chain(struct tg_engine *e, struct tg_worker *lane, uint32_t task)
{
    (void)e;
    (void)lane;
    return task;
}

#endif

TG_FN void tg_core_loop_self(struct tg_engine *e, struct tg_worker *lane)
{
    uint32_t task = TG_NO_TASK;
    while (tg_engine_running(e)) {
        if (task == TG_NO_TASK)
            task = wait_for_work(e, lane);
        if (has_mail(lane)) {
            /* The mix may have to wait for the others; a task in hand (plain, since a mix comes
             * with the mix's lock) must not. */
            if (task != TG_NO_TASK)
                tg_mix_hand_on(e, lane, task);
            task = tg_mix_serve(e, lane);
            continue;
        }
        if (task == TG_NO_TASK)
            continue;
        if (e->desc[task].task_class == TG_CLASS_MIX) {
            task = tg_mix_lead(e, lane, task);
        } else {
            if (can_overlap(e))
                task = run_chain(e, lane, task);
            else
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
        if (round == 0)
            tg_target_say_idle(lane->status, lane->finished);
        if (round < e->spin) {
            tg_target_pause();
        } else if (round < e->spin + e->yields) {
            tg_target_yield();
        } else {
            tg_park_say(&lane->park); /* S2, S4: say */
            if (tg_load_seq(&lane->mail) == 0 && tg_load_seq(&e->phase) == TG_RUNNING) {
                do
                    tg_park_sleep(&lane->park);
                while (TG_TARGET_SLEEPERS_LOOK && !has_mail(lane) && tg_engine_running(e));
            }
            tg_park_cancel(&lane->park);
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
    uint32_t task = tg_load_acquire(&lane->mail) - 1;
    struct tg_worker *scheduler = &e->worker[e->n_lanes + lane->block % e->n_schedulers];
    if (e->desc[task].task_class != TG_CLASS_MIX)
        run_alone(e, lane, task);
    else if (tg_mix_run_part(e, lane, task) == TG_PART_STOPPED)
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
            tg_mix_serve(e, lane);
            tg_engine_check_over(e, lane);
        }
    }
}
