/* SPDX-License-Identifier: Apache-2.0 */
#include "bgemm.h"

#include <math.h>
#include <taskglass/workload.h>

static const struct tg_kernel_def kernels[BGEMM_KERNELS] = {
    [BGEMM_PRODUCT] = {"bgemm_product", bgemm_product, TG_AIC, "in:float32 in:float32 out:float32"},
    [BGEMM_ACCUMULATE] = {"bgemm_accumulate", bgemm_accumulate, TG_AIC,
                          "in:float32 in:float32 inout:float32"},
};

static const struct tg_case_def cases[] = {
    {"small", "four products of a few tiles", "batch=4 m=64 k=64 n=64 tile=16"},
    {"medium", "some thousand tasks", "batch=16 m=128 k=96 n=96 tile=16"},
    {"ragged", "no size is a multiple of the tile", "batch=3 m=50 k=70 n=45 tile=16"},
    {"one", "one product in a single tile", "batch=1 m=8 k=8 n=8 tile=8"},
    {"large", "tiles that keep a matrix core busy", "batch=2 m=512 k=512 n=512 tile=128"},
};

enum { MAX_BATCH = 1024, MAX_SIZE = 1024 };

/* A is batch by m by k, B is batch by k by n. */
struct sizes {
    int64_t batch, m, k, n, tile;
};

static struct sizes sizes_of(struct tg_case *c)
{
    return (struct sizes){tg_case_int(c, "batch"), tg_case_int(c, "m"), tg_case_int(c, "k"),
                          tg_case_int(c, "n"), tg_case_int(c, "tile")};
}

static bool in_range(int64_t value, int64_t most)
{
    return value >= 1 && value <= most;
}

static float *matrices(struct tg_case *c, const char *name, enum tg_role role, int64_t batch,
                       int64_t rows, int64_t cols)
{
    return tg_case_tensor(c, name, role, TG_FLOAT32, 3, ((int64_t[]){batch, rows, cols}));
}

static void fill(float *x, int64_t n, uint32_t seed)
{
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(seed >> 8) / 8388608.0f - 1.0f;
    }
}

static void prepare(struct tg_case *c)
{
    struct sizes s = sizes_of(c);

    if (!in_range(s.m, MAX_SIZE) || !in_range(s.k, MAX_SIZE) || !in_range(s.n, MAX_SIZE) ||
        !in_range(s.batch, MAX_BATCH)) {
        tg_case_fail(c, "batch, m, k and n must each be from 1 to 1024");
        return;
    }
    if (!in_range(s.tile, MAX_SIZE) || s.k > s.tile * BGEMM_MAX_TILES ||
        s.n > s.tile * BGEMM_MAX_TILES) {
        tg_case_fail(c, "tile must be from 1 to 1024, and k and n at most 64 tiles each");
        return;
    }
    fill(matrices(c, "a", TG_IN, s.batch, s.m, s.k), s.batch * s.m * s.k, 1);
    fill(matrices(c, "b", TG_IN, s.batch, s.k, s.n), s.batch * s.k * s.n, 2);
    matrices(c, "c", TG_OUT, s.batch, s.m, s.n);
    tg_case_scalar(c, "tile", TG_INT64, (uint64_t)s.tile);
}

/* One product of the batch. */
struct operands {
    const float *a, *b;
};

static struct operands operands_of(struct tg_case *c, struct sizes s, int64_t i)
{
    const float *a = tg_case_input(c, "a"), *b = tg_case_input(c, "b");
    return (struct operands){a + i * s.m * s.k, b + i * s.k * s.n};
}

/* Element (i, j) of a product, and the sum of its terms' magnitudes. */
static double element(struct sizes s, struct operands x, int64_t i, int64_t j, double *size)
{
    double sum = 0;
    *size = 0;
    for (int64_t k = 0; k < s.k; k++) {
        double term = (double)x.a[i * s.k + k] * (double)x.b[k * s.n + j];
        sum += term;
        *size += fabs(term);
    }
    return sum;
}

/*
 * The tolerance is float32's own error bound, not a guess. With u = 2^-24, a sum of products in
 * which each goes through at most n roundings is off by at most n·u / (1 - n·u) times the sum of
 * the products' magnitudes (Higham, Accuracy and Stability of Numerical Algorithms, chapter 3).
 * Here a product is rounded once and added to the others of its tile, min(tile, k) roundings in
 * all; each further tile along k adds one more. Fused multiply-add only saves roundings. The
 * tolerance is the largest of these bounds over all of C. The error of the golden values, in
 * double, is 2^-29 of it.
 */
static double tolerance(struct tg_case *c, struct sizes s)
{
    const double u = 0x1p-24;
    int64_t in_tile = s.tile < s.k ? s.tile : s.k, tiles = (s.k + s.tile - 1) / s.tile;
    double n = (double)(in_tile + tiles - 1), largest = 0, size;
    for (int64_t b = 0; b < s.batch; b++)
        for (int64_t i = 0; i < s.m; i++)
            for (int64_t j = 0; j < s.n; j++) {
                element(s, operands_of(c, s, b), i, j, &size);
                largest = fmax(largest, size);
            }
    return n * u / (1 - n * u) * largest;
}

static void golden(struct tg_case *c)
{
    struct sizes s = sizes_of(c);
    double *expected = tg_case_expect(c, "c", tolerance(c, s), 0), size;

    for (int64_t b = 0; b < s.batch; b++)
        for (int64_t i = 0; i < s.m; i++)
            for (int64_t j = 0; j < s.n; j++)
                *expected++ = element(s, operands_of(c, s, b), i, j, &size);
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "bgemm",
    .summary = "a batch of matrix products: tiles on matrix cores, k split over tasks",
    .kernels = kernels,
    .n_kernels = BGEMM_KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = bgemm,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
};
