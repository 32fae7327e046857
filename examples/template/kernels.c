/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one task does. A simulated core runs TG_FOR as a plain loop; a GPU spreads it over the threads of a
 * block, so no iteration may depend on another. Kernels use no libc, no allocation and no globals that
 * change.
 */
#include "kernels.h"

/* t = factor * x */
TG_KERNEL(workload_name_scale)
{
    const float *x = TG_ARG(ctx, 0, const float);
    float *t = TG_ARG(ctx, 1, float);
    float factor = tg_arg_f32(ctx, 0);
    TG_FOR(i, tg_arg_numel(ctx, 1))
        t[i] = factor * x[i];
}

/* y = t + b */
TG_KERNEL(workload_name_add)
{
    const float *t = TG_ARG(ctx, 0, const float);
    const float *b = TG_ARG(ctx, 1, const float);
    float *y = TG_ARG(ctx, 2, float);
    TG_FOR(i, tg_arg_numel(ctx, 2))
        y[i] = t[i] + b[i];
}
