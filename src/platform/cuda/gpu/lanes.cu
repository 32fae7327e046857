/* SPDX-License-Identifier: Apache-2.0 */
/* The lanes of a worker: see lanes.h. */
#include "device/target.h"
#include "device/walk.h"

TG_FN uint32_t tg_lanes_alone(struct tg_engine *e, struct tg_worker *w, enum tg_walk_kind kind,
                              uint32_t a, uint32_t b, uint32_t c)
{
    return tg_walk(e, w, kind, a, b, c);
}

/* A walk of its own saves the registers that it needs, and not those of all walks: in memory whose cache each
 * acquire empties. */
TG_FN static TG_APART uint32_t walk_otherwise(struct tg_engine *e)
{
    const struct tg_lanes *lanes = &tg_orders()->lanes;
    return tg_walk(e, lanes->worker, (enum tg_walk_kind)lanes->kind, lanes->a, lanes->b, lanes->c);
}

/* What no walk returns: the leader has dismissed the other lanes. */
#define DISMISSED (TG_NO_TASK - 1)

/* Not inlined, so that all lanes meet at the same instructions. */
TG_FN TG_APART uint32_t tg_lanes_walk(struct tg_engine *e)
{
    uint32_t result = 0;
    __syncwarp();
    switch (tg_orders()->lanes.kind) {
    case TG_WALK_RUN:
        return tg_orders()->near.edges == TG_EDGES_FIXED ? tg_chain_walk(e) : tg_chain_walk_fed(e);
    case TG_LANES_HASH:
        tg_short_hash();
        break;
    case TG_LANES_STORE:
        tg_short_store();
        break;
    case TG_WALK_END:
        result = DISMISSED;
        break;
    default:
        result = walk_otherwise(e);
    }
    __syncwarp(); /* none is in it any more */
    return result;
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
    near->n_deps = e->n_deps;
    near->claims = 0;
    near->mixes = e->mixes;
    near->chains = tg_chain_is_possible(e);
    near->kept = TG_NO_TASK;
    near->stream.head = 0; /* not open */
    for (uint32_t i = 0; i < TG_NEAR_KERNELS; i++)
        near->number[i] = TG_NO_KERNEL;
    for (uint32_t i = 0; i < 2; i++) { /* no other call changes this part */
        struct tg_target_order *order = &tg_orders()->call[i];
        tg_core_begin_ctx(&order->ctx, order->tensor, e, near->seat);
        order->status = near->seat.status;
    }
}

TG_FN void tg_lanes_help(struct tg_engine *e)
{
    while (tg_lanes_walk(e) != DISMISSED)
        ;
}

TG_FN void tg_lanes_dismiss(struct tg_engine *e)
{
    tg_orders()->lanes.kind = TG_WALK_END;
    tg_lanes_walk(e);
}
