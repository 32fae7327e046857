/* SPDX-License-Identifier: Apache-2.0 */
/* Each step has a scope of its own, so that the memory of one step is used again by a later one. One
 * task of the fifth step is wrong. */
#include "planted.h"

enum { START, MIDDLE, FINISH };

FROM_ONE(start, 0.9f * a[i] + 0.05f)

TG_KERNEL(middle)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    int64_t step = tg_arg_i64(ctx, 0);
    TG_FOR(i, N)
        b[i] = a[i] * (float)(step + 1) + (BAD && step == 4 && i == 30 ? 0.5f : 0);
}

FROM_ONE(finish, 2 * a[i] - 1)

/* A task of one input, one output and the scalar `step`. */
static uint64_t step_of(struct tg_rt *rt, uint32_t kernel, struct tg_tensor in,
                        struct tg_tensor out, int64_t step, uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, in);
    tg_args_out(&task, out);
    tg_args_i64(&task, step);
    tg_args_after(&task, after);
    return tg_submit(rt, kernel, &task);
}

TG_ORCHESTRATION(planted)
{
    for (int64_t step = 0; step < ROWS; step++)
        TG_SCOPE(rt) {
            struct tg_tensor a = vector(rt), b = vector(rt);
            uint64_t last = one(rt, START, step % 2 ? args->tensor[X] : args->tensor[Y], a,
                                TG_TASK_NONE, TG_TASK_NONE);
            last = step_of(rt, MIDDLE, a, b, step, last);
            one(rt, FINISH, b, row_of(args, step), last, TG_TASK_NONE);
        }
}

PLANTED({"start", start, TG_AIV, ONE_IN},
        {"middle", middle, TG_AIV, "in:float32 out:float32 scalar:int64"},
        {"finish", finish, TG_AIV, ONE_IN});
