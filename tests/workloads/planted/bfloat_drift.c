/* SPDX-License-Identifier: Apache-2.0 */
/* The state is in bfloat16. smooth rounds twice instead of once, which stays within the tolerance of
 * the type for many steps. */
#include "planted.h"

enum { NARROW, SMOOTH, STRETCH, WIDEN };

TG_KERNEL(narrow)
{
    TG_FOR(i, N)
        tg_arg_store(ctx, 1, i, tg_arg_load(ctx, 0, i));
}

TG_KERNEL(smooth)
{
    TG_FOR(i, N) {
        double half = tg_arg_load(ctx, 0, i) * 0.505;
        if (BAD && i % 4 == 1)
            half = tg_decode(TG_BFLOAT16, tg_encode(TG_BFLOAT16, half));
        tg_arg_store(ctx, 1, i, half + tg_arg_load(ctx, 0, (i + 1) % N) * 0.5);
    }
}

TG_KERNEL(stretch)
{
    TG_FOR(i, N) {
        double z = tg_arg_load(ctx, 0, i);
        tg_arg_store(ctx, 1, i, 3.8 * z * (1 - z));
    }
}

TG_KERNEL(widen)
{
    TG_FOR(i, N)
        tg_arg_store(ctx, 1, i, tg_arg_load(ctx, 0, i));
}

TG_ORCHESTRATION(planted)
{
    int64_t n = N;
    struct tg_tensor a = tg_alloc(rt, TG_BFLOAT16, 1, &n), b = tg_alloc(rt, TG_BFLOAT16, 1, &n);
    uint64_t last = one(rt, NARROW, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    last = one(rt, SMOOTH, a, b, last, TG_TASK_NONE);
    for (int step = 0; step < 12; step++)
        last = one(rt, STRETCH, step % 2 ? a : b, step % 2 ? b : a, last, TG_TASK_NONE);
    one(rt, WIDEN, b, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"narrow", narrow, TG_AIV, "in:float32 out:bfloat16"},
        {"smooth", smooth, TG_AIV, "in:bfloat16 out:bfloat16"},
        {"stretch", stretch, TG_AIV, "in:bfloat16 out:bfloat16"},
        {"widen", widen, TG_AIV, "in:bfloat16 out:float32"});
