/* SPDX-License-Identifier: Apache-2.0 */
/* A task gets its two inputs in the wrong order. */
#include "planted.h"

enum { LEFT, RIGHT, SUBTRACT, FINISH };

FROM_ONE(left, a[i] * 0.5f)
FROM_ONE(right, a[i] * 0.25f)
FROM_TWO(subtract, a[i] - b[i])
FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt), b = vector(rt), c = vector(rt);
    uint64_t p = one(rt, LEFT, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    uint64_t q = one(rt, RIGHT, args->tensor[Y], b, TG_TASK_NONE, TG_TASK_NONE);
    p = two(rt, SUBTRACT, BAD ? b : a, BAD ? a : b, c, p, q);
    one(rt, FINISH, c, row_of(args, 0), p, TG_TASK_NONE);
}

PLANTED({"left", left, TG_AIV, ONE_IN}, {"right", right, TG_AIV, ONE_IN},
        {"subtract", subtract, TG_AIV, TWO_IN}, {"finish", finish, TG_AIV, ONE_IN});
