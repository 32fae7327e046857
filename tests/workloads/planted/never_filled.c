/* SPDX-License-Identifier: Apache-2.0 */
/* The bad graph forgets the task that clears a sum. */
#include "planted.h"

enum { CLEAR, ADD_TO, FINISH };

FROM_ONE(clear, 0 * a[i] + 7)

TG_KERNEL(add_to)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *sum = TG_ARG(ctx, 1, float);
    TG_FOR(i, N)
        sum[i] += a[i];
}

FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor sum = vector(rt);
    uint64_t last = TG_TASK_NONE;
    if (!BAD)
        last = one(rt, CLEAR, args->tensor[X], sum, TG_TASK_NONE, TG_TASK_NONE);
    for (int k = 0; k < 3; k++) {
        struct tg_args task;
        tg_args_init(&task);
        tg_args_in(&task, k % 2 ? args->tensor[X] : args->tensor[Y]);
        tg_args_inout(&task, sum);
        tg_args_after(&task, last);
        last = tg_submit(rt, ADD_TO, &task);
    }
    one(rt, FINISH, sum, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"clear", clear, TG_AIV, ONE_IN}, {"add_to", add_to, TG_AIV, "in:float32 inout:float32"},
        {"finish", finish, TG_AIV, ONE_IN});
