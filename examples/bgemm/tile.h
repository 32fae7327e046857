/* SPDX-License-Identifier: Apache-2.0 */
/* How the kernels see a task's arguments. */
#ifndef BGEMM_TILE_H
#define BGEMM_TILE_H

#include <taskglass/kernel.h>

/* A tile of a larger matrix: its rows lie `down` elements apart, the elements of a row are
 * contiguous. */
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

#endif
