/* SPDX-License-Identifier: Apache-2.0 */
/* Two tasks write the right values to each other's half of a tensor that a third one reads. */
#include "planted.h"

enum { HALF, SUM };
FROM_ONE(half, 3 * a[i])
FROM_TWO(sum, a[i] + b[i])

TG_ORCHESTRATION(planted)
{
    struct tg_tensor x = args->tensor[X], a = vector(rt);
    struct tg_tensor low = tg_tensor_slice(a, 0, 0, N / 2, 1);
    struct tg_tensor high = tg_tensor_slice(a, 0, N / 2, N, 1);
    uint64_t first = one(rt, HALF, tg_tensor_slice(x, 0, 0, N / 2, 1), BAD ? high : low,
                         TG_TASK_NONE, TG_TASK_NONE);
    uint64_t second = one(rt, HALF, tg_tensor_slice(x, 0, N / 2, N, 1), BAD ? low : high,
                          TG_TASK_NONE, TG_TASK_NONE);
    two(rt, SUM, a, args->tensor[Y], row_of(args, 0), first, second);
}
PLANTED({"half", half, TG_AIV, ONE_IN}, {"sum", sum, TG_AIV, TWO_IN});
