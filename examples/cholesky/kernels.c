/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The four operations on tiles. Like LAPACK, they read and write only the lower triangle of a
 * diagonal tile.
 */
#include "cholesky.h"
#include <taskglass/math.h>

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

TG_INLINE float *row_of(const struct tile *t, int64_t row)
{
    return t->at + row * t->down;
}

/* The sum of the first `n` products of two rows. */
TG_INLINE float dot(const float *x, const float *y, int64_t n)
{
    float sum = 0;
    for (int64_t k = 0; k < n; k++)
        sum += x[k] * y[k];
    return sum;
}

/*
 * a = l with l·lᵀ = a, column by column. The threads of a core share the rows of a column; between
 * the barriers they all read its diagonal element, which one of them then replaces.
 */
TG_KERNEL(cholesky_potrf)
{
    struct tile a = tile_arg(ctx, 0);
    for (int64_t j = 0; j < a.cols; j++) {
        const float *top = row_of(&a, j);
        float diagonal;
        TG_FOR(i, a.rows - j) {
            float *row = row_of(&a, j + i);
            row[j] -= dot(row, top, j);
        }
        TG_BARRIER();
        diagonal = tg_sqrt_f32(top[j]);
        TG_BARRIER();
        TG_FOR(i, a.rows - j) {
            float *row = row_of(&a, j + i);
            row[j] = i == 0 ? diagonal : row[j] / diagonal;
        }
        TG_BARRIER();
    }
}

/* a = x with x·lᵀ = a: each row for itself. Arguments: l, a. */
TG_KERNEL(cholesky_trsm)
{
    struct tile l = tile_arg(ctx, 0), a = tile_arg(ctx, 1);
    TG_FOR(i, a.rows) {
        float *row = row_of(&a, i);
        for (int64_t j = 0; j < a.cols; j++)
            row[j] = (row[j] - dot(row, row_of(&l, j), j)) / row_of(&l, j)[j];
    }
}

/* c -= a·aᵀ in the lower triangle. Arguments: a, c. */
TG_KERNEL(cholesky_syrk)
{
    struct tile a = tile_arg(ctx, 0), c = tile_arg(ctx, 1);
    TG_FOR(i, c.rows * c.cols) {
        int64_t row = i / c.cols, col = i % c.cols;
        if (col <= row)
            row_of(&c, row)[col] -= dot(row_of(&a, row), row_of(&a, col), a.cols);
    }
}

/* c -= a·bᵀ. Arguments: a, b, c. */
TG_KERNEL(cholesky_gemm)
{
    struct tile a = tile_arg(ctx, 0), b = tile_arg(ctx, 1), c = tile_arg(ctx, 2);
    TG_FOR(i, c.rows * c.cols) {
        int64_t row = i / c.cols, col = i % c.cols;
        row_of(&c, row)[col] -= dot(row_of(&a, row), row_of(&b, col), a.cols);
    }
}
