/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of this workload share. */
#ifndef CHOLESKY_H
#define CHOLESKY_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

/* Named as LAPACK and BLAS name these operations. */
enum { CHOLESKY_POTRF, CHOLESKY_TRSM, CHOLESKY_SYRK, CHOLESKY_GEMM, CHOLESKY_KERNELS };

/* Tiles along a side: the orchestration keeps a task id for each tile of the matrix. */
enum { CHOLESKY_MAX_TILES = 24 };

/* The ranks as a grid, as square as their number allows, and the place of one of them. Tiles are
 * dealt out to it like cards, row by row and column by column (block-cyclic), so that every rank
 * has work until the last columns. A rank keeps its tiles side by side, as one smaller matrix. */
struct cholesky_grid {
    int64_t down, across;
    int64_t row, col;
};

TG_INLINE struct cholesky_grid cholesky_place(int64_t rank, int64_t ranks)
{
    struct cholesky_grid g;
    g.down = 1;
    for (int64_t d = 2; d * d <= ranks; d++)
        if (ranks % d == 0)
            g.down = d;
    g.across = ranks / g.down;
    g.row = rank / g.across;
    g.col = rank % g.across;
    return g;
}

/* The rank that has tile (i, j). */
TG_INLINE int64_t cholesky_owner(const struct cholesky_grid *g, int64_t i, int64_t j)
{
    return i % g->down * g->across + j % g->across;
}

TG_KERNEL(cholesky_potrf);
TG_KERNEL(cholesky_trsm);
TG_KERNEL(cholesky_syrk);
TG_KERNEL(cholesky_gemm);
TG_ORCHESTRATION(cholesky);

#endif
