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
 *
 * Over several ranks a task runs where the tile is that it writes. Of the tiles that it reads,
 * potrf and trsm have made the final ones elsewhere: whoever has such a tile sends it to every rank
 * that needs it (tg_send, straight from the matrix), and these keep it until the column's updates
 * are done. Then the tg_recv is the last writer of the tile, and the rule for edges stays. All
 * ranks go through the columns in the same order and a tile is sent before it is received, so no
 * rank waits for what comes later.
 */
#include "cholesky.h"

struct matrix {
    struct tg_tensor a;        /* the tiles of this rank */
    struct tg_tensor received; /* of several ranks: tile (k + i, k) of others is the i-th */
    struct cholesky_grid grid;
    int64_t rank, n, tile, tiles;
    uint64_t writer[CHOLESKY_MAX_TILES][CHOLESKY_MAX_TILES]; /* last writer of each tile */
};

TG_INLINE int64_t at_most(int64_t value, int64_t limit)
{
    return value < limit ? value : limit;
}

TG_INLINE bool is_own(const struct matrix *m, int64_t i, int64_t j)
{
    return cholesky_owner(&m->grid, i, j) == m->rank;
}

/* A tile of this rank, or one that it has received from another. */
TG_FN static struct tg_tensor tile_at(const struct matrix *m, int64_t i, int64_t j)
{
    int64_t rows = at_most(m->tile, m->n - i * m->tile);
    int64_t cols = at_most(m->tile, m->n - j * m->tile);
    if (!is_own(m, i, j))
        return tg_tensor_tile(tg_tensor_index(m->received, 0, i - j), 0, rows, 0, cols);
    return tg_tensor_tile(m->a, i / m->grid.down * m->tile, rows, j / m->grid.across * m->tile,
                          cols);
}

/* The task reads or writes a tile, so it waits for the task that wrote the tile last. */
TG_FN static void use(const struct matrix *m, struct tg_args *task, enum tg_role role, int64_t i,
                      int64_t j)
{
    tg_args_tensor(task, role, tile_at(m, i, j));
    tg_args_after(task, m->writer[i][j]);
}

TG_APART TG_FN static void potrf(struct tg_rt *rt, struct matrix *m, int64_t k)
{
    struct tg_args task;
    tg_args_init(&task);
    use(m, &task, TG_INOUT, k, k);
    m->writer[k][k] = tg_submit(rt, CHOLESKY_POTRF, &task);
}

TG_APART TG_FN static void trsm(struct tg_rt *rt, struct matrix *m, int64_t i, int64_t k)
{
    struct tg_args task;
    tg_args_init(&task);
    use(m, &task, TG_IN, k, k);
    use(m, &task, TG_INOUT, i, k);
    m->writer[i][k] = tg_submit(rt, CHOLESKY_TRSM, &task);
}

TG_APART TG_FN static void syrk(struct tg_rt *rt, struct matrix *m, int64_t i, int64_t k)
{
    struct tg_args task;
    tg_args_init(&task);
    use(m, &task, TG_IN, i, k);
    use(m, &task, TG_INOUT, i, i);
    m->writer[i][i] = tg_submit(rt, CHOLESKY_SYRK, &task);
}

TG_APART TG_FN static void gemm(struct tg_rt *rt, struct matrix *m, int64_t i, int64_t j, int64_t k)
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
TG_APART TG_FN static void column(struct tg_rt *rt, struct matrix *m, int64_t k)
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

/* One of the numbers [from, to) is dealt to place `which` of `places`. */
TG_INLINE bool deals(int64_t from, int64_t to, int64_t places, int64_t which)
{
    return from + ((which - from) % places + places) % places < to;
}

/* Who reads the final tile (i, k), besides the rank that has it: for the diagonal one those with
 * tiles below it; for the others those with tiles to the right of it that it updates, in its row
 * or, as the second factor, in column i. */
TG_FN static bool needs(const struct matrix *m, const struct cholesky_grid *g, int64_t i, int64_t k)
{
    if (i == k)
        return g->col == k % g->across && deals(k + 1, m->tiles, g->down, g->row);
    return (g->row == i % g->down && deals(k + 1, i + 1, g->across, g->col)) ||
           (g->col == i % g->across && deals(i, m->tiles, g->down, g->row));
}

/* Sends the final tile (i, k) to all who need it, or receives it. The tag is its row; the columns
 * come in order. */
TG_APART TG_FN static void share(struct tg_rt *rt, struct matrix *m, int64_t i, int64_t k)
{
    int64_t owner = cholesky_owner(&m->grid, i, k), ranks = m->grid.down * m->grid.across;
    struct tg_args task;
    tg_args_init(&task);
    if (owner != m->rank) {
        if (!needs(m, &m->grid, i, k))
            return;
        tg_args_out(&task, tile_at(m, i, k));
        m->writer[i][k] = tg_recv(rt, owner, i, &task);
        return;
    }
    use(m, &task, TG_IN, i, k);
    for (int64_t rank = 0; rank < ranks; rank++) {
        struct cholesky_grid g = cholesky_place(rank, ranks);
        if (rank != m->rank && needs(m, &g, i, k))
            tg_send(rt, rank, i, &task);
    }
}

/* The tasks of column k that are this rank's; the scope around this call keeps what it receives. */
TG_APART TG_FN static void column_over_ranks(struct tg_rt *rt, struct matrix *m, int64_t k)
{
    int64_t shape[3];
    shape[0] = m->tiles - k;
    shape[1] = shape[2] = m->tile;
    m->received = tg_alloc(rt, TG_FLOAT32, 3, shape);
    for (int64_t i = k; i < m->tiles; i++) {
        TG_SCOPE(rt) {
            if (is_own(m, i, k) && i == k)
                potrf(rt, m, k);
            else if (is_own(m, i, k))
                trsm(rt, m, i, k);
            share(rt, m, i, k);
        }
    }
    for (int64_t i = k + 1; i < m->tiles; i++) {
        TG_SCOPE(rt) {
            for (int64_t j = k + 1; j < i; j++)
                if (is_own(m, i, j))
                    gemm(rt, m, i, j, k);
            if (is_own(m, i, i))
                syrk(rt, m, i, k);
        }
    }
}

TG_ORCHESTRATION(cholesky)
{
    struct matrix m;
    m.a = args->tensor[0];
    m.rank = tg_rank(rt);
    m.grid = cholesky_place(m.rank, tg_ranks(rt));
    m.tile = tg_args_get_i64(args, 0);
    m.n = tg_ranks(rt) == 1 ? m.a.shape[0] : tg_args_get_i64(args, 1);
    m.received = tg_tensor_none();
    if (m.tile < 1 || m.n > m.tile * CHOLESKY_MAX_TILES) {
        tg_fail(rt, "the matrix must be at most 24 tiles wide: raise the tile");
        return;
    }
    m.tiles = (m.n + m.tile - 1) / m.tile;
    for (int64_t i = 0; i < m.tiles; i++)
        for (int64_t j = 0; j < m.tiles; j++)
            m.writer[i][j] = TG_TASK_NONE;
    for (int64_t k = 0; k < m.tiles; k++) {
        if (tg_ranks(rt) == 1)
            column(rt, &m, k);
        else
            TG_SCOPE(rt) {
                column_over_ranks(rt, &m, k);
            }
    }
}
