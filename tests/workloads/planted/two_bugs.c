/* SPDX-License-Identifier: Apache-2.0 */
/* Two tasks of different branches are wrong. The task that joins the branches is not. */
#include "planted.h"

enum { LEFT, RIGHT, JOIN, FINISH };

FROM_ONE(left, a[i] * 0.5f + (BAD && i == 3 ? 1 : 0))
FROM_ONE(right, a[i] * 0.25f - (BAD && i == 60 ? 1 : 0))
FROM_TWO(join, a[i] + b[i])
FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt), b = vector(rt), c = vector(rt);
    uint64_t p = one(rt, LEFT, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    uint64_t q = one(rt, RIGHT, args->tensor[Y], b, TG_TASK_NONE, TG_TASK_NONE);
    p = two(rt, JOIN, a, b, c, p, q);
    one(rt, FINISH, c, row_of(args, 0), p, TG_TASK_NONE);
}

PLANTED({"left", left, TG_AIV, ONE_IN}, {"right", right, TG_AIV, ONE_IN},
        {"join", join, TG_AIV, TWO_IN}, {"finish", finish, TG_AIV, ONE_IN});
