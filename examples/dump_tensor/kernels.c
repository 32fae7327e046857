/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that compute little, and exactly, because they are only there to be recorded. Kernels
 * that take views read and write them element by element, for any type and strides.
 */
#include "dump_tensor.h"

/* out = in for two views with equally many elements */
TG_FN static void copy_view(const struct tg_ctx *ctx)
{
    int64_t n = tg_arg_numel(ctx, 1);
    /* Two threads must not write the same byte: for a 4-bit type one thread writes everything. */
    int64_t each = tg_bits_of(ctx->tensor[1].dtype) < 8 ? n : 1;
    TG_FOR(unit, each > 0 ? n / each : 0) {
        for (int64_t i = unit * each; i < (unit + 1) * each; i++)
            tg_arg_store(ctx, 1, i, tg_arg_load(ctx, 0, i));
    }
}

TG_KERNEL(dump_copy)
{
    copy_view(ctx);
}

/* The same on a matrix core; the view does the transposing. */
TG_KERNEL(dump_transpose)
{
    copy_view(ctx);
}

/* out = a + b, views of one shape */
TG_KERNEL(dump_add)
{
    TG_FOR(i, tg_arg_numel(ctx, 2))
        tg_arg_store(ctx, 2, i, tg_arg_load(ctx, 0, i) + tg_arg_load(ctx, 1, i));
}

/* x += step */
TG_KERNEL(dump_add_scalar)
{
    float *x = TG_ARG(ctx, 0, float);
    float step = tg_arg_f32(ctx, 0);
    TG_FOR(i, tg_arg_numel(ctx, 0))
        x[i] += step;
}

/* total += in */
TG_KERNEL(dump_accumulate)
{
    const float *in = TG_ARG(ctx, 0, const float);
    float *total = TG_ARG(ctx, 1, float);
    TG_FOR(i, tg_arg_numel(ctx, 1))
        total[i] += in[i];
}

/* The bits of each scalar as they arrived. */
TG_KERNEL(dump_scalars)
{
    uint64_t *bits = TG_ARG(ctx, 0, uint64_t);
    TG_FOR(i, ctx->n_scalars)
        bits[i] = tg_arg_bits(ctx, (uint32_t)i);
}

/*
 * A mix of three: out[i] = s[i] - s[n - 1 - i] + shift, with s = factor · in.
 * Arguments: in, s, out.
 * AIC makes s. After the barrier each AIV makes one half of out, for which it needs all of s.
 */
TG_KERNEL(dump_scale)
{
    const float *in = TG_ARG(ctx, 0, const float);
    float *s = TG_ARG(ctx, 1, float);
    double factor = tg_arg_f64(ctx, 0);
    TG_FOR(i, tg_arg_numel(ctx, 1))
        s[i] = (float)(factor * (double)in[i]);
    tg_mix_barrier(ctx);
}

TG_KERNEL(dump_fold)
{
    const float *s = TG_ARG(ctx, 1, const float);
    float *out = TG_ARG(ctx, 2, float);
    float shift = tg_arg_f32(ctx, 1);
    int64_t n = tg_arg_numel(ctx, 2), half = n / 2;
    int64_t from = ctx->part == TG_PART_AIV1 ? half : 0;
    int64_t count = ctx->part == TG_PART_AIV1 ? n - half : half;

    tg_mix_barrier(ctx);
    TG_FOR(i, count)
        out[from + i] = s[from + i] - s[n - 1 - from - i] + shift;
}
