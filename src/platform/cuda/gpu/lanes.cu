/* SPDX-License-Identifier: Apache-2.0 */
/* The lanes of a worker: see lanes.h. */
#include "device/target.h"
#include "device/walk.h"

TG_FN uint32_t tg_lanes_alone(struct tg_engine *e, struct tg_worker *w, enum tg_walk_kind kind,
                              uint32_t a, uint32_t b, uint32_t c)
{
    return tg_walk(e, w, kind, a, b, c);
}

/* The walks are functions of their own: one that had all of them would save registers for all of them at
 * each walk, in memory whose cache each acquire empties. */
TG_FN static TG_APART uint32_t walk_fixed(struct tg_engine *e)
{
    struct tg_lanes *lanes = &tg_orders()->lanes;
    struct tg_fixed_rest rest;
    uint32_t on =
        tg_fixed_edges_settle(e, lanes->worker, lanes->a, (enum tg_keep)lanes->b, &rest);
    if (rest.any)
        lanes->rest[threadIdx.x % 32] = rest;
    if (threadIdx.x == TG_BLOCK_THREADS)
        lanes->has_rest = rest.any;
    return on;
}

TG_FN static TG_APART void walk_rest(struct tg_engine *e)
{
    struct tg_lanes *lanes = &tg_orders()->lanes;
    tg_fixed_edges_offer(e, lanes->worker, lanes->rest[threadIdx.x % 32]);
    __syncwarp();
    if (threadIdx.x == TG_BLOCK_THREADS)
        lanes->has_rest = 0;
    __syncwarp();
}

TG_FN static TG_APART uint32_t walk_growing(struct tg_engine *e)
{
    const struct tg_lanes *lanes = &tg_orders()->lanes;
    return tg_growing_edges_release(e, lanes->worker, lanes->a, lanes->b != TG_KEEP_NONE);
}

TG_FN static TG_APART uint32_t walk_ahead(struct tg_engine *e)
{
    const struct tg_lanes *lanes = &tg_orders()->lanes;
    return tg_walk_ahead(e, lanes->worker, lanes->a, lanes->b);
}

TG_FN static TG_APART uint32_t walk_close(struct tg_engine *e)
{
    const struct tg_lanes *lanes = &tg_orders()->lanes;
    return tg_walk_close(e, lanes->worker, lanes->a, lanes->b, lanes->c);
}

TG_FN static TG_APART uint32_t walk_otherwise(struct tg_engine *e)
{
    const struct tg_lanes *lanes = &tg_orders()->lanes;
    return tg_walk(e, lanes->worker, (enum tg_walk_kind)lanes->kind, lanes->a, lanes->b, lanes->c);
}

TG_FN static inline uint32_t walk(struct tg_engine *e)
{
    const struct tg_orders *o = tg_orders();
    switch (o->lanes.kind) {
    case TG_WALK_RELEASE:
        if (o->near.edges == TG_EDGES_GROWING)
            return walk_growing(e);
        return tg_target_known(e, o->lanes.a)->n_succ <= TG_TARGET_LANES ? walk_fixed(e)
                                                                         : walk_otherwise(e);
    case TG_WALK_AHEAD:
        return walk_ahead(e);
    case TG_WALK_CLOSE:
        return walk_close(e);
    default:
        return walk_otherwise(e);
    }
}

/* Not inlined, so that all lanes meet at the same instructions. */
TG_FN TG_APART bool tg_lanes_step(struct tg_engine *e)
{
    struct tg_lanes *lanes = &tg_orders()->lanes;
    __syncwarp();
    if (lanes->end) {
        __syncwarp();
        return false;
    }
    uint32_t result = walk(e);
    if (threadIdx.x == TG_BLOCK_THREADS)
        lanes->result = result;
    __syncwarp();
    if (tg_orders()->lanes.has_rest)
        walk_rest(e);
    return true;
}

TG_FN void tg_lanes_begin(struct tg_engine *e, const struct tg_worker *w)
{
    struct tg_near *near = &tg_orders()->near;
    near->desc = e->desc;
    near->succ = e->succ;
    near->deps = e->deps;
    near->done_words = e->done_words;
    near->bag = e->bag;
    near->kernel = e->kernel;
    near->seat = {e->payload, w->status, w->index};
    near->finished = w->finished;
    near->counted = w->counted;
    near->edges = e->edges;
    near->takes = w->takes;
    near->n_slots = e->n_slots;
    near->claims = 0;
    near->mixes = e->mixes;
    near->chains = tg_chain_is_possible(e);
    near->known = near->kept = near->seen = TG_NO_TASK;
    near->side = 0;
    for (uint32_t i = 0; i < TG_NEAR_KERNELS; i++)
        near->number[i] = TG_NO_KERNEL;
    for (uint32_t i = 0; i < 2; i++) { /* no other call changes this part */
        struct tg_target_order *order = &tg_orders()->call[i];
        tg_core_begin_ctx(&order->ctx, order->tensor, e, near->seat);
    }
}

TG_FN void tg_lanes_help(struct tg_engine *e)
{
    while (tg_lanes_step(e))
        ;
}

TG_FN void tg_lanes_dismiss(struct tg_engine *e)
{
    tg_orders()->lanes.end = 1;
    tg_lanes_step(e);
    tg_orders()->lanes.end = 0;
}
