/* SPDX-License-Identifier: Apache-2.0 */
/* The bad graph lacks a task that changes a tensor in place. */
#include "planted.h"

enum { START, NORMALIZE, FINISH };

FROM_ONE(start, 0.9f * a[i] + 0.05f)
IN_PLACE(normalize, a[i] / 1.5f)
FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt);
    uint64_t last = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    if (!BAD)
        last = change(rt, NORMALIZE, a, last);
    one(rt, FINISH, a, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"normalize", normalize, TG_AIV, "inout:float32"},
        {"finish", finish, TG_AIV, ONE_IN});
