/* SPDX-License-Identifier: Apache-2.0 */
#include "matmul_chain.h"

/* A tile is a view of a larger matrix: its rows lie `down` elements apart, not `cols`. */
struct matrix {
    float *at;
    int64_t rows, cols, down, right;
};

TG_INLINE struct matrix matrix_arg(const struct tg_ctx *ctx, uint32_t i)
{
    const struct tg_tensor *t = &ctx->tensor[i];
    struct matrix m;
    m.at = TG_ARG(ctx, i, float);
    m.rows = t->shape[0];
    m.cols = t->shape[1];
    m.down = t->strides[0];
    m.right = t->strides[1];
    return m;
}

TG_INLINE float *element(const struct matrix *m, int64_t row, int64_t col)
{
    return m->at + row * m->down + col * m->right;
}

TG_INLINE float dot(const struct matrix *a, int64_t row, const struct matrix *b, int64_t col)
{
    float sum = 0;
    for (int64_t k = 0; k < a->cols; k++)
        sum += *element(a, row, k) * *element(b, k, col);
    return sum;
}

/* c = a · b */
TG_KERNEL(tile_product)
{
    struct matrix a = matrix_arg(ctx, 0), b = matrix_arg(ctx, 1), c = matrix_arg(ctx, 2);
    TG_FOR(i, c.rows * c.cols) {
        int64_t row = i / c.cols, col = i % c.cols;
        *element(&c, row, col) = dot(&a, row, &b, col);
    }
}

/* c += a · b */
TG_KERNEL(tile_accumulate)
{
    struct matrix a = matrix_arg(ctx, 0), b = matrix_arg(ctx, 1), c = matrix_arg(ctx, 2);
    TG_FOR(i, c.rows * c.cols) {
        int64_t row = i / c.cols, col = i % c.cols;
        *element(&c, row, col) += dot(&a, row, &b, col);
    }
}

/* c = max(c + bias, 0), with one bias per column */
TG_KERNEL(tile_bias_relu)
{
    const float *bias = TG_ARG(ctx, 0, const float);
    struct matrix c = matrix_arg(ctx, 1);
    TG_FOR(i, c.rows * c.cols) {
        int64_t row = i / c.cols, col = i % c.cols;
        float value = *element(&c, row, col) + bias[col];
        *element(&c, row, col) = value > 0 ? value : 0;
    }
}
