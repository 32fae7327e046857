/* SPDX-License-Identifier: Apache-2.0 */
#include "device/bag.h"
#include "device/bag_order.h"
#include "device/core.h"
#include "device/engine.h"
#include "device/mix.h"
#include "device/park.h"
#include "device/target.h"
#include "device/wait.h"
#include "device/worker.h"

TG_FN static void lock(struct tg_bag *bag)
{
    uint32_t unlocked = 0;
    while (!tg_cas_acq_rel(&bag->lock, &unlocked, 1u)) { /* B1 */
        unlocked = 0;
        tg_wait_moment(); /* the holder does a few steps and waits for nothing */
    }
}

TG_FN static void unlock(struct tg_bag *bag)
{
    tg_store_release(&bag->lock, 0u); /* B1 */
}

/* ── the heaps ─────────────────────────────────────────────────────────────────────────── */

TG_FN static uint64_t order_of(const struct tg_bag *bag, uint32_t task)
{
    return bag->note ? bag->note[task].order : task;
}

TG_FN static uint64_t key_of(const struct tg_engine *e, uint64_t task)
{
    const struct tg_bag *bag = e->bag;
    return tg_order_key(bag->setup->policy, bag->setup->seed, bag->serial, e->desc[task].id,
                        order_of(bag, (uint32_t)task));
}

TG_FN static void count_ready(struct tg_bag *bag, uint32_t task_class, int32_t more)
{
    bag->n[task_class] += (uint32_t)more;
    tg_store_relaxed(&bag->n_ready, bag->n_ready + (uint32_t)more); /* B2 */
}

TG_FN static void sift_up(const struct tg_engine *e, uint64_t *heap, uint32_t at)
{
    uint64_t task = heap[at], key = key_of(e, task);
    while (at > 0) {
        uint32_t parent = (at - 1) / 2;
        if (key_of(e, heap[parent]) <= key)
            break;
        heap[at] = heap[parent];
        at = parent;
    }
    heap[at] = task;
}

TG_FN static void sift_down(const struct tg_engine *e, uint64_t *heap, uint32_t n, uint32_t at)
{
    uint64_t task = heap[at], key = key_of(e, task);
    for (;;) {
        uint64_t child = 2 * (uint64_t)at + 1;
        if (child >= n)
            break;
        if (child + 1 < n && key_of(e, heap[child + 1]) < key_of(e, heap[child]))
            child++;
        if (key <= key_of(e, heap[child]))
            break;
        heap[at] = heap[child];
        at = (uint32_t)child;
    }
    heap[at] = task;
}

TG_FN static void push(struct tg_engine *e, uint32_t task)
{
    struct tg_bag *bag = e->bag;
    uint32_t task_class = e->desc[task].task_class, at = bag->n[task_class];
    bag->heap[task_class][at] = task;
    count_ready(bag, task_class, 1);
    sift_up(e, bag->heap[task_class], at);
}

TG_FN static uint32_t take_out(struct tg_engine *e, uint32_t task_class, uint32_t at)
{
    struct tg_bag *bag = e->bag;
    uint64_t *heap = bag->heap[task_class];
    uint32_t task = (uint32_t)heap[at], last;
    count_ready(bag, task_class, -1);
    last = bag->n[task_class];
    if (at < last) {
        heap[at] = heap[last];
        sift_down(e, heap, last, at);
    }
    return task;
}

/* ── pairs ─────────────────────────────────────────────────────────────────────────────── */

/* The first pair whose `after` is not less than the id. */
TG_FN static uint32_t first_after(const struct tg_bag *bag, uint64_t id)
{
    uint32_t low = 0, high = bag->setup->n_pairs;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (bag->pair[middle].after < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The same for `before`, in by_before. */
TG_FN static uint32_t first_before(const struct tg_bag *bag, uint64_t id)
{
    uint32_t low = 0, high = bag->setup->n_pairs;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (bag->pair[bag->by_before[middle]].before < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* True if a task must still complete before this one. `at` is its first pair. */
TG_FN static bool must_wait(const struct tg_bag *bag, uint32_t at, uint64_t id)
{
    for (; at < bag->setup->n_pairs && bag->pair[at].after == id; at++)
        if (bag->pair[at].state == TG_PAIR_OPEN)
            return true;
    return false;
}

/* Adds a ready task, or holds it back. */
TG_FN static void add(struct tg_engine *e, uint32_t task)
{
    struct tg_bag *bag = e->bag;
    if (bag->setup->n_pairs > 0) {
        uint64_t id = e->desc[task].id;
        uint32_t at = first_after(bag, id);
        if (must_wait(bag, at, id)) {
            bag->pair[at].held = task + 1;
            bag->pair[at].place = bag->n_held;
            bag->held[bag->n_held++] = at;
            return;
        }
    }
    push(e, task);
}

/* Makes a task ready that was held back; `at` is its first pair. */
TG_FN static void let_go(struct tg_engine *e, uint32_t at)
{
    struct tg_bag *bag = e->bag;
    struct tg_order_pair *first = &bag->pair[at];
    uint32_t task = first->held - 1, last = bag->held[--bag->n_held];
    bag->held[first->place] = last;
    bag->pair[last].place = first->place;
    first->held = 0;
    push(e, task);
}

/* The task with the id has completed. */
TG_FN static void meet_pairs(struct tg_engine *e, uint64_t id)
{
    struct tg_bag *bag = e->bag;
    for (uint32_t i = first_before(bag, id); i < bag->setup->n_pairs; i++) {
        struct tg_order_pair *pair = &bag->pair[bag->by_before[i]];
        uint32_t first;
        if (pair->before != id)
            break;
        if (pair->state != TG_PAIR_OPEN)
            continue;
        pair->state = TG_PAIR_MET;
        first = first_after(bag, pair->after);
        if (bag->pair[first].held && !must_wait(bag, first, pair->after))
            let_go(e, first);
    }
}

/* True if only the end of a task could let the orchestrator go on, or nothing could. */
TG_FN static bool orchestrator_rests(const struct tg_engine *e)
{
    const struct tg_bag *bag = e->bag;
    return bag->orchestrator == TG_BAG_ENDED ||
           (bag->orchestrator == TG_BAG_WAITS &&
            tg_load_acquire(&e->desc[bag->awaited].succ) != TG_DEP_CLOSED); /* E1 */
}

/* If nothing else can go on, lets go of the task that is held back and was submitted first. */
TG_FN static void break_pairs(struct tg_engine *e)
{
    struct tg_bag *bag = e->bag;
    uint32_t best = 0, first;
    uint64_t id;
    if (bag->n_held == 0 || bag->n_ready > 0 || bag->running > 0 || !orchestrator_rests(e))
        return;
    for (uint32_t i = 1; i < bag->n_held; i++)
        if (order_of(bag, bag->pair[bag->held[i]].held - 1) <
            order_of(bag, bag->pair[bag->held[best]].held - 1))
            best = i;
    first = bag->held[best];
    id = bag->pair[first].after;
    for (uint32_t at = first; at < bag->setup->n_pairs && bag->pair[at].after == id; at++)
        if (bag->pair[at].state == TG_PAIR_OPEN) {
            bag->pair[at].state = TG_PAIR_BROKEN;
            bag->setup->broken++;
        }
    let_go(e, first);
}

/* ── giving out ────────────────────────────────────────────────────────────────────────── */

TG_FN static bool is_open(const struct tg_engine *e)
{
    const struct tg_bag *bag = e->bag;
    return !bag->serial || (bag->running == 0 && orchestrator_rests(e));
}

/* Those of the classes that have a task which may be given out now. */
TG_FN static uint32_t available(const struct tg_engine *e, uint32_t classes,
                                const struct tg_mix *mix)
{
    const struct tg_bag *bag = e->bag;
    if (bag->n_ready == 0 || !is_open(e))
        return 0;
    for (uint32_t c = 0; c < TG_CLASSES; c++)
        if (bag->n[c] == 0)
            classes &= ~TG_TAKES(c);
    if (mix && tg_load_seq(&mix->lock) != 0)
        classes &= ~TG_TAKES(TG_CLASS_MIX);
    return classes;
}

/* Any of the tasks of these classes. */
TG_FN static uint32_t draw(struct tg_engine *e, uint32_t classes)
{
    struct tg_bag *bag = e->bag;
    uint32_t n = 0, at, c;
    for (c = 0; c < TG_CLASSES; c++)
        n += classes & TG_TAKES(c) ? bag->n[c] : 0;
    at = tg_order_choice(bag->setup->seed, bag->setup->choices, n);
    for (c = 0; !(classes & TG_TAKES(c)) || at >= bag->n[c]; c++)
        at -= classes & TG_TAKES(c) ? bag->n[c] : 0;
    return take_out(e, c, at);
}

/* The first of the tasks of these classes. */
TG_FN static uint32_t pop(struct tg_engine *e, uint32_t classes)
{
    struct tg_bag *bag = e->bag;
    uint32_t best = TG_CLASSES;
    uint64_t best_key = 0;
    for (uint32_t c = 0; c < TG_CLASSES; c++) {
        uint64_t key;
        if (!(classes & TG_TAKES(c)))
            continue;
        key = key_of(e, bag->heap[c][0]);
        if (best == TG_CLASSES || key < best_key) {
            best = c;
            best_key = key;
        }
    }
    return take_out(e, best, 0);
}

TG_FN static void note_start(struct tg_engine *e, uint32_t task)
{
    struct tg_schedule_setup *setup = e->bag->setup;
    uint64_t at = setup->choices;
    if (at < setup->n_starts)
        e->bag->start[at] = e->desc[task].id;
    tg_store_relaxed(&setup->choices, at + 1); /* the host looks at it after a crash */
    tg_store_relaxed(&e->bag->running, e->bag->running + 1); /* B2 */
}

/* Wakes a sleeper for each of these classes (S1: check). */
TG_FN static void wake(struct tg_engine *e, uint32_t classes)
{
    for (uint32_t c = 0; classes != 0 && c < TG_CLASSES; c++)
        if (classes & TG_TAKES(c))
            tg_worker_wake_sleeper(e, c);
}

TG_FN uint32_t tg_bag_take(struct tg_engine *e, uint32_t classes, struct tg_mix *mix)
{
    struct tg_bag *bag = e->bag;
    uint32_t task = TG_NO_TASK, left = 0;
    lock(bag);
    classes = available(e, classes, mix);
    if (classes) {
        task = bag->serial && bag->setup->policy == TG_SCHEDULE_RANDOM ? draw(e, classes)
                                                                       : pop(e, classes);
        if (mix && e->desc[task].task_class == TG_CLASS_MIX)
            tg_store_seq(&mix->lock, 1u);
        note_start(e, task);
        left = available(e, (1u << TG_CLASSES) - 1, 0);
    }
    unlock(bag);
    wake(e, left);
    return task;
}

TG_FN bool tg_bag_could_take(struct tg_engine *e, uint32_t classes, const struct tg_mix *mix)
{
    bool could;
    lock(e->bag);
    could = available(e, classes, mix) != 0;
    unlock(e->bag);
    return could;
}

TG_FN void tg_bag_delay(struct tg_engine *e, uint32_t task)
{
    struct tg_schedule_setup *setup = e->bag->setup;
    uint64_t ns, began;
    if (e->bag->serial)
        return;
    ns = tg_order_delay(setup->policy, setup->seed, e->desc[task].id);
    began = ns ? tg_target_now() : 0;
    while (ns && tg_target_now() - began < ns && tg_engine_running(e))
        tg_wait_moment();
}

/* ── coming and going ──────────────────────────────────────────────────────────────────── */

TG_FN void tg_bag_add(struct tg_engine *e, const uint32_t *task, uint32_t n)
{
    uint32_t classes;
    lock(e->bag);
    for (uint32_t i = 0; i < n; i++)
        add(e, task[i]);
    classes = available(e, (1u << TG_CLASSES) - 1, 0);
    unlock(e->bag);
    wake(e, classes);
}

/* A core that looks for its next task at once needs nobody for a plain task that is alone in its class. */
TG_FN static uint32_t leave_to(const struct tg_engine *e, const struct tg_worker *w,
                               uint32_t classes)
{
    if (w->index >= e->n_lanes)
        return classes;
    for (uint32_t c = 0; c < TG_CLASS_MIX; c++)
        if ((w->takes & TG_TAKES(c)) && e->bag->n[c] == 1)
            classes &= ~TG_TAKES(c);
    return classes;
}

/* Called last for a task, when its successors have been added. Its slot may have another task by now. */
TG_FN static void done(struct tg_engine *e, const struct tg_worker *w, uint64_t id)
{
    struct tg_bag *bag = e->bag;
    uint32_t classes;
    lock(bag);
    tg_store_relaxed(&bag->running, bag->running - 1); /* B2 */
    if (bag->setup->n_pairs > 0) {
        meet_pairs(e, id);
        break_pairs(e);
    }
    classes = leave_to(e, w, available(e, (1u << TG_CLASSES) - 1, 0));
    unlock(bag);
    wake(e, classes);
}

TG_FN void tg_bag_complete(struct tg_engine *e, struct tg_worker *w, uint32_t task)
{
    uint64_t id = e->desc[task].id;
    tg_worker_complete(e, w, task, false);
    done(e, w, id);
}

/* ── the orchestrator ──────────────────────────────────────────────────────────────────── */

TG_FN static void say(struct tg_engine *e, enum tg_bag_orchestrator what, uint32_t slot)
{
    struct tg_bag *bag = e->bag;
    uint32_t classes;
    lock(bag);
    bag->orchestrator = what;
    bag->awaited = slot;
    break_pairs(e);
    classes = available(e, (1u << TG_CLASSES) - 1, 0);
    unlock(bag);
    wake(e, classes);
}

TG_FN void tg_bag_await(struct tg_engine *e, uint32_t slot)
{
    say(e, TG_BAG_WAITS, slot);
}

TG_FN void tg_bag_orchestrated(struct tg_engine *e)
{
    say(e, TG_BAG_ENDED, 0);
}

/* The slot that it waited for is closed before the task's successors are added: a serial orchestrator
 * waits for that. */
TG_FN void tg_bag_go_on(struct tg_engine *e)
{
    struct tg_bag *bag = e->bag;
    lock(bag);
    while (bag->serial && bag->running > 0 && tg_engine_running(e)) {
        unlock(bag);
        tg_wait_moment();
        lock(bag);
    }
    bag->orchestrator = TG_BAG_GOES_ON;
    unlock(bag);
}

TG_FN bool tg_bag_is_still(struct tg_engine *e)
{
    struct tg_bag *bag = e->bag;
    bool still;
    lock(bag);
    still = bag->n_ready == 0 && bag->running == 0 && bag->n_held == 0;
    unlock(bag);
    return still;
}

/* ── a run ─────────────────────────────────────────────────────────────────────────────── */

TG_FN void tg_bag_reset(struct tg_engine *e, const struct tg_launch *launch)
{
    struct tg_bag *bag = &e->own_bag;
    const struct tg_orchestration *o =
        TG_DEVICE_PTR(const struct tg_orchestration, launch->orchestration);
    e->bag = launch->schedule ? bag : (struct tg_bag *)0;
    if (!launch->schedule)
        return;
    bag->setup = TG_DEVICE_PTR(struct tg_schedule_setup, launch->schedule);
    bag->note = launch->edges == TG_EDGES_GROWING
                    ? TG_DEVICE_PTR(const struct tg_slot_note, o->notes)
                    : (const struct tg_slot_note *)0;
    bag->pair = TG_DEVICE_PTR(struct tg_order_pair, bag->setup->pairs);
    bag->by_before = TG_DEVICE_PTR(const uint32_t, bag->setup->by_before);
    bag->held = TG_DEVICE_PTR(uint32_t, bag->setup->held);
    bag->start = TG_DEVICE_PTR(uint64_t, bag->setup->starts);
    for (uint32_t c = 0; c < TG_CLASSES; c++) {
        bag->heap[c] = TG_DEVICE_PTR(uint64_t, launch->queue[c]);
        bag->n[c] = 0;
    }
    bag->lock = bag->n_ready = bag->running = bag->n_held = bag->awaited = 0;
    bag->orchestrator = launch->orchestration ? TG_BAG_GOES_ON : TG_BAG_ENDED;
    bag->serial = e->n_cores == 1;
    bag->setup->serial = bag->serial;
    bag->setup->choices = bag->setup->broken = 0;
}

TG_FN void tg_bag_fill(struct tg_engine *e, const struct tg_launch *launch)
{
    for (uint32_t c = 0; c < TG_CLASSES; c++) {
        const uint32_t *ready = TG_DEVICE_PTR(const uint32_t, launch->ready[c]);
        for (uint32_t i = 0; i < launch->n_ready[c]; i++)
            add(e, ready[i] - 1);
    }
    break_pairs(e);
}

/* ── cores that schedule for themselves ────────────────────────────────────────────────── */

TG_FN static void sleep_unless_needed(struct tg_engine *e, struct tg_worker *lane)
{
    const struct tg_mix *mix = &e->mix[lane->block];
    tg_park_say(&lane->park); /* S1, S2, S4: say */
    tg_worker_say_asleep(e, lane, lane->takes);
    if (tg_load_seq(&e->phase) == TG_RUNNING && tg_load_seq(&lane->mail) == 0 &&
        !tg_bag_could_take(e, lane->takes, mix))
        do
            tg_park_sleep(&lane->park);
        while (TG_TARGET_SLEEPERS_LOOK && tg_engine_running(e) && !tg_core_has_mail(lane) &&
               !tg_bag_sees(e->bag));
    tg_park_cancel(&lane->park);
    tg_worker_say_awake(e, lane, lane->takes);
}

TG_FN static void run(struct tg_engine *e, struct tg_worker *lane, uint32_t task)
{
    tg_bag_delay(e, task);
    if (e->desc[task].task_class == TG_CLASS_MIX) {
        tg_mix_lead(e, lane, task);
        return;
    }
    (void)tg_core_run_alone(e, lane, task); /* the host gives no schedule to a graph with calls */
    tg_bag_complete(e, lane, task);
}

/* A mix in the lane's mail comes first: its other parts wait. */
TG_FN static bool work(struct tg_engine *e, struct tg_worker *lane)
{
    uint32_t task = TG_NO_TASK;
    if (tg_core_has_mail(lane)) {
        tg_mix_serve(e, lane);
        return true;
    }
    if (tg_bag_sees(e->bag))
        task = tg_bag_take(e, lane->takes, &e->mix[lane->block]);
    if (task != TG_NO_TASK)
        run(e, lane, task);
    return task != TG_NO_TASK;
}

TG_FN void tg_bag_loop(struct tg_engine *e, struct tg_worker *lane)
{
    uint32_t round = 0;
    while (tg_engine_running(e)) {
        if (work(e, lane)) {
            round = 0;
            continue;
        }
        if (round == 0) {
            tg_target_say_idle(lane->status, lane->finished);
            if (tg_engine_check_over(e, lane))
                break;
        }
        if (!tg_wait_round(&e->patience, &round)) {
            sleep_unless_needed(e, lane);
            round = 0;
        }
    }
}
