/* SPDX-License-Identifier: Apache-2.0 */
#include "bgemm.h"
#include "tile.h"

#if defined(__CUDACC__)
#include "gpu.h" /* multiply, by a thread block */
#else
TG_INLINE float dot(const struct tile *a, int64_t row, const struct tile *b, int64_t col)
{
    float sum = 0;
    for (int64_t k = 0; k < a->cols; k++)
        sum += a->at[row * a->down + k] * b->at[k * b->down + col];
    return sum;
}

/* c = a · b, or c += a · b */
TG_INLINE void multiply(struct tile a, struct tile b, struct tile c, bool add)
{
    TG_FOR(i, c.rows * c.cols) {
        int64_t row = i / c.cols, col = i % c.cols;
        float *to = &c.at[row * c.down + col], sum = dot(&a, row, &b, col);
        *to = add ? *to + sum : sum;
    }
}
#endif

TG_KERNEL(bgemm_product)
{
    multiply(tile_arg(ctx, 0), tile_arg(ctx, 1), tile_arg(ctx, 2), false);
}

TG_KERNEL(bgemm_accumulate)
{
    multiply(tile_arg(ctx, 0), tile_arg(ctx, 1), tile_arg(ctx, 2), true);
}
