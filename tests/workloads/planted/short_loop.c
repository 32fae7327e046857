/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of the bad graph ends one step too early. */
#include "planted.h"

enum { START, FINISH };

FROM_ONE(start, 0.9f * a[i] + 0.05f)
FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    int steps = BAD ? 4 : 5;
    for (int step = 0; step < steps; step++) {
        struct tg_tensor a = vector(rt);
        uint64_t last = one(rt, START, step % 2 ? args->tensor[Y] : args->tensor[X], a,
                            TG_TASK_NONE, TG_TASK_NONE);
        one(rt, FINISH, a, row_of(args, step), last, TG_TASK_NONE);
    }
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"finish", finish, TG_AIV, ONE_IN});
