/* SPDX-License-Identifier: Apache-2.0 */
/* Two tasks of different branches are wrong. The task that joins the branches is not. */
#include "planted.h"

enum { LEFT, RIGHT, JOIN, FINISH };

TG_KERNEL(left)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    TG_FOR(i, tg_arg_numel(ctx, 1))
        b[i] = a[i] * 0.5f + (BAD && i == 3 ? 1 : 0);
}

TG_KERNEL(right)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    TG_FOR(i, tg_arg_numel(ctx, 1))
        b[i] = a[i] * 0.25f - (BAD && i == 60 ? 1 : 0);
}

TG_KERNEL(join)
{
    const float *a = TG_ARG(ctx, 0, const float), *b = TG_ARG(ctx, 1, const float);
    float *c = TG_ARG(ctx, 2, float);
    TG_FOR(i, tg_arg_numel(ctx, 2))
        c[i] = a[i] + b[i];
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
    p = two(rt, JOIN, a, b, c, p, q);
    one(rt, FINISH, c, row_of(args, 0), p, TG_TASK_NONE);
}

PLANTED({"left", left, TG_AIV, ONE_IN}, {"right", right, TG_AIV, ONE_IN},
        {"join", join, TG_AIV, TWO_IN}, {"finish", finish, TG_AIV, ONE_IN});
