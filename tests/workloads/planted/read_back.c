/* SPDX-License-Identifier: Apache-2.0 */
/* The orchestration reads how many steps to do. The bad kernel counts one too many. */
#include "planted.h"

enum { MEASURE, START, NORMALIZE, FINISH };

TG_KERNEL(measure)
{
    int64_t *steps = TG_ARG(ctx, 1, int64_t);
    TG_FOR(once, 1)
        steps[once] = 3 + BAD;
}

FROM_ONE(start, 0.9f * a[i] + 0.05f)
IN_PLACE(normalize, a[i] / 1.5f)
FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    int64_t single = 1, count;
    struct tg_tensor steps = tg_alloc(rt, TG_INT64, 1, &single), a = vector(rt);
    uint64_t measured = one(rt, MEASURE, args->tensor[X], steps, TG_TASK_NONE, TG_TASK_NONE), last;
    count = tg_read_i64(rt, steps, measured);
    last = one(rt, START, args->tensor[Y], a, TG_TASK_NONE, TG_TASK_NONE);
    for (int64_t k = 0; k < count; k++)
        last = change(rt, NORMALIZE, a, last);
    one(rt, FINISH, a, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"measure", measure, TG_AIV, "in:float32 out:int64"}, {"start", start, TG_AIV, ONE_IN},
        {"normalize", normalize, TG_AIV, "inout:float32"}, {"finish", finish, TG_AIV, ONE_IN});
