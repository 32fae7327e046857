/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the blocks of a kernel go from one run to the next, without leaving the GPU. All of them are resident
 * (the launch is cooperative), so they can wait for each other.
 *
 *   the watch                               the leader of each block
 *   ─────────                               ────────────────────────
 *   resets the engine for the run           waits for the call
 *   call = the run's          ──G1──►       fills its share of the queues
 *                             ◄──G2──       filled += 1; the last one: ready = call
 *   waits for `ready`         ◄──G3──►      waits for `ready`, takes part in the run
 *   waits until all have left ◄──G4──       leaves the run (engine.active)
 *   listens to the bell (bell.h)            waits for the call
 *   call |= TG_STAY_NO_MORE   ──G1──►       ends
 *
 * Named edges:
 *   G1  call     the watch, which has reset the engine, pairs with each leader
 *   G2  filled   each leader pairs with the last: all queues are filled
 *   G3  ready    the last leader pairs with the others and with the watch
 *   G4  active   the workers' sub_acq_rel pairs with the watch: nobody uses the engine any more
 *
 * It does not depend on the threads of a block.
 */
#ifndef TG_CUDA_GPU_STAY_H
#define TG_CUDA_GPU_STAY_H

#include "device/engine.h"
#include "device/wait.h"
#include "platform/cuda/bell.h"

enum { TG_STAY_NO_MORE = 1 };

/* How often a leader looks before it sleeps, where nobody wakes it at once. */
enum { TG_STAY_LOOKS = TG_TARGET_SLEEPERS_LOOK ? 300 : 0 };

/* In the GPU's own memory; zeros at first. Calls do not repeat, so a new kernel takes what an earlier one
 * has left here for no call of its own. */
struct tg_cuda_stay {
    uint32_t call;
    uint8_t pad0[TG_LINE - 4];
    uint32_t ready;
    uint8_t pad1[TG_LINE - 4];
    uint32_t filled;
    uint8_t pad2[TG_LINE - 4];
    struct tg_cuda_launch launch; /* of the run; the watch's */
};

/* Waits until the word is no longer `value`, and returns what it is then. */
TG_FN static inline uint32_t tg_stay_wait(uint32_t *word, uint32_t value)
{
    const struct tg_patience patience = {TG_STAY_LOOKS, 2};
    tg_wait_for_change(&patience, word, value);
    return tg_load_acquire(word); /* G1, G3 */
}

TG_FN static inline void tg_stay_await(uint32_t *word, uint32_t value)
{
    uint32_t seen = tg_load_acquire(word); /* G1, G3 */
    while (seen != value)
        seen = tg_stay_wait(word, seen);
}

/* ── the watch ─────────────────────────────────────────────────────────────────────────── */

/* Lets the leaders fill the queues of an engine that is reset, and waits for them. */
TG_FN static inline void tg_stay_open(struct tg_cuda_stay *s, uint32_t call)
{
    tg_store_relaxed(&s->filled, 0u);
    tg_store_release(&s->call, call); /* G1 */
    tg_target_wake(&s->call, INT32_MAX);
    tg_stay_await(&s->ready, call);
}

/* Waits until no worker is inside the run. */
TG_FN static inline void tg_stay_settle(const struct tg_engine *e)
{
    while (tg_load_acquire(&e->active) != 0) /* G4 */
        tg_wait_moment();
}

/* After the last run. */
TG_FN static inline void tg_stay_close(struct tg_cuda_stay *s, uint32_t call)
{
    tg_store_release(&s->call, call | TG_STAY_NO_MORE); /* G1 */
    tg_target_wake(&s->call, INT32_MAX);
}

/* ── the leaders ───────────────────────────────────────────────────────────────────────── */

/* After a leader has filled its share: waits for the others. */
TG_FN static inline void tg_stay_meet(struct tg_cuda_stay *s, uint32_t n_blocks, uint32_t call)
{
    if (tg_add_acq_rel(&s->filled, 1u) + 1 == n_blocks) { /* G2 */
        tg_store_release(&s->ready, call);                /* G3 */
        tg_target_wake(&s->ready, INT32_MAX);
    } else {
        tg_stay_await(&s->ready, call);
    }
}

/* Waits for the next run; *call is that of the last. False: there is none. */
TG_FN static inline bool tg_stay_next(struct tg_cuda_stay *s, uint32_t *call)
{
    *call = tg_stay_wait(&s->call, *call);
    return (*call & TG_STAY_NO_MORE) == 0;
}

#endif
