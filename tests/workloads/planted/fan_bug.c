/* SPDX-License-Identifier: Apache-2.0 */
/* One of eight tasks of the same kind is wrong. */
#include "planted.h"

enum { WORK, JOIN };

TG_KERNEL(work)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    int64_t step = tg_arg_i64(ctx, 0);
    TG_FOR(i, N)
        b[i] = a[i] + (float)step + (BAD && step == 6 && i == 1 ? 0.25f : 0);
}

FROM_TWO(join, a[i] + b[i])

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
    struct tg_tensor sum = args->tensor[Y];
    uint64_t last = TG_TASK_NONE;
    for (int64_t k = 0; k < 8; k++) {
        struct tg_tensor part = vector(rt), next = k == 7 ? row_of(args, 0) : vector(rt);
        uint64_t worked = step_of(rt, WORK, args->tensor[X], part, k, TG_TASK_NONE);
        last = two(rt, JOIN, sum, part, next, worked, last);
        sum = next;
    }
}

PLANTED({"work", work, TG_AIV, "in:float32 out:float32 scalar:int64"},
        {"join", join, TG_AIV, TWO_IN});
