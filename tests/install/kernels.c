/* SPDX-License-Identifier: Apache-2.0 */
#include "scale.h"
#include <unit.h>

TG_KERNEL(scale)
{
    const float *x = TG_ARG(ctx, 0, const float);
    float *y = TG_ARG(ctx, 1, float);
    float k = tg_arg_f32(ctx, 0);
    TG_FOR(i, tg_arg_numel(ctx, 0))
        y[i] = k * scale_unit * x[i];
}

TG_ORCHESTRATION(scale_graph)
{
    tg_submit(rt, K_SCALE, args);
}
