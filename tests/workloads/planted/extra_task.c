/* SPDX-License-Identifier: Apache-2.0 */
/* The bad graph changes a tensor in place once more. */
#include "planted.h"

enum { START, NORMALIZE, FINISH };

TG_KERNEL(start)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    TG_FOR(i, tg_arg_numel(ctx, 1))
        b[i] = 0.9f * a[i] + 0.05f;
}

TG_KERNEL(normalize)
{
    float *a = TG_ARG(ctx, 0, float);
    TG_FOR(i, tg_arg_numel(ctx, 0))
        a[i] = a[i] / 1.5f;
}

TG_KERNEL(finish)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    TG_FOR(i, tg_arg_numel(ctx, 1))
        b[i] = 2 * a[i] - 1;
}

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt);
    uint64_t last = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    last = change(rt, NORMALIZE, a, last);
    if (BAD)
        last = change(rt, NORMALIZE, a, last);
    one(rt, FINISH, a, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"normalize", normalize, TG_AIV, "inout:float32"},
        {"finish", finish, TG_AIV, ONE_IN});
