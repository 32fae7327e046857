/* SPDX-License-Identifier: Apache-2.0 */
#include "stencil.h"

/* A view to read: the tile, or the one row or column beside it. */
struct field {
    const float *at;
    int64_t down, right;
};

TG_INLINE struct field field_arg(const struct tg_ctx *ctx, uint32_t i)
{
    struct field f;
    f.at = TG_ARG(ctx, i, const float);
    f.down = ctx->tensor[i].strides[0];
    f.right = ctx->tensor[i].strides[1];
    return f;
}

TG_INLINE float value(const struct field *f, int64_t row, int64_t col)
{
    return f->at[row * f->down + col * f->right];
}

/*
 * One step for one tile: half of a cell's value plus an eighth of each neighbour's value.
 * Arguments: the tile; the row above it, the row below, the column to its left, the one to its
 * right; and the tile of the other buffer, to write.
 *
 * Only the sums round, in the order written here: a product with a power of two is exact, so that
 * it makes no difference whether a compiler fuses it with the addition.
 */
TG_KERNEL(stencil_step)
{
    struct field tile = field_arg(ctx, 0), above = field_arg(ctx, 1), below = field_arg(ctx, 2);
    struct field left = field_arg(ctx, 3), right = field_arg(ctx, 4);
    const struct tg_tensor *out = &ctx->tensor[5];
    float *to = TG_ARG(ctx, 5, float);
    int64_t rows = out->shape[0], cols = out->shape[1];

    TG_FOR(i, rows * cols) {
        int64_t r = i / cols, c = i % cols;
        float north = r > 0 ? value(&tile, r - 1, c) : value(&above, 0, c);
        float south = r < rows - 1 ? value(&tile, r + 1, c) : value(&below, 0, c);
        float west = c > 0 ? value(&tile, r, c - 1) : value(&left, r, 0);
        float east = c < cols - 1 ? value(&tile, r, c + 1) : value(&right, r, 0);
        float around = (north + south) + (west + east);
        to[r * out->strides[0] + c * out->strides[1]] = 0.5f * value(&tile, r, c) + 0.125f * around;
    }
}
