/* SPDX-License-Identifier: Apache-2.0 */
/* The orchestration submits another kernel for one of the tasks. */
#include "planted.h"

enum { START, PLUS, MINUS, FINISH };

TG_KERNEL(start)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    TG_FOR(i, tg_arg_numel(ctx, 1))
        b[i] = 0.9f * a[i] + 0.05f;
}

TG_KERNEL(plus)
{
    const float *a = TG_ARG(ctx, 0, const float), *b = TG_ARG(ctx, 1, const float);
    float *c = TG_ARG(ctx, 2, float);
    TG_FOR(i, tg_arg_numel(ctx, 2))
        c[i] = a[i] + b[i];
}

TG_KERNEL(minus)
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
    uint64_t last = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    last = two(rt, PLUS, a, args->tensor[Y], b, last, TG_TASK_NONE);
    last = two(rt, BAD ? PLUS : MINUS, b, args->tensor[X], c, last, TG_TASK_NONE);
    last = two(rt, MINUS, c, a, row_of(args, 1), last, TG_TASK_NONE);
    one(rt, FINISH, c, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"plus", plus, TG_AIV, TWO_IN},
        {"minus", minus, TG_AIV, TWO_IN}, {"finish", finish, TG_AIV, ONE_IN});
