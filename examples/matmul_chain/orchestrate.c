/* SPDX-License-Identifier: Apache-2.0 */
/*
 * D = relu(A·B + bias)·C, tile by tile. With H = relu(A·B + bias), for every tile H(i,j):
 *
 *   AIC  product      H(i,j)  = A(i,0)·B(0,j)
 *   AIC  accumulate   H(i,j) += A(i,k)·B(k,j)      a chain: each adds to the one before
 *   AIV  bias, relu   H(i,j)  = relu(H(i,j) + bias(j))
 *
 * and for every tile of D, when the whole row of H tiles that it reads is finished:
 *
 *   AIC  product      D(i,q)  = H(i,·)·C(·,q)
 *
 * The first product splits k over tasks, the second loops over it in the kernel: more tasks overlap
 * better, fewer cost less. Different rows i never wait for one another.
 */
#include "matmul_chain.h"

TG_INLINE int64_t at_most(int64_t value, int64_t limit)
{
    return value < limit ? value : limit;
}

/* Submits one tile of H; returns the task after which it can be read. `a` is a block of whole rows;
 * `b` and `bias` are cut to the tile's columns. */
TG_FN static uint64_t hidden_tile(struct tg_rt *rt, struct tg_tensor a, struct tg_tensor b,
                                  struct tg_tensor bias, struct tg_tensor h, int64_t tile)
{
    struct tg_args task;
    uint64_t last = TG_TASK_NONE; /* nothing to wait for */
    for (int64_t k = 0; k < a.shape[1]; k += tile) {
        int64_t end = at_most(k + tile, a.shape[1]);
        tg_args_init(&task);
        tg_args_in(&task, tg_tensor_slice(a, 1, k, end, 1));
        tg_args_in(&task, tg_tensor_slice(b, 0, k, end, 1));
        tg_args_tensor(&task, k == 0 ? TG_OUT : TG_INOUT, h);
        tg_args_after(&task, last);
        last = tg_submit(rt, k == 0 ? TILE_PRODUCT : TILE_ACCUMULATE, &task);
    }
    tg_args_init(&task);
    tg_args_in(&task, bias);
    tg_args_inout(&task, h);
    tg_args_after(&task, last);
    return tg_submit(rt, TILE_BIAS_RELU, &task);
}

TG_ORCHESTRATION(matmul_chain)
{
    struct tg_tensor a = args->tensor[0];
    struct tg_tensor b = args->tensor[1];
    struct tg_tensor bias = args->tensor[2];
    struct tg_tensor c = args->tensor[3];
    struct tg_tensor d = args->tensor[4];
    int64_t tile = (int64_t)args->scalar[0].bits;
    int64_t m = a.shape[0], n = b.shape[1], p = c.shape[1];

    if (tile < 1 || n > tile * MAX_TILES) {
        tg_fail(rt, "H must be at most 64 tiles wide: raise the tile");
        return;
    }
    for (int64_t i = 0; i < m; i += tile) {
        TG_SCOPE(rt) { /* one row of tiles; its part of H is freed when the scope ends */
            int64_t rows = at_most(tile, m - i);
            int64_t h_shape[2];
            uint64_t ready[MAX_TILES];
            uint32_t n_ready = 0;
            h_shape[0] = rows;
            h_shape[1] = n;
            struct tg_tensor h = tg_alloc(rt, TG_FLOAT32, 2, h_shape);
            struct tg_tensor a_rows = tg_tensor_slice(a, 0, i, i + rows, 1);

            for (int64_t j = 0; j < n; j += tile) {
                int64_t end = at_most(j + tile, n);
                ready[n_ready++] = hidden_tile(rt, a_rows, tg_tensor_slice(b, 1, j, end, 1),
                                               tg_tensor_slice(bias, 0, j, end, 1),
                                               tg_tensor_slice(h, 1, j, end, 1), tile);
            }
            for (int64_t q = 0; q < p; q += tile) {
                int64_t cols = at_most(tile, p - q);
                struct tg_args task;
                tg_args_init(&task);
                tg_args_in(&task, h);
                tg_args_in(&task, tg_tensor_slice(c, 1, q, q + cols, 1));
                tg_args_out(&task, tg_tensor_tile(d, i, rows, q, cols));
                tg_args_after_all(&task, ready, n_ready);
                tg_submit(rt, TILE_PRODUCT, &task);
            }
        }
    }
}
