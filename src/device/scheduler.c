/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Per lane:   idle ──post──► busy ──lane empties its mail──► done ──reap──► idle
 *             (scheduler)                (lane)               (scheduler)
 *
 * A mix takes its block's lanes one by one as they become idle. Until all its parts are handed out,
 * those lanes get nothing else, so the mix cannot starve.
 */
#include "device/scheduler.h"
#include "device/core.h"
#include "device/mix.h"
#include "device/park.h"
#include "device/target.h"
#include "device/wait.h"
#include "device/worker.h"

/* The scheduler updates its status once in this many rounds in which something moved. */
enum { TELL_EVERY = 64 };

TG_FN static bool is_idle(const struct tg_worker *lane)
{
    return lane->assigned == TG_NO_TASK;
}

TG_FN static bool is_done(const struct tg_worker *lane)
{
    return !is_idle(lane) && tg_load_seq(&lane->mail) == 0; /* S3; acquires the kernel's writes */
}

TG_FN static void assign(struct tg_engine *e, struct tg_worker *lane, uint32_t task)
{
    lane->assigned = task;
    tg_core_post(e, lane, task);
}

/* Handles a lane whose kernel has returned: completes its task if this was the last part. */
TG_FN static void reap(struct tg_engine *e, struct tg_worker *scheduler, struct tg_worker *lane)
{
    struct tg_mix *mix = &e->mix[lane->block];
    uint32_t task = lane->assigned;
    lane->assigned = TG_NO_TASK;
    if (lane->posted) { /* somebody is given the task again when its call is done */
        lane->posted = 0;
        return;
    }
    if (e->desc[task].task_class == TG_CLASS_MIX) {
        mix->unreaped &= ~(1u << lane->part);
        if (mix->unreaped != 0)
            return;
        mix->lock = 0;
    }
    if (e->bag)
        tg_bag_complete(e, scheduler, task);
    else
        tg_worker_complete(e, scheduler, task, false);
}

/* Gives parts of the block's mix to the lanes that are free. */
TG_FN static bool hand_out_mix(struct tg_engine *e, uint32_t block)
{
    struct tg_mix *mix = &e->mix[block];
    uint32_t before = mix->wanted;
    for (uint32_t part = 0; part < TG_PARTS; part++) {
        struct tg_worker *lane = &e->worker[TG_PARTS * block + part];
        if ((mix->wanted & (1u << part)) && is_idle(lane)) {
            mix->wanted &= ~(1u << part);
            assign(e, lane, mix->task);
        }
    }
    return mix->wanted != before;
}

/* Only the block's own scheduler uses the mix, so the lock is a plain flag here. */
TG_FN static bool start_mix(struct tg_engine *e, struct tg_worker *scheduler, uint32_t block)
{
    struct tg_mix *mix = &e->mix[block];
    uint32_t task;
    if (mix->lock || !tg_queue_occupied(&e->queue[TG_CLASS_MIX]))
        return false;
    task = tg_worker_take(e, scheduler, TG_CLASS_MIX, false);
    if (task == TG_NO_TASK)
        return false;
    mix->lock = 1;
    tg_mix_assemble(e, mix, task);
    return true;
}

TG_FN static bool feed(struct tg_engine *e, struct tg_worker *scheduler, struct tg_worker *lane)
{
    for (uint32_t c = 0; c < TG_CLASS_MIX; c++) {
        uint32_t task;
        if (!(lane->takes & TG_TAKES(c)))
            continue;
        task = tg_worker_take(e, scheduler, c, true);
        if (task != TG_NO_TASK) {
            assign(e, lane, task);
            return true;
        }
    }
    return false;
}

TG_FN static bool may_feed(const struct tg_engine *e, const struct tg_worker *lane)
{
    return is_idle(lane) && !(e->mix[lane->block].wanted & (1u << lane->part));
}

/* The classes that this block could be given right now. */
TG_FN static uint32_t classes_of(const struct tg_engine *e, uint32_t block)
{
    uint32_t classes = e->mix[block].lock ? 0 : TG_TAKES(TG_CLASS_MIX);
    for (uint32_t part = 0; part < TG_PARTS; part++) {
        const struct tg_worker *lane = &e->worker[TG_PARTS * block + part];
        if (may_feed(e, lane))
            classes |= lane->takes & ~TG_TAKES(TG_CLASS_MIX);
    }
    return classes;
}

/* Gives a task of the bag to its block. It is of a class of classes_of, so there is a lane for it. */
TG_FN static void place(struct tg_engine *e, uint32_t block, uint32_t task)
{
    uint32_t task_class = e->desc[task].task_class;
    if (task_class == TG_CLASS_MIX) {
        e->mix[block].lock = 1;
        tg_mix_assemble(e, &e->mix[block], task);
        hand_out_mix(e, block);
        return;
    }
    for (uint32_t part = 0; part < TG_PARTS; part++) {
        struct tg_worker *lane = &e->worker[TG_PARTS * block + part];
        if ((lane->takes & TG_TAKES(task_class)) && may_feed(e, lane)) {
            assign(e, lane, task);
            return;
        }
    }
}

/* Feeds the lanes of a block if the run has a schedule. */
TG_FN static bool feed_from_bag(struct tg_engine *e, uint32_t block)
{
    bool moved = hand_out_mix(e, block);
    while (tg_bag_sees(e->bag)) {
        uint32_t classes = classes_of(e, block);
        uint32_t task = classes ? tg_bag_take(e, classes, 0) : TG_NO_TASK;
        if (task == TG_NO_TASK)
            break;
        place(e, block, task);
        moved = true;
    }
    return moved;
}

/* Looks once at every lane of one block. Returns true if anything moved. */
TG_FN static bool tend_block(struct tg_engine *e, struct tg_worker *scheduler, uint32_t block)
{
    struct tg_worker *lanes = e->worker + (uint64_t)TG_PARTS * block;
    bool moved = false;
    for (uint32_t part = 0; part < TG_PARTS; part++) {
        if (is_done(&lanes[part])) {
            reap(e, scheduler, &lanes[part]);
            moved = true;
        }
    }
    if (e->bag)
        return feed_from_bag(e, block) || moved;
    moved |= start_mix(e, scheduler, block);
    moved |= hand_out_mix(e, block);
    for (uint32_t part = 0; part < TG_PARTS; part++)
        if (may_feed(e, &lanes[part]))
            moved |= feed(e, scheduler, &lanes[part]);
    return moved;
}

/* The first block of this scheduler; the next ones follow n_schedulers apart. */
TG_FN static uint32_t first_block(const struct tg_engine *e, const struct tg_worker *scheduler)
{
    return scheduler->index - e->n_lanes;
}

TG_FN static bool tend_all(struct tg_engine *e, struct tg_worker *scheduler)
{
    bool moved = false;
    for (uint32_t b = first_block(e, scheduler); b < e->n_blocks; b += e->n_schedulers)
        moved |= tend_block(e, scheduler, b);
    return moved;
}

/* The classes that this scheduler could place right now. */
TG_FN static uint32_t wanted_classes(const struct tg_engine *e, const struct tg_worker *scheduler)
{
    uint32_t classes = 0;
    for (uint32_t b = first_block(e, scheduler); b < e->n_blocks; b += e->n_schedulers)
        classes |= classes_of(e, b);
    return classes;
}

TG_FN static bool any_done(const struct tg_engine *e, const struct tg_worker *scheduler)
{
    for (uint32_t b = first_block(e, scheduler); b < e->n_blocks; b += e->n_schedulers)
        for (uint32_t part = 0; part < TG_PARTS; part++)
            if (is_done(&e->worker[TG_PARTS * b + part]))
                return true;
    return false;
}

/* For a target whose sleepers look for work themselves: true if a lane has finished or there is a
 * task to hand out. Looking at other workers' deques costs more, so it is done once in TG_NAPS
 * naps. */
TG_FN static bool sees_something(struct tg_engine *e, struct tg_worker *scheduler, uint32_t classes,
                                 uint32_t nap)
{
    return !tg_engine_running(e) || any_done(e, scheduler) || (e->bag && tg_bag_sees(e->bag)) ||
           tg_worker_sees(e, classes) ||
           (nap % TG_NAPS == 0 && tg_worker_sees_loot(e, scheduler, classes));
}

TG_FN static void sleep_unless_needed(struct tg_engine *e, struct tg_worker *scheduler)
{
    uint32_t classes = wanted_classes(e, scheduler), nap = 0;
    tg_park_say(&scheduler->park); /* S1, S3, S4: say */
    tg_worker_say_asleep(e, scheduler, classes);
    if (tg_load_seq(&e->phase) != TG_RUNNING || any_done(e, scheduler) ||
        (e->bag ? tg_bag_could_take(e, classes, 0) : tg_worker_could_take(e, classes)) ||
        tg_engine_check_over(e, scheduler))
        tg_park_cancel(&scheduler->park);
    else
        do
            tg_park_sleep(&scheduler->park);
        while (TG_TARGET_SLEEPERS_LOOK && !sees_something(e, scheduler, classes, ++nap));
    tg_park_cancel(&scheduler->park);
    tg_worker_say_awake(e, scheduler, classes);
}

TG_FN void tg_scheduler_loop(struct tg_engine *e, struct tg_worker *scheduler)
{
    uint32_t round = 0, busy = 0;
    while (tg_engine_running(e)) {
        if (tend_all(e, scheduler)) {
            tg_worker_pass_on_own(e, scheduler);
            round = 0;
            /* The host reports a hang if no worker's status changes for long. */
            if (++busy % TELL_EVERY == 0)
                tg_target_say_idle(scheduler->status, scheduler->finished);
            continue;
        }
        if (round == 0) {
            tg_target_say_idle(scheduler->status, scheduler->finished);
            if (tg_engine_check_over(e, scheduler))
                break;
        }
        if (!tg_wait_round(&e->patience, &round)) {
            sleep_unless_needed(e, scheduler);
            round = 0;
        }
    }
}
