/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C(b) = A(b)·B(b) for every b of a batch, tile by tile, k split over tasks:
 *
 *   AIC  product      C(b,i,j)  = A(b,i,0)·B(b,0,j)
 *   AIC  accumulate   C(b,i,j) += A(b,i,k)·B(b,k,j)     a chain: each adds to the one before
 *
 * The tasks of one tile of C are a chain, because each but the first reads and writes what the task
 * before it wrote. No other task has to wait: A and B are only read, and no two chains share a
 * tile.
 */
#include "bgemm.h"

TG_INLINE int64_t at_most(int64_t value, int64_t limit)
{
    return value < limit ? value : limit;
}

/* One tile of C; `a` is a block of whole rows, `b` one of whole columns. */
TG_FN static void product_tile(struct tg_rt *rt, struct tg_tensor a, struct tg_tensor b,
                               struct tg_tensor c, int64_t tile)
{
    int64_t depth = a.shape[1];
    uint64_t last = TG_TASK_NONE; /* nothing to wait for */
    for (int64_t k = 0; k < depth; k += tile) {
        int64_t end = at_most(k + tile, depth);
        struct tg_args task;
        tg_args_init(&task);
        tg_args_in(&task, tg_tensor_slice(a, 1, k, end, 1));
        tg_args_in(&task, tg_tensor_slice(b, 0, k, end, 1));
        tg_args_tensor(&task, k == 0 ? TG_OUT : TG_INOUT, c);
        tg_args_after(&task, last);
        last = tg_submit(rt, k == 0 ? BGEMM_PRODUCT : BGEMM_ACCUMULATE, &task);
    }
}

/* One product of the batch. Each row of tiles has its own scope, so that a runtime with rings can
 * reuse its task slots while the next row is being submitted. */
TG_FN static void product(struct tg_rt *rt, struct tg_tensor a, struct tg_tensor b,
                          struct tg_tensor c, int64_t tile)
{
    int64_t m = c.shape[0], n = c.shape[1];
    for (int64_t i = 0; i < m; i += tile) {
        TG_SCOPE(rt) {
            int64_t rows = at_most(tile, m - i);
            struct tg_tensor a_rows = tg_tensor_slice(a, 0, i, i + rows, 1);
            for (int64_t j = 0; j < n; j += tile) {
                int64_t cols = at_most(tile, n - j);
                product_tile(rt, a_rows, tg_tensor_slice(b, 1, j, j + cols, 1),
                             tg_tensor_tile(c, i, rows, j, cols), tile);
            }
        }
    }
}

TG_ORCHESTRATION(bgemm)
{
    struct tg_tensor a = args->tensor[0]; /* batch, m, k */
    struct tg_tensor b = args->tensor[1]; /* batch, k, n */
    struct tg_tensor c = args->tensor[2]; /* batch, m, n */
    int64_t tile = tg_args_get_i64(args, 0);

    if (tile < 1 || b.shape[1] > tile * BGEMM_MAX_TILES || b.shape[2] > tile * BGEMM_MAX_TILES) {
        tg_fail(rt, "k and n must be at most 64 tiles each: raise the tile");
        return;
    }
    for (int64_t i = 0; i < c.shape[0]; i++)
        product(rt, tg_tensor_index(a, 0, i), tg_tensor_index(b, 0, i), tg_tensor_index(c, 0, i),
                tile);
}
