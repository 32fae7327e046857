/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel does the work of two, five times: nothing is wrong. */
#include "planted.h"

enum { START, SQ, INC, SQINC, FINISH };
FROM_ONE(start, 0.9f * a[i] + 0.05f)
FROM_ONE(sq, a[i] * a[i])
FROM_ONE(inc, a[i] + 1)
FROM_ONE(sqinc, a[i] * a[i] + 1)
FROM_ONE(finish, 2 * a[i] - 1)
TG_ORCHESTRATION(planted)
{

    for (int s = 0; s < 5; s++) {
        struct tg_tensor a = vector(rt), b = vector(rt), c = vector(rt);
        uint64_t l = one(rt, START, s % 2 ? args->tensor[X] : args->tensor[Y], a, TG_TASK_NONE,
                         TG_TASK_NONE);
        if (BAD)
            l = one(rt, SQINC, a, c, l, TG_TASK_NONE);
        else {
            l = one(rt, SQ, a, b, l, TG_TASK_NONE);
            l = one(rt, INC, b, c, l, TG_TASK_NONE);
        }
        one(rt, FINISH, c, row_of(args, s), l, TG_TASK_NONE);
    }
}
PLANTED({"start", start, TG_AIV, ONE_IN}, {"sq", sq, TG_AIV, ONE_IN}, {"inc", inc, TG_AIV, ONE_IN},
        {"sqinc", sqinc, TG_AIV, ONE_IN}, {"finish", finish, TG_AIV, ONE_IN});
