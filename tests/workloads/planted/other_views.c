/* SPDX-License-Identifier: Apache-2.0 */
/* Two of four tasks read another part of x than they should. */
#include "planted.h"

enum { SQUARE, FINISH };

FROM_ONE(square, a[i] * a[i])
FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt);
    int64_t part = N / 4;
    uint64_t last = TG_TASK_NONE;
    for (int64_t k = 0; k < 4; k++) {
        int64_t from = k * part;
        if (BAD && k == 1)
            from += 1;
        if (BAD && k == 3)
            from -= part;
        last = one(rt, SQUARE, tg_tensor_slice(args->tensor[X], 0, from, from + part, 1),
                   tg_tensor_slice(a, 0, k * part, (k + 1) * part, 1), last, TG_TASK_NONE);
    }
    one(rt, FINISH, a, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"square", square, TG_AIV, ONE_IN}, {"finish", finish, TG_AIV, ONE_IN});
