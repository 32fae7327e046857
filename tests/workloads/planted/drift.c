/* SPDX-License-Identifier: Apache-2.0 */
/* blend rounds in another order, which shows in the last bit. The logistic map doubles the
 * difference with every step, until it leaves the tolerance. */
#include "planted.h"

enum { START, BLEND, LOGISTIC, FINISH };

FROM_ONE(start, 0.9f * a[i] + 0.05f)

TG_KERNEL(blend)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    TG_FOR(i, N) {
        float p = 0.1f * a[i], q = 0.2f * a[i], r = 0.3f * a[i];
        b[i] = BAD ? p + (q + r) : (p + q) + r;
    }
}

FROM_ONE(logistic, 3.9f * a[i] * (1 - a[i]))
FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt), b = vector(rt), c = vector(rt);
    uint64_t last = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    last = one(rt, BLEND, a, b, last, TG_TASK_NONE);
    for (int step = 0; step < 40; step++)
        last = one(rt, LOGISTIC, step % 2 ? c : b, step % 2 ? b : c, last, TG_TASK_NONE);
    one(rt, FINISH, b, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"blend", blend, TG_AIV, ONE_IN},
        {"logistic", logistic, TG_AIV, ONE_IN}, {"finish", finish, TG_AIV, ONE_IN});
