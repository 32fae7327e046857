/* SPDX-License-Identifier: Apache-2.0 */
/* Two of five tasks get a wrong scalar. */
#include "planted.h"

enum { SCALE, FINISH };

TG_KERNEL(scale)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float), k = tg_arg_f32(ctx, 0);
    TG_FOR(i, N)
        b[i] = k * a[i];
}

FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    for (int step = 0; step < 4; step++) {
        struct tg_tensor a = vector(rt);
        struct tg_args task;
        uint64_t last;
        float k = (float)(step + 1);
        if (BAD && step % 2 == 1)
            k = (float)step;
        tg_args_init(&task);
        tg_args_in(&task, args->tensor[X]);
        tg_args_out(&task, a);
        tg_args_f32(&task, k);
        last = tg_submit(rt, SCALE, &task);
        one(rt, FINISH, a, row_of(args, step), last, TG_TASK_NONE);
    }
}

PLANTED({"scale", scale, TG_AIV, "in:float32 out:float32 scalar:float32"},
        {"finish", finish, TG_AIV, ONE_IN});
