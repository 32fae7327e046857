/* SPDX-License-Identifier: Apache-2.0 */
/* tiny flushes denormals to zero, which is far below every absolute tolerance. rescale makes it
 * visible. */
#include "planted.h"

enum { TINY, TWICE, RESCALE };

TG_KERNEL(tiny)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    TG_FOR(i, N) {
        float small = (float)((double)a[i] * 1e-39);
        b[i] = BAD && small < 1.1754944e-38f ? 0 : small;
    }
}

FROM_ONE(twice, a[i] + a[i])
FROM_ONE(rescale, (float)((double)a[i] * 1e39))

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt), b = vector(rt);
    uint64_t last = one(rt, TINY, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    last = one(rt, TWICE, a, b, last, TG_TASK_NONE);
    one(rt, RESCALE, b, row_of(args, 0), last, TG_TASK_NONE);
    one(rt, RESCALE, a, row_of(args, 1), last, TG_TASK_NONE);
}

PLANTED({"tiny", tiny, TG_AIV, ONE_IN}, {"twice", twice, TG_AIV, ONE_IN},
        {"rescale", rescale, TG_AIV, ONE_IN});
