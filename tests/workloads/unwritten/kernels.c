/* SPDX-License-Identifier: Apache-2.0 */
#include "unwritten.h"

TG_KERNEL(doubled)
{
    const float *x = TG_ARG(ctx, 0, const float);
    float *y = TG_ARG(ctx, 1, float);
    TG_FOR(i, N)
        y[i] = 2 * x[i];
}

TG_KERNEL(zeros)
{
    float *y = TG_ARG(ctx, 1, float);
    TG_FOR(i, N)
        y[i] = 0;
}

TG_KERNEL(ramp)
{
    float *y = TG_ARG(ctx, 0, float);
    float first = tg_arg_f32(ctx, 0);
    TG_FOR(i, N)
        y[i] = first + (float)i / 8;
}

/* As doubled, but leaves the last elements as they were. */
TG_KERNEL(tail)
{
    const float *x = TG_ARG(ctx, 0, const float);
    float *y = TG_ARG(ctx, 1, float);
    TG_FOR(i, N - FORGOTTEN)
        y[i] = 2 * x[i];
}

TG_KERNEL(nothing)
{
    (void)ctx;
}

TG_KERNEL(copy)
{
    const uint32_t *x = TG_ARG(ctx, 0, const uint32_t);
    uint32_t *y = TG_ARG(ctx, 1, uint32_t);
    TG_FOR(i, N)
        y[i] = x[i];
}
