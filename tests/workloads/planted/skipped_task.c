/* SPDX-License-Identifier: Apache-2.0 */
/* The bad graph leaves the middle of a chain out and connects its neighbours. */
#include "planted.h"

enum { START, MIDDLE, FINISH };

FROM_ONE(start, 0.9f * a[i] + 0.05f)
FROM_ONE(middle, a[i] * a[i] + 0.25f)
FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt), b = vector(rt);
    uint64_t last = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    if (!BAD)
        last = one(rt, MIDDLE, a, b, last, TG_TASK_NONE);
    one(rt, FINISH, BAD ? a : b, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"middle", middle, TG_AIV, ONE_IN},
        {"finish", finish, TG_AIV, ONE_IN});
