/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel of a mix is wrong in one element. */
#include "planted.h"

enum { START, UPPER, LOWER, COMBINE };

FROM_ONE(start, 0.9f * a[i] + 0.05f)

/* The two kernels of the mix share the arguments: the first writes one output, the second the other. */
FROM_ONE(upper, a[i] + 1)

TG_KERNEL(lower)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 2, float);
    TG_FOR(i, N)
        b[i] = a[i] - (BAD && i == 63 ? 2 : 1);
}

FROM_TWO(combine, a[i] * b[i])

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt), b = vector(rt), c = vector(rt);
    uint64_t last = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, a);
    tg_args_out(&task, b);
    tg_args_out(&task, c);
    tg_args_after(&task, last);
    last = tg_submit_mix(rt, UPPER, LOWER, TG_NO_KERNEL, &task);
    two(rt, COMBINE, b, c, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"start", start, TG_AIV, ONE_IN},
        {"upper", upper, TG_AIC, "in:float32 out:float32 out:float32"},
        {"lower", lower, TG_AIV, "in:float32 out:float32 out:float32"},
        {"combine", combine, TG_AIV, TWO_IN});
