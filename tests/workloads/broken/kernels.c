/* SPDX-License-Identifier: Apache-2.0 */
#include "broken.h"

/* y = x */
TG_KERNEL(broken_copy)
{
    const float *x = TG_ARG(ctx, 0, const float);
    float *y = TG_ARG(ctx, 1, float);
    TG_FOR(i, tg_arg_numel(ctx, 0))
        y[i] = x[i];
}

TG_ORCHESTRATION(broken_orchestrate)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, args->tensor[0]);
    tg_args_out(&task, args->tensor[1]);
    tg_submit(rt, 0, &task);
}
