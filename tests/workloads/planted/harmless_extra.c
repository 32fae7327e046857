/* SPDX-License-Identifier: Apache-2.0 */
/* The bad graph has a task whose result no other task reads: no data is wrong. */
#include "planted.h"

enum { START, COPY, FINISH };

FROM_ONE(start, 0.9f * a[i] + 0.05f)
FROM_ONE(copy, a[i])
FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt), b = vector(rt);
    uint64_t last = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    if (BAD)
        one(rt, COPY, a, b, last, TG_TASK_NONE);
    one(rt, FINISH, a, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"copy", copy, TG_AIV, ONE_IN},
        {"finish", finish, TG_AIV, ONE_IN});
