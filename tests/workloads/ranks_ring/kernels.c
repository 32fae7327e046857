/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks_ring.h"

/* Keeps its core busy for this many nanoseconds, then adds one to each element; or crashes: the second
 * number is an address then. */
TG_KERNEL(ring_work)
{
    int64_t *x = TG_ARG(ctx, 0, int64_t);
    TG_FOR(once, 1) {
        int64_t end = ring_now() + tg_arg_i64(ctx, 0);
        while (ring_now() < end) {
        }
        if (tg_arg_i64(ctx, 1) != 0)
            *(volatile int *)(uintptr_t)tg_arg_i64(ctx, 1) = 1;
    }
    TG_FOR(i, tg_arg_numel(ctx, 0))
        x[i] += 1;
}

TG_KERNEL(ring_take)
{
    int64_t *x = TG_ARG(ctx, 0, int64_t);
    const int64_t *got = TG_ARG(ctx, 1, const int64_t);
    TG_FOR(i, tg_arg_numel(ctx, 0))
        x[i] = got[i];
}
