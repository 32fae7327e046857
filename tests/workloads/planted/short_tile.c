/* SPDX-License-Identifier: Apache-2.0 */
/* One task works on 15 elements instead of 16. */
#include "planted.h"

enum { START, SQUARE, FINISH };

FROM_ONE(start, 0.9f * a[i] + 0.05f)
FROM_ONE(square, a[i] * a[i])
FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt);
    int64_t part = N / 4;
    uint64_t last = one(rt, START, args->tensor[Y], a, TG_TASK_NONE, TG_TASK_NONE);
    for (int64_t k = 0; k < 4; k++) {
        int64_t from = k * part, to = from + part - (BAD && k == 2);
        last = one(rt, SQUARE, tg_tensor_slice(args->tensor[X], 0, from, to, 1),
                   tg_tensor_slice(a, 0, from, to, 1), last, TG_TASK_NONE);
    }
    one(rt, FINISH, a, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"square", square, TG_AIV, ONE_IN},
        {"finish", finish, TG_AIV, ONE_IN});
