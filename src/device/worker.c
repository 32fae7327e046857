/* SPDX-License-Identifier: Apache-2.0 */
#include "device/worker.h"
#include "device/heir.h"
#include "device/park.h"
#include "device/role.h"
#include "device/target.h"
#include "device/walk.h"

TG_FN bool tg_worker_sees_loot(struct tg_engine *e, struct tg_worker *w, uint32_t classes)
{
    return tg_target_walk(e, w, TG_WALK_LOOT, classes, 0, 0) != 0;
}

/* Takes tasks from the device's queue. */
TG_FN static inline uint32_t pop(struct tg_engine *e, struct tg_worker *w, uint32_t task_class)
{
    uint32_t at, left;
    uint32_t count =
        tg_queue_claim(&e->queue[task_class], e->n_takers[task_class], e->batch, &at, &left);
    if (TG_TARGET_LINES_UP && count > 0)
        TG_TARGET_SET_NEAR(w, claims, left == 0 && count == 1);
    return count > 0 ? tg_target_walk(e, w, TG_WALK_FETCH, task_class, at, count) : TG_NO_TASK;
}

/* Takes half of another worker's tasks. */
TG_FN static inline uint32_t take_half(struct tg_engine *e, struct tg_worker *w,
                                       uint32_t task_class)
{
    uint32_t task = tg_target_walk(e, w, TG_WALK_STEAL, task_class, 0, 0);
    if (TG_TARGET_LINES_UP && task != TG_NO_TASK)
        TG_TARGET_SET_NEAR(w, claims, 0);
    return task;
}

TG_FN uint32_t tg_worker_take(struct tg_engine *e, struct tg_worker *w, uint32_t task_class,
                              bool steals)
{
    uint32_t task;
    if (task_class == TG_CLASS_MIX)
        return tg_queue_pop(&e->queue[task_class], 1, 1, 0);
    task = tg_deque_pop(&w->deque[task_class]);
    if (task == TG_NO_TASK)
        task = pop(e, w, task_class);
    if (task == TG_NO_TASK && steals)
        task = take_half(e, w, task_class);
    return task;
}

TG_FN bool tg_worker_could_take(struct tg_engine *e, uint32_t classes)
{
    for (uint32_t c = 0; c < TG_CLASSES; c++) {
        if (!(classes & TG_TAKES(c)))
            continue;
        if (tg_queue_occupied(&e->queue[c]))
            return true;
        for (uint32_t i = 0; c != TG_CLASS_MIX && i < e->n_workers; i++)
            if (tg_deque_occupied(&e->worker[i].deque[c]))
                return true;
    }
    return false;
}

TG_FN void tg_worker_share(struct tg_engine *e, uint32_t task, uint32_t task_class)
{
    if (e->bag)
        tg_bag_add(e, &task, 1);
    else
        tg_queue_push(&e->queue[task_class], task);
}

/* Not inlined, so that the compiler still inlines those who call it once in a while. */
TG_FN TG_APART void tg_worker_share_all(struct tg_engine *e, const uint32_t *task, uint32_t n,
                                        uint32_t task_class)
{
    uint32_t lanes = tg_target_lanes();
    if (!TG_TARGET_NEAR(e, bag))
        tg_queue_push_all(&e->queue[task_class], task, n);
    else if (tg_target_lane(lanes) == 0)
        tg_bag_add(e, task, n);
}

TG_FN void tg_worker_offer(struct tg_engine *e, struct tg_worker *w, uint32_t task,
                           uint32_t task_class)
{
    if (task_class == TG_CLASS_MIX || e->shares || !(w->takes & TG_TAKES(task_class)) ||
        !tg_deque_push(&w->deque[task_class], task))
        tg_worker_share(e, task, task_class);
}

/* True if this sleeper could run a task of the class. A core cannot lead a mix while its block's
 * mix is busy; the lane that unlocks the mix wakes a sleeper then (S1). A scheduler sleeps only for
 * classes that it can place. */
TG_FN static bool is_of_use(struct tg_engine *e, const struct tg_worker *w, uint32_t task_class)
{
    return task_class != TG_CLASS_MIX || e->n_schedulers > 0 ||
           tg_load_seq(&e->mix[w->block].lock) == 0;
}

/* The worker that wakes looks everywhere, and wakes another for the work that it leaves. */
TG_FN void tg_worker_wake_sleeper(struct tg_engine *e, uint32_t task_class)
{
    for (uint32_t word = 0; word < e->n_sleep_words; word++) {
        uint64_t *sleepers = &e->sleepers[task_class][word];
        uint64_t asleep = tg_load_seq(sleepers);
        for (; asleep != 0; asleep &= asleep - 1) {
            uint32_t bit = tg_target_lowest_bit(asleep);
            uint64_t mask = (uint64_t)1 << bit;
            struct tg_worker *w = &e->worker[64 * word + bit];
            /* The bit may be left over, or another thread may take it at the same time. */
            if (is_of_use(e, w, task_class) && (tg_and_seq(sleepers, ~mask) & mask) &&
                tg_role_wake(e, w))
                return;
        }
    }
}

TG_FN static bool anyone_sleeps(struct tg_engine *e, uint32_t task_class)
{
    for (uint32_t word = 0; word < e->n_sleep_words; word++)
        if (tg_load_seq(&e->sleepers[task_class][word]) != 0)
            return true;
    return false;
}

TG_FN bool tg_worker_any_sleeps(struct tg_engine *e)
{
    for (uint32_t c = 0; c < TG_CLASSES; c++)
        if (anyone_sleeps(e, c))
            return true;
    return false;
}

/* Also checks the mail: a worker that has said that it sleeps may still find mail. */
TG_FN static bool all_asleep(const struct tg_engine *e)
{
    for (uint32_t i = 0; i < e->n_lanes + e->n_schedulers; i++) {
        const struct tg_worker *w = &e->worker[i];
        if ((!tg_role_sleeps(w) && !tg_worker_waits_in_line(e, w)) || tg_load_seq(&w->mail) != 0)
            return false;
    }
    return true;
}

TG_FN static uint64_t finished(const struct tg_engine *e)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < e->n_workers; i++)
        sum += tg_load_acquire(&e->worker[i].finished);
    return sum;
}

/* It looks twice, so that no worker woke, took the last task and slept again in between: then it has
 * finished that, or posted it. A call that the host has not done yet will be ready again. */
TG_FN bool tg_worker_all_still(struct tg_engine *e)
{
    uint64_t before = finished(e);
    uint32_t posted = tg_load_seq(&e->posted);   /* C2 */
    return tg_load_seq(&e->arrived) == posted && /* C2 */
           all_asleep(e) && !tg_worker_could_take(e, (1u << TG_CLASSES) - 1) && all_asleep(e) &&
           finished(e) == before && tg_load_seq(&e->posted) == posted; /* C2 */
}

/* S1: say. The push itself was only a release. */
TG_FN static void say_tail(struct tg_worker *w, uint32_t task_class)
{
    tg_store_seq(&w->deque[task_class].tail, tg_load_relaxed(&w->deque[task_class].tail));
}

TG_FN void tg_worker_announce(struct tg_engine *e, struct tg_worker *w, uint32_t classes)
{
    if (TG_TARGET_SLEEPERS_LOOK)
        return;
    for (uint32_t c = 0; c < TG_CLASSES; c++) {
        if (!(classes & TG_TAKES(c)))
            continue;
        if (e->n_takers[c] == 1 && (w->takes & TG_TAKES(c)))
            continue; /* no other worker could take it */
        if (c != TG_CLASS_MIX)
            say_tail(w, c);
        if (tg_load_seq(&e->searching[c]) == 0)
            tg_worker_wake_sleeper(e, c); /* S1: check */
    }
}

TG_FN void tg_worker_pass_on(struct tg_engine *e, uint32_t classes)
{
    if (TG_TARGET_SLEEPERS_LOOK)
        return;
    for (uint32_t c = 0; c < TG_CLASSES; c++)
        if ((classes & TG_TAKES(c)) && anyone_sleeps(e, c) && tg_worker_could_take(e, TG_TAKES(c)))
            tg_worker_wake_sleeper(e, c); /* S1: check */
}

TG_FN void tg_worker_pass_on_own(struct tg_engine *e, struct tg_worker *w)
{
    if (e->n_schedulers == 1 || TG_TARGET_SLEEPERS_LOOK)
        return;
    for (uint32_t c = 0; c < TG_CLASS_MIX; c++)
        say_tail(w, c);
    tg_worker_pass_on(e, (1u << TG_CLASSES) - 1);
}

TG_FN void tg_worker_say_asleep(struct tg_engine *e, const struct tg_worker *w, uint32_t classes)
{
    uint64_t mask = (uint64_t)1 << (w->index % 64);
    for (uint32_t c = 0; c < TG_CLASSES; c++) {
        uint64_t *sleepers = &e->sleepers[c][w->index / 64];
        if (!(classes & TG_TAKES(c)))
            continue;
        if (!TG_TARGET_MOVES_ROLES || !(tg_load_seq(sleepers) & mask))
            tg_or_seq(sleepers, mask); /* S1: say */
    }
}

TG_FN void tg_worker_say_awake(struct tg_engine *e, const struct tg_worker *w, uint32_t classes)
{
    for (uint32_t c = 0; c < TG_CLASSES; c++)
        if (classes & TG_TAKES(c))
            tg_and_seq(&e->sleepers[c][w->index / 64], ~((uint64_t)1 << (w->index % 64)));
}

TG_FN void tg_worker_search_begin(struct tg_engine *e, uint32_t classes)
{
    if (TG_TARGET_SLEEPERS_LOOK)
        return;
    for (uint32_t c = 0; c < TG_CLASS_MIX; c++)
        if (classes & TG_TAKES(c))
            tg_add_seq(&e->searching[c], 1u);
}

/* A searcher moves tasks before it leaves the count, so the last searcher sees all of them. */
TG_FN void tg_worker_search_leave(struct tg_engine *e, uint32_t classes)
{
    uint32_t left = classes & TG_TAKES(TG_CLASS_MIX);
    if (TG_TARGET_SLEEPERS_LOOK)
        return;
    for (uint32_t c = 0; c < TG_CLASS_MIX; c++)
        if ((classes & TG_TAKES(c)) && tg_sub_seq(&e->searching[c], 1u) == 1)
            left |= TG_TAKES(c);
    tg_worker_pass_on(e, left);
}

TG_FN void tg_worker_search_give_up(struct tg_engine *e, uint32_t classes)
{
    for (uint32_t c = 0; c < TG_CLASS_MIX; c++)
        if (classes & TG_TAKES(c))
            tg_sub_seq(&e->searching[c], 1u);
}

TG_FN void tg_worker_wake_orchestrator(struct tg_engine *e)
{
    tg_park_wake(&e->worker[tg_engine_orchestrator(e)].park);
}

TG_FN uint32_t tg_worker_complete(struct tg_engine *e, struct tg_worker *w, uint32_t task,
                                  bool keep)
{
    uint32_t may = keep && TG_TARGET_NEAR(w, claims) ? TG_KEEP_OR_CLAIM : keep;
    uint32_t next = tg_target_walk(e, w, TG_WALK_RELEASE, task, TG_TARGET_LINES_UP ? may : keep, 0);
    /* Last, so that "all finished" implies that no task is still being handed on. */
    tg_store_relaxed(&w->finished, w->finished + 1);
    tg_target_say_finished(w->status, w->finished);
    if (tg_heir_is_claimed(next))
        next = tg_heir_wait(e, w, next & ~TG_HEIR_CLAIMED);
    if (TG_TARGET_MOVES_ROLES && w->onward)
        tg_role_move(e, w);
    return next;
}
