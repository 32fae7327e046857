/* SPDX-License-Identifier: Apache-2.0 */
#include "device/core.h"
#include "device/comm.h"
#include "device/mix.h"
#include "device/park.h"
#include "device/recorder.h"
#include "device/role.h"
#include "device/target.h"
#include "device/trace.h"
#include "device/wait.h"
#include "device/worker.h"

TG_FN void tg_core_call(struct tg_engine *e, struct tg_worker *lane, uint32_t task, uint32_t part)
{
    const struct tg_task_desc *desc = &e->desc[task];
    tg_kernel_fn kernel = e->kernel[desc->kernel[part]];
    struct tg_core_seat seat = {e->payload, lane->status, lane->index};
    struct tg_ctx ctx;
    TG_TARGET_TENSORS(tensors);
    tg_core_fill_ctx(&ctx, tensors, e, seat, desc, part);
    tg_target_call(kernel, &ctx);
}

TG_FN void tg_core_say_running(struct tg_engine *e, struct tg_worker *lane, uint32_t task,
                               uint32_t part)
{
    struct tg_worker_status now;
    const struct tg_task_desc *desc = &e->desc[task];
    tg_core_describe(&now, lane->finished, desc, task, part, desc->kernel[part]);
    tg_target_say_running(lane->status, &now);
}

TG_FN void tg_core_post(struct tg_engine *e, struct tg_worker *lane, uint32_t task)
{
    tg_store_seq(&lane->mail, task + 1); /* S2: say */
    tg_role_wake(e, lane);               /* S2: check */
}

/* ── cores that schedule for themselves ────────────────────────────────────────────────── */

TG_FN static inline uint32_t find_own(struct tg_worker *lane)
{
    uint32_t task = TG_NO_TASK;
    if (lane->takes & TG_TAKES(TG_CLASS_AIV))
        task = tg_deque_pop(&lane->deque[TG_CLASS_AIV]);
    if (task == TG_NO_TASK && (lane->takes & TG_TAKES(TG_CLASS_AIC)))
        task = tg_deque_pop(&lane->deque[TG_CLASS_AIC]);
    if (task == TG_NO_TASK && (lane->takes & TG_TAKES(TG_CLASS_EITHER)))
        task = tg_deque_pop(&lane->deque[TG_CLASS_EITHER]);
    return task;
}

/* Returns any ready task that this core may run. If it is a mix, the core holds the block's mix
 * lock. */
TG_FN static uint32_t find(struct tg_engine *e, struct tg_worker *lane, bool steals)
{
    uint32_t task = TG_NO_TASK;
    if (lane->takes & TG_TAKES(TG_CLASS_AIV))
        task = tg_worker_take(e, lane, TG_CLASS_AIV, steals);
    if (task == TG_NO_TASK && (lane->takes & TG_TAKES(TG_CLASS_AIC)))
        task = tg_worker_take(e, lane, TG_CLASS_AIC, steals);
    if (task == TG_NO_TASK && (lane->takes & TG_TAKES(TG_CLASS_EITHER)))
        task = tg_worker_take(e, lane, TG_CLASS_EITHER, steals);
    if (task == TG_NO_TASK)
        task = tg_mix_try_lead(e, lane);
    return task;
}

/* The check after the core has said that it sleeps: work may have come in the meantime. The lane may
 * be another thread's by now, so only what all threads may read is read here. */
TG_FN static bool must_stay_awake(struct tg_engine *e, const struct tg_worker *lane)
{
    if (tg_load_seq(&e->phase) != TG_RUNNING || tg_load_seq(&lane->mail) != 0)
        return true;
    if (tg_worker_could_take(e, lane->takes & ~TG_TAKES(TG_CLASS_MIX)))
        return true;
    return tg_mix_could_lead(e, lane);
}

/* For a target whose sleepers look for work themselves: true if something has happened for which
 * another target would wake a core. */
TG_FN static bool sees_something(const struct tg_engine *e, const struct tg_worker *lane)
{
    return tg_core_has_mail(lane) || !tg_engine_running(e) || tg_worker_sees(e, lane->takes);
}

TG_FN static void nap_unless_needed(struct tg_engine *e, struct tg_worker *lane)
{
    tg_park_say(&lane->park);
    for (uint32_t nap = 1; !sees_something(e, lane); nap++) {
        tg_park_sleep(&lane->park);
        if (nap % TG_NAPS == 0 && tg_worker_sees_loot(e, lane, lane->takes))
            break;
    }
    tg_park_cancel(&lane->park);
}

/* When it returns, the thread holds a lane, perhaps another one than before. */
TG_FN static void sleep_unless_needed(struct tg_engine *e, struct tg_worker *home)
{
    struct tg_worker *lane = tg_role_lane(e, home);
    uint32_t takes = lane->takes;
    if (TG_TARGET_SLEEPERS_LOOK) {
        nap_unless_needed(e, lane);
        return;
    }
    tg_role_say_asleep(e, home, lane);
    tg_worker_search_give_up(e, takes);
    if (must_stay_awake(e, lane)) {
        if (tg_role_stay(e, home, lane))
            return;
        tg_worker_pass_on(e, takes); /* the thread that has the lane now has other work */
    }
    tg_role_sleep(e, home);
}

/* One round of waiting, in which other threads may take the lane over. Returns false when it is
 * time to sleep. The thread then holds a lane again, perhaps another one, and searches for that. */
TG_FN static bool rest(struct tg_engine *e, struct tg_worker *home, uint32_t *round)
{
    struct tg_worker *before = tg_role_lane(e, home), *lane;
    bool again;
    tg_role_rest(before);
    again = tg_wait_round(&e->patience, round);
    lane = tg_role_claim(e, home);
    if (lane != before) {
        tg_worker_search_begin(e, lane->takes);
        tg_worker_search_leave(e, before->takes);
    }
    return again;
}

/* Runs a plain task. Returns the successor that the core goes on with. */
TG_FN static inline uint32_t run_plain(struct tg_engine *e, struct tg_worker *lane, uint32_t task)
{
    task = tg_target_run(e, lane, task);
    return task != TG_NO_TASK ? tg_worker_complete(e, lane, task, true) : TG_NO_TASK;
}

enum { LOOT_GLANCES = 32 };

TG_FN bool tg_core_must_leave(struct tg_engine *e, struct tg_worker *lane, uint32_t classes,
                              uint32_t glance)
{
    const struct tg_queue *mixes = &e->queue[TG_CLASS_MIX];
    bool leads = TG_TARGET_NEAR(e, mixes) && (TG_TARGET_NEAR(lane, takes) & TG_TAKES(TG_CLASS_MIX));
    /* All loads before what depends on one: on a GPU the wait for a load is the cost. */
    uint64_t n_tasks = tg_load_relaxed(&e->n_tasks), finished = tg_load_relaxed(&e->finished);
    uint32_t head = tg_load_relaxed(&mixes->head), tail = tg_load_relaxed(&mixes->tail);
    if (tg_core_is_called(e, lane) || finished >= n_tasks)
        return true;
    if (leads && tg_queue_has(head, tail) && tg_load_relaxed(&e->mix[lane->block].lock) == 0)
        return true;
    /* Seldom at first: while it looks at all deques, it does not see the task that comes to it. */
    return glance % LOOT_GLANCES == 0 &&
           tg_worker_sees_loot(e, lane, classes & ~TG_TAKES(TG_CLASS_MIX));
}

/* Waits for the task that comes to this place of the class's queue. TG_NO_TASK: it left the line. */
TG_FN static uint32_t wait_in_line(struct tg_engine *e, struct tg_worker *lane, uint32_t task_class,
                                   struct tg_place place)
{
    uint32_t spin = e->patience.spin, task = TG_NO_TASK;
    bool leaves = false;
    TG_TARGET_SET_NEAR(lane, claims, 1);
    tg_store_relaxed(&lane->place, place.at);
    tg_engine_count(e, lane);
    (void)tg_engine_is_over(e); /* most likely it is the last of a small run */
    for (uint32_t glance = 0; task == TG_NO_TASK && !leaves; glance++) {
        for (uint32_t look = 0; task == TG_NO_TASK && look < TG_CORE_LOOKS; look++) {
            bool called = tg_core_is_called(e, lane); /* on its way while the slot is */
            if (glance > spin)
                tg_target_yield();
            task = tg_queue_look(place);
            if (called)
                break;
        }
        if (task != TG_NO_TASK)
            break;
        leaves = tg_core_must_leave(e, lane, TG_TAKES(task_class), glance + 1);
        if (leaves)
            (void)tg_engine_is_over(e);
        else if (glance == 0) /* not before, because these take a while */
            tg_target_say_idle(lane->status, TG_TARGET_NEAR(lane, finished));
        else if (glance == 1)
            tg_store_seq(&lane->park, (uint32_t)TG_IN_LINE);
    }
    tg_park_cancel(&lane->park);
    return leaves ? tg_queue_leave(&e->queue[task_class], place) : task;
}

/* Stands in line, and again after each task from there with which the core has nothing to go on with: that is
 * the shortest way from one task to the next. Returns false if it could not. *task: the task that the core
 * goes on with, or TG_NO_TASK. */
TG_FN static bool try_line(struct tg_engine *e, struct tg_worker *lane, uint32_t *task)
{
    uint32_t task_class = 0;
    struct tg_place place = {0};
    bool stood = false;
    *task = TG_NO_TASK;
    while (TG_TARGET_LINES_UP && tg_worker_line_up(e, lane, &task_class, &place)) {
        stood = true;
        *task = wait_in_line(e, lane, task_class, place);
        if (*task != TG_NO_TASK)
            *task = run_plain(e, lane, *task);
        else
            break;
        if (*task != TG_NO_TASK ||
            (TG_TARGET_NEAR(e, mixes) && tg_worker_sees(e, TG_TAKES(TG_CLASS_MIX))))
            break;
    }
    return stood;
}

/* Looks for work at least once, and spins for a while before it gives up the CPU. */
TG_FN static uint32_t search(struct tg_engine *e, struct tg_worker *home)
{
    struct tg_worker *lane = tg_role_lane(e, home);
    uint32_t round = 0;
    bool has_left = false;
    while (!tg_core_is_called(e, lane)) {
        uint32_t task = find(e, lane, has_left || (round + 1) % e->steal_every == 0);
        if (task != TG_NO_TASK)
            return task;
        if (round == 0 && try_line(e, lane, &task)) {
            if (task != TG_NO_TASK)
                return task;
            has_left = true; /* perhaps because it saw a deque with tasks */
            continue;
        }
        if (round == 0) {
            tg_target_say_idle(lane->status, lane->finished);
            if (tg_engine_check_over(e, lane))
                break;
        }
        if (!rest(e, home, &round))
            break;
        lane = tg_role_lane(e, home);
    }
    return TG_NO_TASK;
}

/* Returns the next task, or TG_NO_TASK because there is mail or the run is over. The thread may have
 * another lane then. A core that was woken always leaves through tg_worker_search_leave, so that it
 * wakes another core for the work that it leaves. */
TG_FN static uint32_t wait_for_work(struct tg_engine *e, struct tg_worker *home)
{
    struct tg_worker *lane = tg_role_lane(e, home);
    uint32_t task = find_own(lane);
    if (task != TG_NO_TASK || tg_core_is_called(e, lane))
        return task;
    for (;;) {
        tg_worker_search_begin(e, lane->takes);
        task = search(e, home);
        lane = tg_role_lane(e, home);
        if (task != TG_NO_TASK || tg_core_is_called(e, lane))
            break;
        sleep_unless_needed(e, home);
        lane = tg_role_lane(e, home);
    }
    tg_worker_search_leave(e, lane->takes);
    return task;
}

TG_FN void tg_core_loop_self(struct tg_engine *e, struct tg_worker *home)
{
    struct tg_worker *lane = home;
    uint32_t task = TG_NO_TASK;
    while (tg_engine_running(e)) {
        if (task == TG_NO_TASK)
            task = wait_for_work(e, home);
        /* Waiting or completing a task may have changed it. */
        lane = tg_role_lane_after(e, home, lane);
        if (tg_core_has_mail(lane)) {
            /* The mix in the mail may have to wait for its other parts, and a task in hand must not
             * wait for that. It is a plain task: a mix comes only with the mix's lock. */
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
            task = run_plain(e, lane, task);
        }
    }
}

/* ── threads that help ─────────────────────────────────────────────────────────────────── */

/* Takes a task for a lane that the thread has borrowed. */
TG_FN static uint32_t find_plain(struct tg_engine *e, struct tg_worker *lane)
{
    uint32_t classes = lane->takes & ~TG_TAKES(TG_CLASS_MIX), task = find_own(lane);
    if (task != TG_NO_TASK)
        return task;
    tg_worker_search_begin(e, classes);
    for (uint32_t c = 0; c < TG_CLASS_MIX && task == TG_NO_TASK; c++)
        if (classes & TG_TAKES(c))
            task = tg_worker_take(e, lane, c, true);
    tg_worker_search_leave(e, classes);
    return task;
}

/* The lane changes when a task's successor is of another kind. */
TG_FN static bool help_here(struct tg_engine *e, struct tg_worker *home, const uint32_t *word,
                            uint32_t value)
{
    struct tg_worker *lane = tg_role_lane(e, home);
    uint32_t task = TG_NO_TASK;
    bool helped = false;
    while (tg_load_relaxed(word) != value && !tg_core_is_called(e, lane)) {
        if (task == TG_NO_TASK)
            task = find_plain(e, lane);
        if (task == TG_NO_TASK || (tg_comm_is_on(e) && !tg_comm_may_help(e, home, task)))
            break;
        task = tg_target_run(e, lane, task);
        if (task != TG_NO_TASK)
            task = tg_worker_complete(e, lane, task, true);
        lane = tg_role_lane(e, home);
        helped = true;
    }
    if (task != TG_NO_TASK)
        tg_mix_hand_on(e, lane, task);
    return helped;
}

TG_FN bool tg_core_help(struct tg_engine *e, struct tg_worker *home, const uint32_t *word,
                        uint32_t value)
{
    bool helped = false;
    for (uint32_t c = 0; TG_TARGET_MOVES_ROLES && c < TG_CLASS_MIX; c++) {
        if (!tg_worker_sees(e, TG_TAKES(c)) && !tg_worker_sees_loot(e, home, TG_TAKES(c)))
            continue;
        if (!tg_role_borrow(e, home, c))
            continue;
        helped |= help_here(e, home, word, value);
        tg_role_give_back(e, home);
    }
    return helped;
}

/* ── lanes that are served ─────────────────────────────────────────────────────────────── */

TG_FN static void sleep_until_mail(struct tg_engine *e, struct tg_worker *lane)
{
    tg_park_say(&lane->park); /* S2, S4: say */
    if (tg_load_seq(&lane->mail) == 0 && tg_load_seq(&e->phase) == TG_RUNNING) {
        do
            tg_park_sleep(&lane->park);
        while (TG_TARGET_SLEEPERS_LOOK && !tg_core_has_mail(lane) && tg_engine_running(e));
    }
    tg_park_cancel(&lane->park);
}

TG_FN static bool wait_for_mail(struct tg_engine *e, struct tg_worker *lane)
{
    uint32_t round = 0;
    while (tg_engine_running(e)) {
        if (tg_core_has_mail(lane))
            return true;
        if (round == 0)
            tg_target_say_idle(lane->status, lane->finished);
        if (!tg_wait_round(&e->patience, &round)) {
            sleep_until_mail(e, lane);
            round = 0;
        }
    }
    return false;
}

/* Under a scheduler the lane runs the task and empties its slot, and the scheduler completes the
 * task. If a part was stopped before it ran, the lane leaves the slot full, so that the scheduler
 * does not count the part as done. */
TG_FN static void obey(struct tg_engine *e, struct tg_worker *lane)
{
    uint32_t task = tg_load_acquire(&lane->mail) - 1;
    struct tg_worker *scheduler = &e->worker[e->n_lanes + lane->block % e->n_schedulers];
    if (e->bag)
        tg_bag_delay(e, task);
    if (e->desc[task].task_class != TG_CLASS_MIX)
        lane->posted = !tg_core_run_alone(e, lane, task);
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
            /* This lane is not a core and takes no tasks, so the tasks that it makes ready go to
             * the cores. If it finished last, all cores may be asleep, so it checks for the end of
             * the run itself. */
            tg_mix_serve(e, lane);
            tg_engine_check_over(e, lane);
        }
    }
}
