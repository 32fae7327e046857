/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"
#include "ranks.h"

/* a = 3·a + b + k */
TG_KERNEL(ranks_mix)
{
    uint64_t *a = TG_ARG(ctx, 0, uint64_t);
    const uint64_t *b = TG_ARG(ctx, 1, const uint64_t);
    uint64_t k = ctx->scalar[0].bits;
    TG_FOR(i, tg_arg_numel(ctx, 0))
        a[i] = 3 * a[i] + b[i] + k;
}
