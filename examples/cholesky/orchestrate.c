/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A = L·Lᵀ in place, tile by tile, right-looking. For every column k of tiles:
 *
 *   AIV  potrf   A(k,k)  = its Cholesky factor
 *   AIV  trsm    A(i,k)  = A(i,k)·A(k,k)⁻ᵀ       for i > k
 *   AIC  syrk    A(i,i) -= A(i,k)·A(i,k)ᵀ        for i > k
 *   AIC  gemm    A(i,j) -= A(i,k)·A(j,k)ᵀ        for i > j > k
 *
 * Edges: a task waits for the last writer of every tile that it reads or writes, and for nothing
 * else. No task overwrites a tile that another still reads: other tasks read a tile only when potrf
 * or trsm has made it final, and no task writes a final tile. Each writer waits for the writer
 * before it, which keeps the updates of a tile in order.
 *
 * Column k+1 starts as soon as its own tiles are updated, long before the last of column k's
 * updates: the graph is as wide as the data allow.
 */
#include "cholesky.h"

struct matrix {
    struct tg_tensor a;
    int64_t n, tile, tiles;
    uint64_t writer[CHOLESKY_MAX_TILES][CHOLESKY_MAX_TILES]; /* last writer of each tile */
};

TG_INLINE int64_t at_most(int64_t value, int64_t limit)
{
    return value < limit ? value : limit;
}

TG_FN static struct tg_tensor tile_at(const struct matrix *m, int64_t i, int64_t j)
{
    int64_t row = i * m->tile, col = j * m->tile;
    return tg_tensor_tile(m->a, row, at_most(m->tile, m->n - row), col,
                          at_most(m->tile, m->n - col));
}

/* The task reads or writes a tile, so it waits for the task that wrote the tile last. */
TG_FN static void use(const struct matrix *m, struct tg_args *task, enum tg_role role, int64_t i,
                      int64_t j)
{
    tg_args_tensor(task, role, tile_at(m, i, j));
    tg_args_after(task, m->writer[i][j]);
}

TG_FN static void potrf(struct tg_rt *rt, struct matrix *m, int64_t k)
{
    struct tg_args task;
    tg_args_init(&task);
    use(m, &task, TG_INOUT, k, k);
    m->writer[k][k] = tg_submit(rt, CHOLESKY_POTRF, &task);
}

TG_FN static void trsm(struct tg_rt *rt, struct matrix *m, int64_t i, int64_t k)
{
    struct tg_args task;
    tg_args_init(&task);
    use(m, &task, TG_IN, k, k);
    use(m, &task, TG_INOUT, i, k);
    m->writer[i][k] = tg_submit(rt, CHOLESKY_TRSM, &task);
}

TG_FN static void syrk(struct tg_rt *rt, struct matrix *m, int64_t i, int64_t k)
{
    struct tg_args task;
    tg_args_init(&task);
    use(m, &task, TG_IN, i, k);
    use(m, &task, TG_INOUT, i, i);
    m->writer[i][i] = tg_submit(rt, CHOLESKY_SYRK, &task);
}

TG_FN static void gemm(struct tg_rt *rt, struct matrix *m, int64_t i, int64_t j, int64_t k)
{
    struct tg_args task;
    tg_args_init(&task);
    use(m, &task, TG_IN, i, k);
    use(m, &task, TG_IN, j, k);
    use(m, &task, TG_INOUT, i, j);
    m->writer[i][j] = tg_submit(rt, CHOLESKY_GEMM, &task);
}

/* Submits column k, then the updates to its right, row by row. The column and each row is a scope
 * of at most 24 tasks, so that on runtimes with rings a small window of task slots is enough for
 * any matrix. */
TG_FN static void column(struct tg_rt *rt, struct matrix *m, int64_t k)
{
    TG_SCOPE(rt) {
        potrf(rt, m, k);
        for (int64_t i = k + 1; i < m->tiles; i++)
            trsm(rt, m, i, k);
    }
    for (int64_t i = k + 1; i < m->tiles; i++) {
        TG_SCOPE(rt) {
            for (int64_t j = k + 1; j < i; j++)
                gemm(rt, m, i, j, k);
            syrk(rt, m, i, k);
        }
    }
}

TG_ORCHESTRATION(cholesky)
{
    struct matrix m;
    m.a = args->tensor[0];
    m.n = m.a.shape[0];
    m.tile = tg_args_get_i64(args, 0);
    if (m.tile < 1 || m.n > m.tile * CHOLESKY_MAX_TILES) {
        tg_fail(rt, "the matrix must be at most 24 tiles wide: raise the tile");
        return;
    }
    m.tiles = (m.n + m.tile - 1) / m.tile;
    for (int64_t i = 0; i < m.tiles; i++)
        for (int64_t j = 0; j < m.tiles; j++)
            m.writer[i][j] = TG_TASK_NONE;
    for (int64_t k = 0; k < m.tiles; k++)
        column(rt, &m, k);
}
