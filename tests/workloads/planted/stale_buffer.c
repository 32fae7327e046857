/* SPDX-License-Identifier: Apache-2.0 */
/* Two buffers are used in turns. One task of the bad graph reads the buffer of the step before. */
#include "planted.h"

enum { PRODUCE, CONSUME };

TG_KERNEL(produce)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    int64_t step = tg_arg_i64(ctx, 0);
    TG_FOR(i, N)
        b[i] = a[i] * (float)(step + 1);
}

FROM_ONE(consume, a[i] * 0.5f)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor buffer[2];
    uint64_t last = TG_TASK_NONE;
    buffer[0] = vector(rt);
    buffer[1] = vector(rt);
    for (int64_t step = 0; step < 6; step++) {
        struct tg_args task;
        tg_args_init(&task);
        tg_args_in(&task, args->tensor[X]);
        tg_args_out(&task, buffer[step % 2]);
        tg_args_i64(&task, step);
        tg_args_after(&task, last);
        last = tg_submit(rt, PRODUCE, &task);
        last = one(rt, CONSUME, buffer[(step + (BAD && step == 3)) % 2], row_of(args, step), last,
                   TG_TASK_NONE);
    }
}

PLANTED({"produce", produce, TG_AIV, "in:float32 out:float32 scalar:int64"},
        {"consume", consume, TG_AIV, ONE_IN});
