/* SPDX-License-Identifier: Apache-2.0 */
/* One task of the bad graph writes its part of a tensor over its neighbour's. */
#include "planted.h"

enum { CLEAR, SQUARE, FINISH };

FROM_ONE(clear, 0 * a[i])
FROM_ONE(square, a[i] * a[i])
FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt);
    int64_t part = N / 4;
    uint64_t last = one(rt, CLEAR, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    for (int64_t k = 0; k < 4; k++) {
        int64_t to = BAD && k == 1 ? 2 : k;
        last = one(rt, SQUARE, tg_tensor_slice(args->tensor[X], 0, k * part, (k + 1) * part, 1),
                   tg_tensor_slice(a, 0, to * part, (to + 1) * part, 1), last, TG_TASK_NONE);
    }
    one(rt, FINISH, a, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"clear", clear, TG_AIV, ONE_IN}, {"square", square, TG_AIV, ONE_IN},
        {"finish", finish, TG_AIV, ONE_IN});
