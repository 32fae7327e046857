/* SPDX-License-Identifier: Apache-2.0 */
/* The lanes of a worker: see lanes.h. */
#include "device/target.h"
#include "device/walk.h"

TG_FN uint32_t tg_lanes_alone(struct tg_engine *e, struct tg_worker *w, enum tg_walk_kind kind,
                              uint32_t a, uint32_t b, uint32_t c)
{
    return tg_walk(e, w, kind, a, b, c);
}

/* Not inlined, so that all lanes meet at the same instructions. */
TG_FN TG_APART bool tg_lanes_step(struct tg_engine *e)
{
    struct tg_lanes *lanes = &tg_orders()->lanes;
    bool walks;
    __syncwarp();
    walks = !lanes->end;
    if (walks) {
        uint32_t result =
            tg_walk(e, lanes->worker, (enum tg_walk_kind)lanes->kind, lanes->a, lanes->b, lanes->c);
        if (threadIdx.x == TG_BLOCK_THREADS)
            lanes->result = result;
    }
    __syncwarp();
    return walks;
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
    near->edges = e->edges;
    near->takes = w->takes;
    near->n_slots = e->n_slots;
    near->claims = 0;
    near->mixes = e->mixes;
    near->chains = tg_chain_is_possible(e);
    near->known = near->kept = TG_NO_TASK;
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
