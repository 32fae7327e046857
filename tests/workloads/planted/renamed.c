/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel has another name: nothing is wrong. */
#include "planted.h"

#if BAD
#define RENAMED "_v2"
#else
#define RENAMED ""
#endif
enum { START, MIDDLE, FINISH };

TG_KERNEL(start)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    TG_FOR(i, tg_arg_numel(ctx, 1))
        b[i] = 0.9f * a[i] + 0.05f;
}

TG_KERNEL(middle)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    TG_FOR(i, tg_arg_numel(ctx, 1))
        b[i] = a[i] * a[i] + 0.25f;
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
    struct tg_tensor a = vector(rt), b = vector(rt);
    uint64_t last = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    last = one(rt, MIDDLE, a, b, last, TG_TASK_NONE);
    one(rt, FINISH, b, row_of(args, 0), last, TG_TASK_NONE);
    one(rt, FINISH, a, row_of(args, 1), last, TG_TASK_NONE);
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"middle" RENAMED "", middle, TG_AIV, ONE_IN},
        {"finish", finish, TG_AIV, ONE_IN});
