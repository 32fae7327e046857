/* SPDX-License-Identifier: Apache-2.0 */
/* The orchestration reads the result of the wrong task and passes it on as a scalar. */
#include "planted.h"

enum { LARGEST, SCALE };

TG_KERNEL(largest)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    TG_FOR(once, 1) {
        float most = a[0];
        for (int64_t i = 1; i < N; i++)
            most = a[i] > most ? a[i] : most;
        b[once] = most;
    }
}

TG_KERNEL(scale)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    double k = tg_arg_f64(ctx, 0);
    TG_FOR(i, N)
        b[i] = (float)(k * (double)a[i]);
}

TG_ORCHESTRATION(planted)
{
    int64_t single = 1;
    struct tg_tensor of_x = tg_alloc(rt, TG_FLOAT32, 1, &single);
    struct tg_tensor of_y = tg_alloc(rt, TG_FLOAT32, 1, &single);
    uint64_t x = one(rt, LARGEST, args->tensor[X], of_x, TG_TASK_NONE, TG_TASK_NONE);
    uint64_t y = one(rt, LARGEST, args->tensor[Y], of_y, TG_TASK_NONE, TG_TASK_NONE);
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, args->tensor[X]);
    tg_args_out(&task, row_of(args, 0));
    tg_args_f64(&task, BAD ? tg_read_real(rt, of_y, y) : tg_read_real(rt, of_x, x));
    tg_submit(rt, SCALE, &task);
}

PLANTED({"largest", largest, TG_AIV, ONE_IN},
        {"scale", scale, TG_AIV, "in:float32 out:float32 scalar:float64"});
