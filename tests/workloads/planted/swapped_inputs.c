/* SPDX-License-Identifier: Apache-2.0 */
/* A task gets its two inputs in the wrong order. */
#include "planted.h"

enum { LEFT, RIGHT, SUBTRACT, FINISH };

TG_KERNEL(left)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    TG_FOR(i, tg_arg_numel(ctx, 1))
        b[i] = a[i] * 0.5f;
}

TG_KERNEL(right)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    TG_FOR(i, tg_arg_numel(ctx, 1))
        b[i] = a[i] * 0.25f;
}

TG_KERNEL(subtract)
{
    const float *a = TG_ARG(ctx, 0, const float), *b = TG_ARG(ctx, 1, const float);
    float *c = TG_ARG(ctx, 2, float);
    TG_FOR(i, tg_arg_numel(ctx, 2))
        c[i] = a[i] - b[i];
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
    struct tg_tensor a = vector(rt), b = vector(rt), c = vector(rt);
    uint64_t p = one(rt, LEFT, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    uint64_t q = one(rt, RIGHT, args->tensor[Y], b, TG_TASK_NONE, TG_TASK_NONE);
    p = two(rt, SUBTRACT, BAD ? b : a, BAD ? a : b, c, p, q);
    one(rt, FINISH, c, row_of(args, 0), p, TG_TASK_NONE);
}

PLANTED({"left", left, TG_AIV, ONE_IN}, {"right", right, TG_AIV, ONE_IN},
        {"subtract", subtract, TG_AIV, TWO_IN}, {"finish", finish, TG_AIV, ONE_IN});
