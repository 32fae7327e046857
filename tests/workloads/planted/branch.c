/* SPDX-License-Identifier: Apache-2.0 */
/* The orchestration reads a value to choose between two kernels. The bad kernel computes a wrong
 * value; the kernel that is chosen is right. */
#include "planted.h"

enum { MEASURE, START, LEFT, RIGHT, FINISH };
TG_KERNEL(measure)
{
    TG_FOR(o, 1)
        TG_ARG(ctx, 1, float)[o] = BAD ? 2.0f : 0.5f;
}

FROM_ONE(start, 0.9f * a[i] + 0.05f)
FROM_ONE(left, a[i] + 1)
FROM_ONE(right, a[i] - 1)
FROM_ONE(finish, 2 * a[i] - 1)
TG_ORCHESTRATION(planted)
{

    int64_t one_ = 1;
    struct tg_tensor m = tg_alloc(rt, TG_FLOAT32, 1, &one_), a = vector(rt), b = vector(rt);
    uint64_t q = one(rt, MEASURE, args->tensor[X], m, TG_TASK_NONE, TG_TASK_NONE),
             l = one(rt, START, args->tensor[Y], a, TG_TASK_NONE, TG_TASK_NONE);
    l = one(rt, tg_read_real(rt, m, q) > 1 ? LEFT : RIGHT, a, b, l, TG_TASK_NONE);
    one(rt, FINISH, b, row_of(args, 0), l, TG_TASK_NONE);
}
PLANTED({"measure", measure, TG_AIV, ONE_IN}, {"start", start, TG_AIV, ONE_IN},
        {"left", left, TG_AIV, ONE_IN}, {"right", right, TG_AIV, ONE_IN},
        {"finish", finish, TG_AIV, ONE_IN});
