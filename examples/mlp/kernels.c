/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights and activations are bfloat16, sums are float32. A tile of sums is contiguous; other tiles
 * are views of larger matrices, whose rows lie `down` elements apart.
 */
#include "mlp.h"
#include <taskglass/math.h>

struct tile {
    uint16_t *at;
    int64_t rows, cols, down;
};

TG_INLINE struct tile tile_arg(const struct tg_ctx *ctx, uint32_t i)
{
    const struct tg_tensor *t = &ctx->tensor[i];
    struct tile tile;
    tile.at = TG_ARG(ctx, i, uint16_t);
    tile.rows = t->shape[0];
    tile.cols = t->shape[1];
    tile.down = t->strides[0];
    return tile;
}

/* A product of two bfloat16 has 16 significant bits, so float32 holds it exactly: only the sums
 * round. */
TG_INLINE float dot(const struct tile *x, int64_t row, const struct tile *w, int64_t col)
{
    float sum = 0;
    for (int64_t k = 0; k < x->cols; k++)
        sum += tg_bfloat16_to_float(x->at[row * x->down + k]) *
               tg_bfloat16_to_float(w->at[k * w->down + col]);
    return sum;
}

/* sums = x·w; every thread of a core must call it. */
TG_FN static void product(const struct tg_ctx *ctx, float *sums)
{
    struct tile x = tile_arg(ctx, 0), w = tile_arg(ctx, 1);
    TG_FOR(i, x.rows * w.cols)
        sums[i] = dot(&x, i / w.cols, &w, i % w.cols);
}

/* Computes rows [from, to) of a layer's tile from its sums. `bias`, `sums` and `out` are the three
 * arguments from `first` on. */
TG_INLINE void finish(const struct tg_ctx *ctx, uint32_t first, int64_t from, int64_t to,
                      bool activate)
{
    const uint16_t *bias = TG_ARG(ctx, first, const uint16_t);
    const float *sums = TG_ARG(ctx, first + 1, const float);
    struct tile out = tile_arg(ctx, first + 2);
    TG_FOR(i, (to - from) * out.cols) {
        int64_t row = from + i / out.cols, col = i % out.cols;
        float value = sums[row * out.cols + col] + tg_bfloat16_to_float(bias[col]);
        out.at[row * out.down + col] =
            tg_bfloat16_from_float(activate ? tg_gelu_tanh_f32(value) : value);
    }
}

/* sums = x·w. Arguments: x, w, sums. */
TG_KERNEL(mlp_product)
{
    product(ctx, TG_ARG(ctx, 2, float));
}

/* sums += x·w. Arguments: x, w, sums. */
TG_KERNEL(mlp_accumulate)
{
    struct tile x = tile_arg(ctx, 0), w = tile_arg(ctx, 1);
    float *sums = TG_ARG(ctx, 2, float);
    TG_FOR(i, x.rows * w.cols)
        sums[i] += dot(&x, i / w.cols, &w, i % w.cols);
}

/* out = gelu(sums + bias). Arguments: bias, sums, out. */
TG_KERNEL(mlp_gelu)
{
    finish(ctx, 0, 0, ctx->tensor[2].shape[0], true);
}

/* out = sums + bias. Arguments: bias, sums, out. */
TG_KERNEL(mlp_bias)
{
    finish(ctx, 0, 0, ctx->tensor[2].shape[0], false);
}

/*
 * A layer's tile in one task: AIC multiplies, and after the barrier each AIV finishes half of the
 * rows. Arguments: x, w, bias, sums, out.
 */
TG_KERNEL(mlp_mix_product)
{
    product(ctx, TG_ARG(ctx, 3, float));
    tg_mix_barrier(ctx);
}

TG_FN static void finish_half(const struct tg_ctx *ctx, bool activate)
{
    int64_t rows = ctx->tensor[4].shape[0];
    bool second = ctx->part == TG_PART_AIV1;
    tg_mix_barrier(ctx); /* the sums are complete from here on */
    finish(ctx, 2, second ? rows / 2 : 0, second ? rows : rows / 2, activate);
}

TG_KERNEL(mlp_mix_gelu)
{
    finish_half(ctx, true);
}

TG_KERNEL(mlp_mix_bias)
{
    finish_half(ctx, false);
}
