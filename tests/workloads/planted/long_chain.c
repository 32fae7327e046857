/* SPDX-License-Identifier: Apache-2.0 */
/* A chain of 300 tasks in place, of which the 151st is wrong. */
#include "planted.h"

enum { SHIFT, START, FINISH };

TG_KERNEL(shift)
{
    float *a = TG_ARG(ctx, 0, float);
    int64_t step = tg_arg_i64(ctx, 0);
    TG_FOR(i, N)
        a[i] = a[i] * 0.999f + (BAD && step == 150 && i == 8 ? 0.5f : 0.001f);
}

FROM_ONE(start, 0.9f * a[i] + 0.05f)
FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt);
    uint64_t last = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    for (int64_t step = 0; step < 300; step++) {
        struct tg_args task;
        tg_args_init(&task);
        tg_args_inout(&task, a);
        tg_args_i64(&task, step);
        tg_args_after(&task, last);
        last = tg_submit(rt, SHIFT, &task);
    }
    one(rt, FINISH, a, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"shift", shift, TG_AIV, "inout:float32 scalar:int64"}, {"start", start, TG_AIV, ONE_IN},
        {"finish", finish, TG_AIV, ONE_IN});
