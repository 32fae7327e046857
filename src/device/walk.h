/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a worker does with all its lanes (device/target.h): it walks a list, and each lane takes the
 * entries whose number, counted from 0, is the lane's number when divided by the number of lanes. On a
 * simulated core this is a plain loop. On a GPU 32 loads, or 32 atomic operations, are on their way at
 * once, where one thread would wait for each before the next.
 *
 *     worker       tg_target_walk ─┬► the walk ─┬► continues alone, with the result
 *     other lanes  wait ───────────┴► the walk ─┴► wait
 *
 * All lanes call tg_walk with the same arguments and get the same result. Inside, what the worker itself
 * would do is done by lane 0, and lanes exchange values as in every function that asks for
 * tg_target_lanes. Everything here is inlined where a worker has one lane.
 */
#ifndef TG_DEVICE_WALK_H
#define TG_DEVICE_WALK_H

#include "device/ahead.h"
#include "device/fixed_edges.h"
#include "device/growing_edges.h"

/* The worker that is `distance` places after this one. */
TG_FN static inline uint32_t tg_walk_neighbour(const struct tg_engine *e, const struct tg_worker *w,
                                               uint32_t distance)
{
    uint32_t at = w->index + distance;
    return at >= e->n_workers ? at - e->n_workers : at;
}

/* True if there might be something in the deque; only a hint. */
TG_FN static inline bool tg_walk_sees(const struct tg_deque *deque)
{
    return tg_load_relaxed(&deque->head) != tg_load_relaxed(&deque->tail);
}

/* Every lane looks at another victim; the check before sleeping finds what this misses. */
TG_FN static inline uint32_t tg_walk_steal(struct tg_engine *e, struct tg_worker *w,
                                           uint32_t task_class)
{
    uint32_t lanes = tg_target_lanes(), task = TG_NO_TASK;
    for (uint32_t first = 1; first < e->n_workers; first += lanes) {
        uint32_t mine = first + tg_target_lane(lanes);
        uint32_t at = mine < e->n_workers ? tg_walk_neighbour(e, w, mine) : w->index;
        uint32_t bits = tg_target_ballot(lanes, at != w->index &&
                                                    tg_walk_sees(&e->worker[at].deque[task_class]));
        for (; bits != 0; bits &= bits - 1) {
            at = tg_walk_neighbour(e, w, first + tg_target_lowest_bit(bits));
            if (tg_target_lane(lanes) == 0)
                task = tg_deque_steal(&e->worker[at].deque[task_class], &w->deque[task_class]);
            task = tg_target_from_lane(lanes, task, 0);
            if (task != TG_NO_TASK)
                return task;
        }
    }
    return TG_NO_TASK;
}

TG_FN static inline bool tg_walk_loot(const struct tg_engine *e, uint32_t classes)
{
    uint32_t lanes = tg_target_lanes();
    for (uint32_t c = 0; c < TG_CLASS_MIX; c++) {
        uint32_t occupied = 0;
        for (uint32_t i = tg_target_lane(lanes); (classes & TG_TAKES(c)) && i < e->n_workers;
             i += lanes)
            occupied |= tg_walk_sees(&e->worker[i].deque[c]);
        if (tg_target_ballot(lanes, occupied != 0))
            return true;
    }
    return false;
}

TG_FN static inline uint32_t tg_walk_release(struct tg_engine *e, struct tg_worker *w,
                                             uint32_t task, enum tg_keep keep)
{
    if (TG_TARGET_NEAR(e, edges) == TG_EDGES_GROWING)
        return tg_growing_edges_release(e, w, task, keep != TG_KEEP_NONE);
    return tg_fixed_edges_release(e, w, task, keep);
}

TG_FN static inline uint32_t tg_walk(struct tg_engine *e, struct tg_worker *w,
                                     enum tg_walk_kind kind, uint32_t a, uint32_t b, uint32_t c)
{
    switch (kind) {
    case TG_WALK_RELEASE:
        return tg_walk_release(e, w, a, (enum tg_keep)b);
    case TG_WALK_FETCH:
        return tg_queue_fetch(&e->queue[a], b, c, &w->deque[a]);
    case TG_WALK_STEAL:
        return tg_walk_steal(e, w, a);
    case TG_WALK_AHEAD:
        return tg_walk_ahead(e, w, a, b);
    case TG_WALK_CLOSE:
        return tg_walk_close(e, w, a, b, c);
    default:
        return tg_walk_loot(e, a);
    }
}

#endif
