/* SPDX-License-Identifier: Apache-2.0 */
/* One task reads y where it should read x. */
#include "planted.h"

enum { SQUARE, FINISH };

FROM_ONE(square, a[i] * a[i])
FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    for (int step = 0; step < 3; step++) {
        struct tg_tensor a = vector(rt);
        bool use_y = step == 2 || (BAD && step == 1);
        uint64_t last = one(rt, SQUARE, use_y ? args->tensor[Y] : args->tensor[X], a, TG_TASK_NONE,
                            TG_TASK_NONE);
        one(rt, FINISH, a, row_of(args, step), last, TG_TASK_NONE);
    }
}

PLANTED({"square", square, TG_AIV, ONE_IN}, {"finish", finish, TG_AIV, ONE_IN});
