/* SPDX-License-Identifier: Apache-2.0 */
/* The last task of the bad graph writes its result, which is right, into the wrong row. */
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
    for (int step = 0; step < 3; step++) {
        struct tg_tensor a = vector(rt);
        uint64_t last = one(rt, START, step == 1 ? args->tensor[Y] : args->tensor[X], a,
                            TG_TASK_NONE, TG_TASK_NONE);
        one(rt, FINISH, a, row_of(args, BAD && step == 2 ? 5 : step), last, TG_TASK_NONE);
    }
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"finish", finish, TG_AIV, ONE_IN});
