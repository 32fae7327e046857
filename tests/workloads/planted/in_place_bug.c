/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor is changed in place six times; the fourth task forgets an element. */
#include "planted.h"

enum { START, RAISE, FINISH };

FROM_ONE(start, 0.9f * a[i] + 0.05f)

TG_KERNEL(raise_by)
{
    float *a = TG_ARG(ctx, 0, float);
    int64_t step = tg_arg_i64(ctx, 0);
    TG_FOR(i, N)
        a[i] += BAD && step == 3 && i == 17 ? 0 : 0.5f;
}

FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt);
    uint64_t last = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    for (int64_t step = 0; step < 6; step++) {
        struct tg_args task;
        tg_args_init(&task);
        tg_args_inout(&task, a);
        tg_args_i64(&task, step);
        tg_args_after(&task, last);
        last = tg_submit(rt, RAISE, &task);
    }
    one(rt, FINISH, a, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"start", start, TG_AIV, ONE_IN},
        {"raise_by", raise_by, TG_AIV, "inout:float32 scalar:int64"},
        {"finish", finish, TG_AIV, ONE_IN});
