/* SPDX-License-Identifier: Apache-2.0 */
/* Two tasks write the same tensor. In the bad graph neither waits for the other, and the one that
 * should be first is slow. */
#include "planted.h"

enum { SLOW_FILL, FILL, FINISH };

TG_KERNEL(slow_fill)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    linger();
    TG_FOR(i, N)
        b[i] = a[i];
}

FROM_ONE(fill, -a[i])
FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt);
    uint64_t slow = one(rt, SLOW_FILL, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    uint64_t fast = one(rt, FILL, args->tensor[Y], a, BAD ? TG_TASK_NONE : slow, TG_TASK_NONE);
    one(rt, FINISH, a, row_of(args, 0), slow, fast);
}

PLANTED({"slow_fill", slow_fill, TG_AIV, ONE_IN}, {"fill", fill, TG_AIV, ONE_IN},
        {"finish", finish, TG_AIV, ONE_IN});
