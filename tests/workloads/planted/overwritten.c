/* SPDX-License-Identifier: Apache-2.0 */
/* overwrite should wait until combine has read a, which a slow task holds up. In the bad graph it
 * waits only for the task that made a. */
#include "planted.h"

enum { START, SLOW, COMBINE, OVERWRITE, FINISH };

FROM_ONE(start, 0.9f * a[i] + 0.05f)

TG_KERNEL(slow)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    linger();
    TG_FOR(i, N)
        b[i] = a[i];
}

FROM_TWO(combine, a[i] - b[i])
FROM_ONE(overwrite, 3 * a[i])
FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt), b = vector(rt), c = vector(rt);
    uint64_t made = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    uint64_t slow_one = one(rt, SLOW, args->tensor[Y], b, TG_TASK_NONE, TG_TASK_NONE);
    uint64_t combined = two(rt, COMBINE, a, b, c, made, slow_one), over;
    over = one(rt, OVERWRITE, args->tensor[Y], a, BAD ? made : combined, TG_TASK_NONE);
    one(rt, FINISH, c, row_of(args, 0), combined, TG_TASK_NONE);
    one(rt, FINISH, a, row_of(args, 1), over, TG_TASK_NONE);
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"slow", slow, TG_AIV, ONE_IN},
        {"combine", combine, TG_AIV, TWO_IN}, {"overwrite", overwrite, TG_AIV, ONE_IN},
        {"finish", finish, TG_AIV, ONE_IN});
