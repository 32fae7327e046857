/* SPDX-License-Identifier: Apache-2.0 */
#include "bgemm.h"

/* A tile of a larger matrix: its rows lie `down` elements apart, the elements of one together. */
struct tile {
    float *at;
    int64_t rows, cols, down;
};

TG_INLINE struct tile tile_arg(const struct tg_ctx *ctx, uint32_t i)
{
    const struct tg_tensor *t = &ctx->tensor[i];
    struct tile tile;
    tile.at = TG_ARG(ctx, i, float);
    tile.rows = t->shape[0];
    tile.cols = t->shape[1];
    tile.down = t->strides[0];
    return tile;
}

TG_INLINE float dot(const struct tile *a, int64_t row, const struct tile *b, int64_t col)
{
    float sum = 0;
    for (int64_t k = 0; k < a->cols; k++)
        sum += a->at[row * a->down + k] * b->at[k * b->down + col];
    return sum;
}

/* c = a · b */
TG_KERNEL(bgemm_product)
{
    struct tile a = tile_arg(ctx, 0), b = tile_arg(ctx, 1), c = tile_arg(ctx, 2);
    TG_FOR(i, c.rows * c.cols) {
        int64_t row = i / c.cols, col = i % c.cols;
        c.at[row * c.down + col] = dot(&a, row, &b, col);
    }
}

/* c += a · b */
TG_KERNEL(bgemm_accumulate)
{
    struct tile a = tile_arg(ctx, 0), b = tile_arg(ctx, 1), c = tile_arg(ctx, 2);
    TG_FOR(i, c.rows * c.cols) {
        int64_t row = i / c.cols, col = i % c.cols;
        c.at[row * c.down + col] += dot(&a, row, &b, col);
    }
}
