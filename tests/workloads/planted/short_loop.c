/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of the bad graph ends one step too early. */
#include "planted.h"

enum { START, FINISH };

TG_KERNEL(start)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    TG_FOR(i, tg_arg_numel(ctx, 1))
        b[i] = 0.9f * a[i] + 0.05f;
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
    int steps = BAD ? 4 : 5;
    for (int step = 0; step < steps; step++) {
        struct tg_tensor a = vector(rt);
        uint64_t last = one(rt, START, step % 2 ? args->tensor[Y] : args->tensor[X], a,
                            TG_TASK_NONE, TG_TASK_NONE);
        one(rt, FINISH, a, row_of(args, step), last, TG_TASK_NONE);
    }
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"finish", finish, TG_AIV, ONE_IN});
