/* SPDX-License-Identifier: Apache-2.0 */
/* circulate adds up in float instead of double, which stays within the tolerance. fraction then
 * takes away what both sums have in common. */
#include "planted.h"

enum { CIRCULATE, FRACTION, FINISH };

TG_KERNEL(circulate)
{
    const float *a = TG_ARG(ctx, 0, const float), *b = TG_ARG(ctx, 1, const float);
    float *c = TG_ARG(ctx, 2, float);
    TG_FOR(i, N) {
        double wide = 0;
        float narrow = 0;
        for (int64_t k = 0; k < N; k++) {
            wide += (double)a[k] * (double)b[(i + k) % N];
            narrow += a[k] * b[(i + k) % N];
        }
        c[i] = BAD ? narrow : (float)wide;
    }
}

FROM_ONE(fraction, (a[i] - (float)((int)(a[i] * 16)) / 16) * 4096)
FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt), b = vector(rt);
    uint64_t last =
        two(rt, CIRCULATE, args->tensor[X], args->tensor[Y], a, TG_TASK_NONE, TG_TASK_NONE);
    last = one(rt, FRACTION, a, b, last, TG_TASK_NONE);
    one(rt, FINISH, b, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"circulate", circulate, TG_AIV, TWO_IN}, {"fraction", fraction, TG_AIV, ONE_IN},
        {"finish", finish, TG_AIV, ONE_IN});
