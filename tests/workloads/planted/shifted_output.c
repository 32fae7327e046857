/* SPDX-License-Identifier: Apache-2.0 */
/* The third of four tasks writes its quarter one element too far left, over the end of the second. */
#include "planted.h"

enum { QUARTER, SUM };
FROM_ONE(quarter, 3 * a[i])
FROM_TWO(sum, a[i] + b[i])

TG_ORCHESTRATION(planted)
{
    struct tg_tensor x = args->tensor[X], a = vector(rt);
    uint64_t last = TG_TASK_NONE;
    for (int64_t i = 0; i < 4; i++) {
        int64_t from = i * N / 4, to = from - (BAD && i == 2);
        last = one(rt, QUARTER, tg_tensor_slice(x, 0, from, from + N / 4, 1),
                   tg_tensor_slice(a, 0, to, to + N / 4, 1), last, TG_TASK_NONE);
    }
    two(rt, SUM, a, args->tensor[Y], row_of(args, 0), last, TG_TASK_NONE);
}
PLANTED({"quarter", quarter, TG_AIV, ONE_IN}, {"sum", sum, TG_AIV, TWO_IN});
