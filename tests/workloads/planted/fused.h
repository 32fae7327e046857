/* SPDX-License-Identifier: Apache-2.0 */
/* Where the good graph has two tasks, the bad one has a task of a fused kernel. A scene says whether the fused
 * kernel or a later one is wrong, and includes this. */
#ifndef FUSED_H
#define FUSED_H

#include "planted.h"

enum { START, MULTIPLY, ADD, MULTIPLY_ADD, FINISH };

FROM_ONE(start, 0.9f * a[i] + 0.05f)
FROM_TWO(multiply, a[i] * b[i])
FROM_TWO(add, a[i] + b[i])

TG_KERNEL(multiply_add)
{
    const float *a = TG_ARG(ctx, 0, const float), *b = TG_ARG(ctx, 1, const float);
    const float *c = TG_ARG(ctx, 2, const float);
    float *d = TG_ARG(ctx, 3, float);
    TG_FOR(i, N) {
        float product = a[i] * b[i] + (BAD && FUSED_IS_WRONG && i == 40 ? 1 : 0);
        d[i] = product + c[i];
    }
}

FROM_ONE(finish, 2 * a[i] - 1 + (BAD && LATER_IS_WRONG && i == 40 ? 1 : 0))

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt), t = vector(rt), b = vector(rt);
    uint64_t last = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    if (BAD) {
        struct tg_args task;
        tg_args_init(&task);
        tg_args_in(&task, a);
        tg_args_in(&task, args->tensor[Y]);
        tg_args_in(&task, args->tensor[X]);
        tg_args_out(&task, b);
        tg_args_after(&task, last);
        last = tg_submit(rt, MULTIPLY_ADD, &task);
    } else {
        last = two(rt, MULTIPLY, a, args->tensor[Y], t, last, TG_TASK_NONE);
        last = two(rt, ADD, t, args->tensor[X], b, last, TG_TASK_NONE);
    }
    one(rt, FINISH, b, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"multiply", multiply, TG_AIV, TWO_IN},
        {"add", add, TG_AIV, TWO_IN},
        {"multiply_add", multiply_add, TG_AIV, "in:float32 in:float32 in:float32 out:float32"},
        {"finish", finish, TG_AIV, ONE_IN});

#endif
