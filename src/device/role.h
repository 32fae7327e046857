/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated core is a role, not a thread. Where cores schedule for themselves, each thread acts
 * for one lane and each lane has one thread, but which thread has which lane changes during a run.
 * A thread that completes a task goes on with the successor that it made ready. If its own lane
 * does not take tasks of that kind, the thread takes over a lane that does and whose thread has
 * nothing to do, and leaves its own lane to that thread. No sleeping thread has to be woken:
 *
 *     before   T0 ── AIC   held             after   T0 ── AIV0  held
 *              T1 ── AIV0  asleep                   T1 ── AIC   asleep
 *
 * Deques, counters, mail, status and stream belong to the lane; the word on which a thread sleeps
 * (`park`) and the number of its lane (`role`) belong to the thread, and lie in the worker that has
 * the thread's own number. A lane's `hold` says in one word who its thread is and what that thread
 * does:
 *
 *     held     It acts for the lane. Nobody else changes `hold`.
 *     free     It has nothing to do and looks for work again in a moment: any thread may take the
 *              lane, and this one must claim it before it acts for it again.
 *     asleep   The same, but it sleeps. A thread that has work for the lane sets `held` for it and
 *              wakes it.
 *
 * Every lane has a thread at all times, so a mix finds one for each of its parts. A thread that has
 * taken a lane looks at the lane's mail (S2), and gives the lane back if there is any.
 *
 * Named edges:
 *   H1  hold   a store by the thread that lets the lane go (a release: everything of the lane)
 *              pairs with the swap of the thread that takes it, claims it or wakes its thread
 *   H2  role   a store by the thread that takes the lane over pairs with the load of the thread
 *              that had the lane and finds that it cannot claim it. A thread that sleeps gets it
 *              through H1 and its park.
 */
#ifndef TG_DEVICE_ROLE_H
#define TG_DEVICE_ROLE_H

#include "device/engine.h"
#include "device/target.h"

enum tg_hold_state { TG_HOLD_HELD = 0, TG_HOLD_FREE = 1, TG_HOLD_ASLEEP = 2 };

TG_FN static inline uint32_t tg_hold_word(uint32_t thread, enum tg_hold_state state)
{
    return thread << 2 | (uint32_t)state;
}

TG_FN static inline uint32_t tg_hold_thread(uint32_t word)
{
    return word >> 2;
}

TG_FN static inline enum tg_hold_state tg_hold_state(uint32_t word)
{
    return (enum tg_hold_state)(word & 3);
}

/* The lane that this thread acts for. `home` is the worker that has the thread's number. */
TG_FN static inline struct tg_worker *tg_role_lane(struct tg_engine *e, struct tg_worker *home)
{
    return TG_TARGET_MOVES_ROLES ? &e->worker[tg_load_relaxed(&home->role)] : home;
}

/* The same for a thread that acted for `lane` and has hardly ever changed since. */
TG_FN static inline struct tg_worker *
tg_role_lane_after(struct tg_engine *e, struct tg_worker *home, struct tg_worker *lane)
{
    if (!TG_TARGET_MOVES_ROLES || tg_load_relaxed(&home->role) == lane->index)
        return lane;
    return tg_role_lane(e, home);
}

/* True if the worker has said that it sleeps. */
TG_FN bool tg_role_sleeps(const struct tg_worker *w);
/* Wakes the worker's thread if the worker sleeps. Returns false if it did not. */
TG_FN bool tg_role_wake(struct tg_engine *e, struct tg_worker *w);

/* ── a thread without work ─────────────────────────────────────────────────────────────── */

/* Lets other threads take the lane while this thread waits. */
TG_FN static inline void tg_role_rest(struct tg_worker *lane)
{
    if (TG_TARGET_MOVES_ROLES)
        tg_store_release(&lane->hold, tg_load_relaxed(&lane->hold) | TG_HOLD_FREE); /* H1 */
}

/* Ends the rest. Returns the thread's lane, which may be another one than before. */
TG_FN struct tg_worker *tg_role_claim(struct tg_engine *e, struct tg_worker *home);

/* Says that the lane sleeps; the caller looks for work then (S1, S2, S4). After that it calls
 * tg_role_stay to go on, or tg_role_sleep. */
TG_FN void tg_role_say_asleep(struct tg_engine *e, struct tg_worker *home, struct tg_worker *lane);
/* False if the thread was woken, or another thread has taken the lane over: it must sleep. */
TG_FN bool tg_role_stay(struct tg_engine *e, struct tg_worker *home, struct tg_worker *lane);
TG_FN void tg_role_sleep(struct tg_engine *e, struct tg_worker *home);

/* ── a thread with a task of another kind ──────────────────────────────────────────────── */

/* Takes a lane for a task of this class, if lane `w`, which does not take the class, has nothing
 * else to do. If it returns true, tg_role_move must follow. */
TG_FN bool tg_role_reach(struct tg_engine *e, struct tg_worker *w, uint32_t task_class);
/* The thread of lane `w` goes over to the lane that it has taken. */
TG_FN void tg_role_move(struct tg_engine *e, struct tg_worker *w);

/* ── a thread that is no core ──────────────────────────────────────────────────────────── */

/*
 * Such as the orchestrator's while it waits: takes a lane whose thread sleeps, to act for it for a
 * while, and gives it back. In between, the thread is that lane to the fault handler, and
 * tg_worker_complete may change the lane as for a core. The thread must give the lane back before
 * it waits for anything, and soon after the lane has got mail (tg_core_has_mail). Returns 0 if there
 * is no such lane. tg_core_help does all this.
 */
TG_FN struct tg_worker *tg_role_borrow(struct tg_engine *e, struct tg_worker *home,
                                       uint32_t task_class);
TG_FN void tg_role_give_back(struct tg_engine *e, struct tg_worker *home);

#endif
