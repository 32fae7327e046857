/* SPDX-License-Identifier: Apache-2.0 */
/* One task of the bad graph is given the buffer of another one to write. */
#include "planted.h"

enum { SQUARE, CUBE, FINISH };

FROM_ONE(square, a[i] * a[i])
FROM_ONE(cube, a[i] * a[i] * a[i])
FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt), b = vector(rt);
    struct tg_tensor to = BAD ? a : b;
    uint64_t first = one(rt, SQUARE, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    uint64_t second = one(rt, CUBE, args->tensor[Y], to, first, TG_TASK_NONE);
    uint64_t last = one(rt, FINISH, a, row_of(args, 0), first, second);
    one(rt, FINISH, to, row_of(args, 1), second, last);
}

PLANTED({"square", square, TG_AIV, ONE_IN}, {"cube", cube, TG_AIV, ONE_IN},
        {"finish", finish, TG_AIV, ONE_IN});
