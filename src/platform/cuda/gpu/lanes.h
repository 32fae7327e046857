/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lanes of a GPU's worker: the leader, which is lane 0, and the 31 other threads of its warp. Only
 * target_impl.h includes this.
 *
 *     leader        …alone… ──order──┐ meet ─► tg_walk ─► meet …alone…
 *     other lanes            waiting ┘ meet ─► tg_walk ─► meet, waiting
 *
 * Any other thread that runs the device program is alone: it walks as a plain loop.
 */
#ifndef TG_CUDA_GPU_LANES_H
#define TG_CUDA_GPU_LANES_H

/* tg_walk by a thread that is alone. */
TG_FN uint32_t tg_lanes_alone(struct tg_engine *e, struct tg_worker *w, enum tg_walk_kind kind,
                              uint32_t a, uint32_t b, uint32_t c);
/* All lanes meet here, and make the walk that the leader has ordered. */
TG_FN uint32_t tg_lanes_walk(struct tg_engine *e);
/* The leader calls this at the start of a run. */
TG_FN void tg_lanes_begin(struct tg_engine *e, const struct tg_worker *w);
/* The other lanes call this; it returns after the leader has called tg_lanes_dismiss. */
TG_FN void tg_lanes_help(struct tg_engine *e);
TG_FN void tg_lanes_dismiss(struct tg_engine *e);

TG_FN static inline uint32_t tg_target_walk(struct tg_engine *e, struct tg_worker *w,
                                            enum tg_walk_kind kind, uint32_t a, uint32_t b,
                                            uint32_t c)
{
    struct tg_lanes *lanes = &tg_orders()->lanes;
    if (threadIdx.x != TG_BLOCK_THREADS)
        return tg_lanes_alone(e, w, kind, a, b, c);
    lanes->worker = w;
    lanes->kind = kind;
    lanes->a = a;
    lanes->b = b;
    lanes->c = c;
    lanes->walking = 1;
    a = tg_lanes_walk(e);
    lanes->walking = 0;
    return a;
}

TG_FN static inline uint32_t tg_target_lanes(void)
{
    return threadIdx.x >= TG_BLOCK_THREADS && tg_orders()->lanes.walking ? 32 : 1;
}

TG_FN static inline uint32_t tg_target_lane(uint32_t lanes)
{
    return threadIdx.x & (lanes - 1);
}

TG_FN static inline uint32_t tg_target_ballot(uint32_t lanes, bool yes)
{
    return lanes == 1 ? yes : __ballot_sync(~0u, yes);
}

TG_FN static inline uint32_t tg_target_from_lane(uint32_t lanes, uint32_t value, uint32_t lane)
{
    return lanes == 1 ? value : __shfl_sync(~0u, value, (int)lane);
}

TG_FN static inline void tg_target_meet(uint32_t lanes)
{
    if (lanes > 1)
        __syncwarp();
}

#define TG_TARGET_BUNCH(name) uint32_t *name = tg_orders()->lanes.bunch[threadIdx.x / 32]

#endif
