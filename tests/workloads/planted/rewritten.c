/* SPDX-License-Identifier: Apache-2.0 */
/* The same computation, written anew: another order, another name and a fused kernel. Nothing is
 * wrong. */
#include "planted.h"

enum { START, SQUARE, MINUS_ONE, SQUARE_MINUS_ONE, JOIN };

TG_KERNEL(start)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    TG_FOR(i, tg_arg_numel(ctx, 1))
        b[i] = 0.9f * a[i] + 0.05f;
}

TG_KERNEL(square)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    TG_FOR(i, tg_arg_numel(ctx, 1))
        b[i] = a[i] * a[i];
}

TG_KERNEL(minus_one)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    TG_FOR(i, tg_arg_numel(ctx, 1))
        b[i] = a[i] - 1;
}

TG_KERNEL(square_minus_one)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    TG_FOR(i, tg_arg_numel(ctx, 1))
        b[i] = a[i] * a[i] - 1;
}

TG_KERNEL(join)
{
    const float *a = TG_ARG(ctx, 0, const float), *b = TG_ARG(ctx, 1, const float);
    float *c = TG_ARG(ctx, 2, float);
    TG_FOR(i, tg_arg_numel(ctx, 2))
        c[i] = a[i] + b[i];
}

#if BAD
#define NEW "_anew"
#else
#define NEW ""
#endif

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt), b = vector(rt), s = vector(rt), t = vector(rt), u = vector(rt);
    uint64_t p, q;
    if (BAD) {
        q = one(rt, START, args->tensor[Y], b, TG_TASK_NONE, TG_TASK_NONE);
        p = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
        q = one(rt, SQUARE, b, u, q, TG_TASK_NONE);
        p = one(rt, SQUARE_MINUS_ONE, a, t, p, TG_TASK_NONE);
    } else {
        p = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
        p = one(rt, SQUARE, a, s, p, TG_TASK_NONE);
        p = one(rt, MINUS_ONE, s, t, p, TG_TASK_NONE);
        q = one(rt, START, args->tensor[Y], b, TG_TASK_NONE, TG_TASK_NONE);
        q = one(rt, SQUARE, b, u, q, TG_TASK_NONE);
    }
    two(rt, JOIN, t, u, row_of(args, 0), p, q);
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"square", square, TG_AIV, ONE_IN},
        {"minus_one", minus_one, TG_AIV, ONE_IN},
        {"square_minus_one", square_minus_one, TG_AIV, ONE_IN},
        {"join" NEW "", join, TG_AIV, TWO_IN});
