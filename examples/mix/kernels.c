/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of a mix share one list of arguments; each uses those that it needs. They meet at
 * tg_mix_barrier, and each must call it equally often: a kernel that skips it leaves the others
 * waiting forever.
 *
 * Every tile here is square and contiguous, `side` by `side`.
 */
#include "mix.h"

/* The columns that one of two vector cores works on: the left half or the right half. */
struct half {
    int64_t from, cols;
};

TG_INLINE struct half half_of(const struct tg_ctx *ctx, int64_t side)
{
    struct half h;
    h.from = ctx->part == TG_PART_AIV1 ? side / 2 : 0;
    h.cols = ctx->part == TG_PART_AIV1 ? side - side / 2 : side / 2;
    return h;
}

/* c = a·b for square tiles; every thread of a core must call it. */
TG_FN static void product(const float *a, const float *b, float *c, int64_t side)
{
    TG_FOR(i, side * side) {
        float sum = 0;
        for (int64_t k = 0; k < side; k++)
            sum += a[i / side * side + k] * b[k * side + i % side];
        c[i] = sum;
    }
}

/* Plain task: out = factor · in */
TG_KERNEL(mix_scale)
{
    const float *in = TG_ARG(ctx, 0, const float);
    float *out = TG_ARG(ctx, 1, float);
    float factor = tg_arg_f32(ctx, 0);
    TG_FOR(i, tg_arg_numel(ctx, 1))
        out[i] = factor * in[i];
}

/*
 * Mix of three: y = relu(x·w + bias). Arguments: x, w, bias, scratch, y.
 * AIC multiplies into scratch; after the barrier each AIV finishes one half of y.
 */
TG_KERNEL(mix_product)
{
    product(TG_ARG(ctx, 0, const float), TG_ARG(ctx, 1, const float), TG_ARG(ctx, 3, float),
            ctx->tensor[3].shape[0]);
    tg_mix_barrier(ctx);
}

TG_KERNEL(mix_bias_relu)
{
    const float *bias = TG_ARG(ctx, 2, const float);
    const float *scratch = TG_ARG(ctx, 3, const float);
    float *y = TG_ARG(ctx, 4, float);
    int64_t side = ctx->tensor[4].shape[0];
    struct half h = half_of(ctx, side);

    tg_mix_barrier(ctx); /* scratch is complete from here on */
    TG_FOR(i, side * h.cols) {
        int64_t row = i / h.cols, col = h.from + i % h.cols;
        float value = scratch[row * side + col] + bias[col];
        y[row * side + col] = value > 0 ? value : 0;
    }
}

/*
 * Mix of AIC and one AIV: z = y·w + y. Arguments: y, w, scratch, z. While AIC multiplies, AIV
 * copies y, which needs no waiting; after the barrier it adds the product.
 */
TG_KERNEL(mix_residual_product)
{
    product(TG_ARG(ctx, 0, const float), TG_ARG(ctx, 1, const float), TG_ARG(ctx, 2, float),
            ctx->tensor[2].shape[0]);
    tg_mix_barrier(ctx);
}

TG_KERNEL(mix_residual_add)
{
    const float *y = TG_ARG(ctx, 0, const float);
    const float *scratch = TG_ARG(ctx, 2, const float);
    float *z = TG_ARG(ctx, 3, float);
    int64_t n = tg_arg_numel(ctx, 3);
    TG_FOR(i, n)
        z[i] = y[i];
    tg_mix_barrier(ctx);
    TG_FOR(i, n)
        z[i] += scratch[i];
}

/*
 * Mix of two AIV, the same kernel twice: each row of z minus its largest element, as before a
 * softmax. Arguments: z, largest (2 by side), out. Neither core alone knows a row's largest
 * element: each finds the largest of its half, and after the barrier both cores read both values.
 */
TG_KERNEL(mix_row_shift)
{
    const float *z = TG_ARG(ctx, 0, const float);
    float *largest = TG_ARG(ctx, 1, float);
    float *out = TG_ARG(ctx, 2, float);
    int64_t side = ctx->tensor[0].shape[0];
    struct half h = half_of(ctx, side);
    float *mine = largest + (ctx->part == TG_PART_AIV1 ? side : 0);

    TG_FOR(row, side) {
        const float *at = z + row * side + h.from;
        float best = at[0];
        for (int64_t col = 1; col < h.cols; col++)
            best = at[col] > best ? at[col] : best;
        mine[row] = best;
    }
    tg_mix_barrier(ctx);
    TG_FOR(i, side * h.cols) {
        int64_t row = i / h.cols, col = h.from + i % h.cols;
        float left = largest[row], right = largest[side + row];
        out[row * side + col] = z[row * side + col] - (left > right ? left : right);
    }
}

/* Plain task: total += in */
TG_KERNEL(mix_total)
{
    const float *in = TG_ARG(ctx, 0, const float);
    float *total = TG_ARG(ctx, 1, float);
    TG_FOR(i, tg_arg_numel(ctx, 1))
        total[i] += in[i];
}
