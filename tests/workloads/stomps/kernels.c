/* SPDX-License-Identifier: Apache-2.0 */
#include "stomps.h"

TG_KERNEL(fill)
{
    float *y = TG_ARG(ctx, 0, float);
    TG_FOR(i, tg_arg_numel(ctx, 0))
        y[i] = (float)i;
}

/* The last scalar is the address of a flag that it sets, or 0. */
TG_KERNEL(look)
{
    const float *x = TG_ARG(ctx, 0, const float);
    float *sum = TG_ARG(ctx, 1, float);
    TG_FOR(once, 1) {
        sum[0] = 0;
        for (int64_t i = 0; i < N; i++)
            sum[0] += x[i];
        if (tg_arg_bits(ctx, 0) != 0)
            *TG_DEVICE_PTR(volatile uint32_t, tg_arg_bits(ctx, 0)) = 1;
    }
}

TG_FN static void add_one(const struct tg_ctx *ctx)
{
    const float *x = TG_ARG(ctx, 0, const float);
    float *y = TG_ARG(ctx, 1, float);
    TG_FOR(i, tg_arg_numel(ctx, 1))
        y[i] = x[i] + 1;
    TG_BARRIER();
}

TG_KERNEL(step)
{
    add_one(ctx);
}

TG_KERNEL(innocent)
{
    add_one(ctx);
}

/* The scalar is the element that it should not write, counted from its output. */
TG_KERNEL(stray)
{
    add_one(ctx);
    TG_FOR(once, 1)
        TG_ARG(ctx, 1, float)[tg_arg_i64(ctx, 0)] = -5;
}

TG_KERNEL(stray_before)
{
    add_one(ctx);
    TG_FOR(once, 1)
        TG_ARG(ctx, 1, float)[tg_arg_i64(ctx, 0)] = -6;
}

TG_KERNEL(sneaks)
{
    TG_FOR(once, 1)
        *TG_DEVICE_PTR(float, tg_arg_bits(ctx, 0)) = -7;
}

/* The scalars are addresses of flags: the first is set after the output is written, then the kernel waits for
 * the second. Volatile accesses keep their order on the CPUs of simulators; the tests run this scene there. */
TG_KERNEL(slow_writer)
{
    volatile float *y = TG_ARG(ctx, 0, float);
    TG_FOR(i, N)
        y[i] = -(float)i;
    TG_BARRIER();
    TG_FOR(once, 1) {
        *TG_DEVICE_PTR(volatile uint32_t, tg_arg_bits(ctx, 0)) = 1;
        while (*TG_DEVICE_PTR(volatile uint32_t, tg_arg_bits(ctx, 1)) == 0)
            ;
    }
}

TG_KERNEL(waits)
{
    TG_FOR(once, 1) {
        while (*TG_DEVICE_PTR(volatile uint32_t, tg_arg_bits(ctx, 0)) == 0)
            ;
        TG_ARG(ctx, 0, float)[0] = 1;
    }
}
