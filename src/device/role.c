/* SPDX-License-Identifier: Apache-2.0 */
#include "device/role.h"
#include "device/core.h"
#include "device/mix.h"
#include "device/park.h"
#include "device/wait.h"
#include "device/worker.h"

TG_FN bool tg_role_sleeps(const struct tg_worker *w)
{
    return TG_TARGET_MOVES_ROLES && w->moves
               ? tg_hold_state(tg_load_seq(&w->hold)) == TG_HOLD_ASLEEP
               : tg_load_seq(&w->park) == TG_PARKED;
}

TG_FN bool tg_role_wake(struct tg_engine *e, struct tg_worker *w)
{
    uint32_t word;
    if (!TG_TARGET_MOVES_ROLES || !w->moves) {
        tg_park_wake(&w->park);
        return true; /* if it did not sleep, it looks for work before it does */
    }
    word = tg_load_seq(&w->hold);
    if (tg_hold_state(word) != TG_HOLD_ASLEEP)
        return false;
    if (!tg_cas_seq(&w->hold, &word, tg_hold_word(tg_hold_thread(word), TG_HOLD_HELD))) /* H1 */
        return false;
    tg_park_wake(&e->worker[tg_hold_thread(word)].park);
    return true;
}

/* ── a thread without work ─────────────────────────────────────────────────────────────── */

TG_FN struct tg_worker *tg_role_claim(struct tg_engine *e, struct tg_worker *home)
{
    if (!TG_TARGET_MOVES_ROLES)
        return home;
    for (;;) {
        struct tg_worker *lane = &e->worker[tg_load_acquire(&home->role)]; /* H2 */
        uint32_t word = tg_hold_word(home->index, TG_HOLD_FREE);
        if (tg_cas_seq(&lane->hold, &word, tg_hold_word(home->index, TG_HOLD_HELD))) /* H1 */
            return lane;
        tg_wait_moment(); /* another thread has taken it and is about to say where this one goes */
    }
}

TG_FN void tg_role_say_asleep(struct tg_engine *e, struct tg_worker *home, struct tg_worker *lane)
{
    /* The park first: a thread that finds the lane asleep may wake this one at once. */
    tg_park_say(&home->park);
    tg_sub_seq(&e->awake, 1u);
    tg_store_seq(&lane->hold, tg_hold_word(home->index, TG_HOLD_ASLEEP)); /* H1; S1, S2, S4: say */
    tg_worker_say_asleep(e, lane, lane->takes);
}

TG_FN bool tg_role_stay(struct tg_engine *e, struct tg_worker *home, struct tg_worker *lane)
{
    uint32_t word = tg_hold_word(home->index, TG_HOLD_ASLEEP);
    if (!tg_cas_seq(&lane->hold, &word, tg_hold_word(home->index, TG_HOLD_HELD))) /* H1 */
        return false;
    tg_park_cancel(&home->park);
    tg_add_seq(&e->awake, 1u);
    tg_worker_say_awake(e, lane, lane->takes);
    return true;
}

TG_FN void tg_role_sleep(struct tg_engine *e, struct tg_worker *home)
{
    struct tg_worker *lane;
    tg_park_sleep(&home->park);
    tg_add_seq(&e->awake, 1u);
    lane = tg_role_lane(e, home);
    tg_worker_say_awake(e, lane, lane->takes);
}

/* ── taking a lane and letting it go ───────────────────────────────────────────────────── */

TG_FN static bool any_deque_occupied(struct tg_engine *e, uint32_t task_class)
{
    /* The deques of lanes that sleep are empty, and so are those of the caller's lane. A thread
     * that wakes later than this looks finds the lane asleep (S1: `awake` is its side). */
    if (tg_load_seq(&e->awake) == 1)
        return tg_deque_occupied(&e->worker[tg_engine_orchestrator(e)].deque[task_class]);
    for (uint32_t i = 0; i < e->n_workers; i++)
        if (tg_deque_occupied(&e->worker[i].deque[task_class]))
            return true;
    return false;
}

/* The check for a lane that was left asleep: its thread cannot look for work itself. Plain tasks
 * are left to searchers, if there are any. */
TG_FN static bool is_needed(struct tg_engine *e, struct tg_worker *lane)
{
    if (tg_load_seq(&e->phase) != TG_RUNNING || tg_load_seq(&lane->mail) != 0) /* S4, S2: check */
        return true;
    for (uint32_t c = 0; c < TG_CLASS_MIX; c++)
        if ((lane->takes & TG_TAKES(c)) && tg_load_seq(&e->searching[c]) == 0 &&
            (tg_queue_occupied(&e->queue[c]) || any_deque_occupied(e, c))) /* S1: check */
            return true;
    for (uint32_t c = 0; c < TG_CLASS_MIX; c++)
        if (tg_deque_occupied(&lane->deque[c]))
            return true; /* a borrower leaves what it has made ready */
    return tg_mix_could_lead(e, lane);
}

/* Lets a lane go that this thread holds. `word` says to which thread, and what that one does: if it
 * is awake, it looks for work itself when it claims the lane. */
TG_FN static void let_go(struct tg_engine *e, struct tg_worker *lane, uint32_t word)
{
    if (tg_hold_state(word) == TG_HOLD_FREE) {
        tg_store_release(&lane->hold, word); /* H1 */
        return;
    }
    tg_store_seq(&lane->hold, word); /* H1; S1, S2, S4: say */
    tg_worker_say_asleep(e, lane, lane->takes);
    if (is_needed(e, lane))
        tg_role_wake(e, lane);
}

/* A thread that is no core acts for lanes that it has borrowed. */
TG_FN static bool borrows(const struct tg_engine *e, uint32_t thread)
{
    return thread >= e->n_lanes;
}

/* Takes the lane if its thread does not act for it. *before is what its hold said. A lane whose
 * thread is awake is not lent, because that thread would wait for it without sleeping. */
TG_FN static bool take(struct tg_engine *e, struct tg_worker *lane, uint32_t thread,
                       uint32_t *before)
{
    uint32_t word = tg_load_relaxed(&lane->hold); /* a stale value fails the swap */
    if (tg_hold_state(word) == TG_HOLD_HELD ||
        (tg_hold_state(word) == TG_HOLD_FREE && borrows(e, thread)))
        return false;
    if (!tg_cas_seq(&lane->hold, &word, tg_hold_word(thread, TG_HOLD_HELD))) /* H1; S2: say */
        return false;
    *before = word;
    if (tg_load_seq(&lane->mail) == 0) /* S2: check */
        return true;
    let_go(e, lane, word); /* a mix needs it */
    return false;
}

/* ── a thread with a task of another kind ──────────────────────────────────────────────── */

/* A lane that has other work keeps its thread. */
TG_FN static bool has_nothing_else(const struct tg_engine *e, const struct tg_worker *w)
{
    for (uint32_t c = 0; c < TG_CLASS_MIX; c++)
        if (tg_load_relaxed(&w->deque[c].head) != tg_load_relaxed(&w->deque[c].tail))
            return false;
    return !tg_core_is_called(e, w) && !tg_worker_sees(e, w->takes);
}

TG_FN static bool reach(struct tg_engine *e, struct tg_worker *w, struct tg_worker *lane,
                        uint32_t task_class)
{
    uint32_t before;
    if (!lane->moves || !(lane->takes & TG_TAKES(task_class)) ||
        !take(e, lane, tg_hold_thread(tg_load_relaxed(&w->hold)), &before))
        return false;
    w->onward = lane->index + 1;
    w->onward_hold = before;
    return true;
}

/* Looks at the lanes of the same block first: a chain that alternates then stays on two lanes. */
TG_FN bool tg_role_reach(struct tg_engine *e, struct tg_worker *w, uint32_t task_class)
{
    struct tg_worker *block = e->worker + (uint64_t)TG_PARTS * w->block;
    if (!w->moves || !has_nothing_else(e, w))
        return false;
    for (uint32_t part = 0; part < TG_PARTS; part++)
        if (reach(e, w, &block[part], task_class))
            return true;
    for (uint32_t word = 0; word < e->n_sleep_words; word++) {
        uint64_t asleep = tg_load_relaxed(&e->sleepers[task_class][word]);
        for (; asleep != 0; asleep &= asleep - 1)
            if (reach(e, w, &e->worker[64 * word + tg_target_lowest_bit(asleep)], task_class))
                return true;
    }
    return false;
}

TG_FN void tg_role_move(struct tg_engine *e, struct tg_worker *w)
{
    struct tg_worker *lane = &e->worker[w->onward - 1];
    uint32_t thread = tg_hold_thread(tg_load_relaxed(&w->hold)), word = w->onward_hold;
    w->onward = 0;
    /* The new lane counts what the old one has not counted: nobody else would before this thread
     * sleeps. */
    lane->counted -= w->finished - w->counted;
    w->counted = w->finished;
    tg_store_relaxed(&e->worker[thread].role, lane->index); /* only this thread reads it */
    if (borrows(e, thread)) {
        uint32_t lent = e->worker[thread].onward_hold;
        e->worker[thread].onward_hold = word;
        let_go(e, w, lent);
        return;
    }
    tg_store_release(&e->worker[tg_hold_thread(word)].role, w->index); /* H2 */
    let_go(e, w, word);
}

/* ── a thread that is no core ──────────────────────────────────────────────────────────── */

TG_FN struct tg_worker *tg_role_borrow(struct tg_engine *e, struct tg_worker *home,
                                       uint32_t task_class)
{
    uint32_t before;
    for (uint32_t word = 0; TG_TARGET_MOVES_ROLES && word < e->n_sleep_words; word++) {
        uint64_t asleep = tg_load_relaxed(&e->sleepers[task_class][word]);
        for (; asleep != 0; asleep &= asleep - 1) {
            struct tg_worker *lane = &e->worker[64 * word + tg_target_lowest_bit(asleep)];
            if (!lane->moves || !take(e, lane, home->index, &before))
                continue;
            home->onward_hold = before;
            tg_add_seq(&e->awake, 1u); /* the lane's deques fill */
            tg_store_relaxed(&home->role, lane->index);
            return lane;
        }
    }
    return 0;
}

TG_FN void tg_role_give_back(struct tg_engine *e, struct tg_worker *home)
{
    struct tg_worker *lane = tg_role_lane(e, home);
    tg_store_relaxed(&home->role, home->index);
    tg_engine_check_over(e, lane);
    let_go(e, lane, home->onward_hold);
    tg_sub_seq(&e->awake, 1u);
}
