/* SPDX-License-Identifier: Apache-2.0 */
/* Two kernels do the work that one did, and the first of them is wrong. */
#include "planted.h"

enum { START, BOTH, PLUS_ONE, TIMES_THREE, FINISH };

FROM_ONE(start, 0.9f * a[i] + 0.05f)
FROM_ONE(both, (a[i] + 1) * 3)
FROM_ONE(plus_one, a[i] + (BAD && i == 12 ? 2 : 1))
FROM_ONE(times_three, a[i] * 3)
FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt), t = vector(rt), b = vector(rt);
    uint64_t last = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    if (BAD) {
        last = one(rt, PLUS_ONE, a, t, last, TG_TASK_NONE);
        last = one(rt, TIMES_THREE, t, b, last, TG_TASK_NONE);
    } else {
        last = one(rt, BOTH, a, b, last, TG_TASK_NONE);
    }
    one(rt, FINISH, b, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"both", both, TG_AIV, ONE_IN},
        {"plus_one", plus_one, TG_AIV, ONE_IN}, {"times_three", times_three, TG_AIV, ONE_IN},
        {"finish", finish, TG_AIV, ONE_IN});
