/* SPDX-License-Identifier: Apache-2.0 */
#include "rings.h"

TG_KERNEL(rings_set)
{
    int64_t *to = TG_ARG(ctx, 0, int64_t);
    TG_FOR(i, tg_arg_numel(ctx, 0))
        to[i] = tg_arg_i64(ctx, 0) + i;
}

/* If a task has overwritten part of the input, the result shows it. */
TG_KERNEL(rings_take)
{
    const int64_t *from = TG_ARG(ctx, 0, const int64_t);
    TG_FOR(once, 1) {
        int64_t first = from[0];
        for (int64_t i = 0; i < tg_arg_numel(ctx, 0); i++)
            if (from[i] != first + i)
                first = -1;
        *TG_ARG(ctx, 1, int64_t) = first;
    }
}

TG_KERNEL(rings_add)
{
    TG_FOR(once, 1)
        *TG_ARG(ctx, 0, int64_t) += tg_arg_i64(ctx, 0);
}

TG_KERNEL(rings_next)
{
    TG_FOR(once, 1)
        *TG_ARG(ctx, 1, int64_t) = *TG_ARG(ctx, 0, const int64_t) + tg_arg_i64(ctx, 0);
}

TG_KERNEL(rings_sum)
{
    TG_FOR(once, 1) {
        int64_t sum = tg_arg_i64(ctx, 0);
        for (uint32_t i = 0; i + 1 < ctx->n_tensors; i++)
            sum += *TG_ARG(ctx, i, const int64_t);
        *TG_ARG(ctx, ctx->n_tensors - 1, int64_t) = sum;
    }
}

TG_KERNEL(rings_wait)
{
    TG_FOR(once, 1) {
        rings_sleep(tg_arg_i64(ctx, 1));
        *TG_ARG(ctx, 0, int64_t) += tg_arg_i64(ctx, 0);
    }
}

TG_KERNEL(rings_crash)
{
    (void)ctx;
    rings_abort();
}

/* Never returns, because no other task writes there. */
TG_KERNEL(rings_spin)
{
    const volatile int64_t *value = TG_ARG(ctx, 0, const volatile int64_t);
    while (*value >= 0) {
    }
}
