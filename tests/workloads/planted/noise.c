/* SPDX-License-Identifier: Apache-2.0 */
/* add_up adds in an order that another build changes (BAD 1 and 2), as a race between partial sums
 * would. With BAD 3 it also forgets an element. */
#include "planted.h"

enum { START, ADD_UP, FRACTION };

FROM_ONE(start, 0.9f * a[i] + 0.05f)

TG_KERNEL(add_up)
{
    const float *a = TG_ARG(ctx, 0, const float), *b = TG_ARG(ctx, 1, const float);
    float *c = TG_ARG(ctx, 2, float);
    TG_FOR(i, N) {
        float sum = 0;
        for (int64_t k = 0; k < N; k++) {
            int64_t at = BAD == 1 ? N - 1 - k : BAD == 2 ? k * 5 % N : BAD == 3 ? k * 3 % N : k;
            if (BAD != 3 || i != 7 || at != 20)
                sum += a[at] * b[(i + at) % N] * 1000;
        }
        c[i] = sum;
    }
}

FROM_ONE(fraction, (a[i] - (float)((int)(a[i] / 64)) * 64) * 16)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt), b = vector(rt);
    uint64_t last = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    last = two(rt, ADD_UP, a, args->tensor[Y], b, last, TG_TASK_NONE);
    one(rt, FRACTION, b, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"add_up", add_up, TG_AIV, TWO_IN},
        {"fraction", fraction, TG_AIV, ONE_IN});
