/* SPDX-License-Identifier: Apache-2.0 */
#include "cholesky.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/workload.h>

static const struct tg_kernel_def kernels[CHOLESKY_KERNELS] = {
    [CHOLESKY_POTRF] = {"cholesky_potrf", cholesky_potrf, TG_AIV, "inout:float32"},
    [CHOLESKY_TRSM] = {"cholesky_trsm", cholesky_trsm, TG_AIV, "in:float32 inout:float32"},
    [CHOLESKY_SYRK] = {"cholesky_syrk", cholesky_syrk, TG_AIC, "in:float32 inout:float32"},
    [CHOLESKY_GEMM] = {"cholesky_gemm", cholesky_gemm, TG_AIC,
                       "in:float32 in:float32 inout:float32"},
};

static const struct tg_case_def cases[] = {
    {"small", "4 by 4 tiles", "n=64 tile=16"},
    {"medium", "16 by 16 tiles", "n=256 tile=16"},
    {"large", "24 by 24 tiles, some thousand tasks", "n=384 tile=16"},
    {"ragged", "the size is not a multiple of the tile", "n=150 tile=32"},
    {"one", "a single tile", "n=16 tile=16"},
    {"block_cyclic", "for several ranks: 9 by 9 tiles, the last of 6 rows", "n=70 tile=8"},
};

enum { MAX_SIZE = 1024 };

/* Which elements of the matrix this rank has: the tiles that cholesky.h deals to it, side by side.
 * On one rank these are all of them, in their places. */
struct share {
    int64_t n, tile;
    struct cholesky_grid grid;
    int64_t rows, cols; /* of the matrix that this rank keeps */
};

/* Where row or column `at` is kept, counted from the first, or -1: another rank has it. */
static int64_t kept_at(int64_t at, int64_t tile, int64_t places, int64_t which)
{
    int64_t number = at / tile;
    return number % places == which ? number / places * tile + at % tile : -1;
}

static int64_t count_kept(int64_t n, int64_t tile, int64_t places, int64_t which)
{
    int64_t kept = 0;
    for (int64_t at = 0; at < n; at++)
        kept += kept_at(at, tile, places, which) >= 0;
    return kept;
}

static struct share share_of(struct tg_case *c, int64_t n, int64_t tile)
{
    struct share s = {n, tile, cholesky_place(tg_case_rank(c), tg_case_ranks(c)), 0, 0};
    s.rows = count_kept(n, tile, s.grid.down, s.grid.row);
    s.cols = count_kept(n, tile, s.grid.across, s.grid.col);
    return s;
}

/* The place of element (i, j) in what this rank keeps, or -1. */
static int64_t place_of(const struct share *s, int64_t i, int64_t j)
{
    int64_t row = kept_at(i, s->tile, s->grid.down, s->grid.row);
    int64_t col = kept_at(j, s->tile, s->grid.across, s->grid.col);
    return row < 0 || col < 0 ? -1 : row * s->cols + col;
}

static void put(float *a, const struct share *s, int64_t i, int64_t j, float value)
{
    int64_t place = place_of(s, i, j);
    if (place >= 0)
        a[place] = value;
}

/*
 * This rank's share of a symmetric matrix with numbers from -1 to 1, and n on the diagonal. In each
 * row n is more than the magnitudes of the other elements can add up to, so every eigenvalue is
 * positive (Gershgorin).
 */
static void fill(float *a, const struct share *s, uint32_t seed)
{
    for (int64_t i = 0; i < s->n; i++) {
        for (int64_t j = 0; j < i; j++) {
            seed = seed * 1664525u + 1013904223u;
            float value = (float)(seed >> 8) / 8388608.0f - 1.0f;
            put(a, s, i, j, value);
            put(a, s, j, i, value);
        }
        put(a, s, i, i, (float)s->n);
    }
}

static void prepare(struct tg_case *c)
{
    int64_t n = tg_case_int(c, "n"), tile = tg_case_int(c, "tile");

    if (n < 1 || n > MAX_SIZE) {
        tg_case_fail(c, "n must be from 1 to 1024");
        return;
    }
    if (tile < 1 || tile > MAX_SIZE || n > tile * CHOLESKY_MAX_TILES) {
        tg_case_fail(c, "tile must be from 1 to 1024, and n at most 24 tiles");
        return;
    }
    struct share s = share_of(c, n, tile);
    fill(tg_case_tensor(c, "a", TG_INOUT, TG_FLOAT32, 2, ((int64_t[]){s.rows, s.cols})), &s, 1);
    tg_case_scalar(c, "tile", TG_INT64, (uint64_t)tile);
    if (tg_case_ranks(c) > 1) /* a rank alone sees it in the shape */
        tg_case_scalar(c, "n", TG_INT64, (uint64_t)n);
}

/* The factor in double, and for each element the largest possible error in float32. */
struct factor {
    int64_t n;
    double *l, *error;
};

static const double u = 0x1p-24; /* relative rounding error of float32 */

/* The largest possible error of a sum, relative to the sum of its terms' magnitudes, if no term
 * goes through more than n roundings. */
static double rounding(int64_t n)
{
    return (double)n * u / (1 - (double)n * u);
}

/* l(i,j) before the division or the root: s = a - sum of l(i,k)·l(j,k) over k < j. */
struct sum {
    double value, error;
};

static struct sum sum_of(const struct factor *f, double a, int64_t i, int64_t j)
{
    const double *li = f->l + i * f->n, *lj = f->l + j * f->n;
    const double *ei = f->error + i * f->n, *ej = f->error + j * f->n;
    double value = a, inherited = 0, size = fabs(a);
    for (int64_t k = 0; k < j; k++) {
        double drift = ei[k] * fabs(lj[k]) + fabs(li[k]) * ej[k] + ei[k] * ej[k];
        value -= li[k] * lj[k];
        inherited += drift;
        size += fabs(li[k] * lj[k]) + drift;
    }
    return (struct sum){value, inherited + rounding(j + 1) * size};
}

/*
 * The error bound is that of the algorithm itself, followed element by element. In the usual form,
 * the computed factor is that of A + E with |E| <= g(n + 1)·|L|·|Lᵀ|, where g(n) = n·u / (1 - n·u)
 * (Higham, Accuracy and Stability of Numerical Algorithms, theorem 10.3). Its proof goes over the
 * same sums as this function:
 *   s   a and j products, each rounded once and then added up: j + 1 roundings at most, in
 *       whatever order the tiles add them. So s is off by g(j + 1) of all magnitudes, and by what
 *       its factors were off already; call that d.
 *   l   s / l(j,j), where l(j,j) may be off by e: (d + |l|·e) / (l(j,j) - e), rounded once.
 *       In the diagonal, the root of s: d / l, rounded once, since |√x - √y| is
 *       |x - y| / (√x + √y).
 * The bounds therefore include what |L|·|Lᵀ| and the condition of A mean for this matrix. The error
 * of the golden values, in double, is 2^-29 of that.
 */
static void factorize(const struct factor *f, const float *a)
{
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t j = 0; j <= i; j++) {
            struct sum s = sum_of(f, (double)a[i * f->n + j], i, j);
            double *l = &f->l[i * f->n + j], *error = &f->error[i * f->n + j];
            double diagonal = f->l[j * f->n + j], off = f->error[j * f->n + j];
            if (i == j) {
                *l = sqrt(s.value);
                *error = (1 + u) * s.error / *l + u * *l;
            } else {
                *l = s.value / diagonal;
                *error = (1 + u) * (s.error + fabs(*l) * off) / (diagonal - off) + u * fabs(*l);
            }
        }
}

/* The diagonal is large, and its error grows with it; the elements below it are small. So the
 * tolerance has two parts: the largest error below the diagonal, and the largest relative error on
 * it. Both are those of the whole matrix, on every rank. */
static void expect(struct tg_case *c, const struct factor *f, const float *a)
{
    int64_t n = f->n;
    struct share s = share_of(c, n, tg_case_int(c, "tile"));
    double below = 0, relative = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++)
            below = fmax(below, f->error[i * n + j]);
        relative = fmax(relative, f->error[i * n + i] / f->l[i * n + i]);
    }
    double *expected = tg_case_expect(c, "a", below, relative);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) { /* above the diagonal A stays unchanged */
            int64_t place = place_of(&s, i, j);
            if (place >= 0)
                expected[place] = j <= i ? f->l[i * n + j] : (double)a[i * n + j];
        }
}

/* The whole matrix: the input, or on a rank that has a share of it what all have. */
static void fill_whole(struct tg_case *c, float *a, int64_t n)
{
    struct share all = {n, n, cholesky_place(0, 1), n, n};
    if (tg_case_ranks(c) > 1)
        fill(a, &all, 1);
    else
        memcpy(a, tg_case_input(c, "a"), (size_t)(n * n) * sizeof *a);
}

static void golden(struct tg_case *c)
{
    int64_t n = tg_case_int(c, "n");
    float *a = calloc((size_t)(n * n), sizeof *a);
    struct factor f = {n, calloc((size_t)(n * n), sizeof *f.l),
                       calloc((size_t)(n * n), sizeof *f.error)};

    bool enough = a && f.l && f.error;
    if (enough) {
        fill_whole(c, a, n);
        factorize(&f, a);
        expect(c, &f, a);
    }
    free(a);
    free(f.l);
    free(f.error);
    if (!enough)
        tg_case_fail(c, "no memory for the golden values: make n smaller");
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "cholesky",
    .summary = "A = L*Lt in place, tile by tile: a graph that narrows as it goes",
    .kernels = kernels,
    .n_kernels = CHOLESKY_KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = cholesky,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
    .communicates = 1,
};
