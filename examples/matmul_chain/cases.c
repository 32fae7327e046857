/* SPDX-License-Identifier: Apache-2.0 */
#include "matmul_chain.h"

#include <math.h>
#include <stdlib.h>
#include <taskglass/workload.h>

static const struct tg_kernel_def kernels[MATMUL_CHAIN_KERNELS] = {
    [TILE_PRODUCT] = {"tile_product", tile_product, TG_AIC, "in:float32 in:float32 out:float32"},
    [TILE_ACCUMULATE] = {"tile_accumulate", tile_accumulate, TG_AIC,
                         "in:float32 in:float32 inout:float32"},
    [TILE_BIAS_RELU] = {"tile_bias_relu", tile_bias_relu, TG_AIV, "in:float32 inout:float32"},
};

static const struct tg_case_def cases[] = {
    {"small", "a few tiles of 32 by 32", "m=64 k=96 n=64 p=64 tile=32"},
    {"large", "some hundred tasks", "m=256 k=256 n=256 p=256 tile=32"},
    {"ragged", "no size is a multiple of the tile", "m=50 k=70 n=45 p=33 tile=16"},
    {"one", "everything in a single tile", "m=8 k=8 n=8 p=8 tile=8"},
};

enum { MAX_SIZE = 4096 };

/* m, k, n, p: A is m by k, B is k by n, C is n by p. */
struct sizes {
    int64_t m, k, n, p;
};

static struct sizes sizes_of(struct tg_case *c)
{
    return (struct sizes){tg_case_int(c, "m"), tg_case_int(c, "k"), tg_case_int(c, "n"),
                          tg_case_int(c, "p")};
}

static bool in_range(int64_t size)
{
    return size >= 1 && size <= MAX_SIZE;
}

static float *matrix(struct tg_case *c, const char *name, enum tg_role role, int64_t rows,
                     int64_t cols)
{
    return tg_case_tensor(c, name, role, TG_FLOAT32, 2, ((int64_t[]){rows, cols}));
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
    int64_t tile = tg_case_int(c, "tile");

    if (!in_range(s.m) || !in_range(s.k) || !in_range(s.n) || !in_range(s.p)) {
        tg_case_fail(c, "m, k, n and p must each be from 1 to 4096");
        return;
    }
    if (!in_range(tile) || s.n > tile * MAX_TILES) {
        tg_case_fail(c, "tile must be from 1 to 4096, and n at most 64 tiles");
        return;
    }
    fill(matrix(c, "a", TG_IN, s.m, s.k), s.m * s.k, 1);
    fill(matrix(c, "b", TG_IN, s.k, s.n), s.k * s.n, 2);
    fill(tg_case_tensor(c, "bias", TG_IN, TG_FLOAT32, 1, &s.n), s.n, 3);
    fill(matrix(c, "c", TG_IN, s.n, s.p), s.n * s.p, 4);
    matrix(c, "d", TG_OUT, s.m, s.p);
    tg_case_scalar(c, "tile", TG_INT64, (uint64_t)tile);
}

/* h = relu(a·b + bias), and in `terms` the same sum with every term made positive. */
static void hidden(struct sizes s, const float *a, const float *b, const float *bias, double *h,
                   double *terms)
{
    for (int64_t i = 0; i < s.m; i++)
        for (int64_t j = 0; j < s.n; j++) {
            double sum = bias[j], size = fabs((double)bias[j]);
            for (int64_t k = 0; k < s.k; k++) {
                double term = (double)a[i * s.k + k] * (double)b[k * s.n + j];
                sum += term;
                size += fabs(term);
            }
            h[i * s.n + j] = sum > 0 ? sum : 0;
            terms[i * s.n + j] = size;
        }
}

/* The largest possible error of a sum, relative to the sum of its terms' magnitudes, if no term
 * goes through more than n roundings. */
static double rounding(int64_t n)
{
    const double u = 0x1p-24;
    return (double)n * u / (1 - (double)n * u);
}

/*
 * The tolerance is float32's own error bound, not a guess. With u = 2^-24, a sum of products in
 * which each goes through at most n roundings is off by at most
 *
 *     g(n) = n·u / (1 - n·u)
 *
 * times the sum of the products' magnitudes (Higham, Accuracy and Stability of Numerical
 * Algorithms, chapter 3).
 *   H  A product is rounded once, added up within its tile, then with the other ceil(k / tile)
 *      tiles and the bias: n1 = min(tile, k) + ceil(k / tile). With T = |A|·|B| + |bias|, H is off by
 *      g(n1)·T at most, and relu makes no error larger.
 *   D  Sums of n products of such an H: off by g(n)·|H|·|C| for their own roundings, and by
 *      (1 + g(n))·g(n1)·T·|C| for those of H.
 * The tolerance is the largest of these bounds over all of D. It grows with k and n; a correct
 * kernel that sums in another order, or with fused multiply-add, stays within it. The error of the
 * golden values, in double, is 2^-29 of it.
 */
static double tolerance(struct sizes s, int64_t tile, const double *h, const double *terms,
                        const float *c)
{
    int64_t in_tile = tile < s.k ? tile : s.k;
    double of_h = (1 + rounding(s.n)) * rounding(in_tile + (s.k + tile - 1) / tile);
    double of_d = rounding(s.n), largest = 0;
    for (int64_t i = 0; i < s.m; i++)
        for (int64_t q = 0; q < s.p; q++) {
            double error = 0;
            for (int64_t j = 0; j < s.n; j++)
                error += (of_h * terms[i * s.n + j] + of_d * h[i * s.n + j]) *
                         fabs((double)c[j * s.p + q]);
            largest = fmax(largest, error);
        }
    return largest;
}

static void golden(struct tg_case *c)
{
    struct sizes s = sizes_of(c);
    const float *right = tg_case_input(c, "c");
    double *h = malloc((size_t)(s.m * s.n) * sizeof *h);
    double *terms = malloc((size_t)(s.m * s.n) * sizeof *terms);

    if (h && terms) {
        hidden(s, tg_case_input(c, "a"), tg_case_input(c, "b"), tg_case_input(c, "bias"), h, terms);
        double *d =
            tg_case_expect(c, "d", tolerance(s, tg_case_int(c, "tile"), h, terms, right), 0);
        for (int64_t i = 0; i < s.m; i++)
            for (int64_t q = 0; q < s.p; q++) {
                d[i * s.p + q] = 0;
                for (int64_t j = 0; j < s.n; j++)
                    d[i * s.p + q] += h[i * s.n + j] * (double)right[j * s.p + q];
            }
    } else {
        tg_case_fail(c, "no memory for the golden values: make m or n smaller");
    }
    free(terms);
    free(h);
}

/* ── references for `taskglass check` ─────────────────────────────────────────────────────── */

/* c = start + a·b, summed in double; every tensor is contiguous here. */
static void product_into(const struct tg_ctx *ctx, bool accumulate)
{
    const float *a = TG_ARG(ctx, 0, const float), *b = TG_ARG(ctx, 1, const float);
    float *c = TG_ARG(ctx, 2, float);
    int64_t m = ctx->tensor[2].shape[0], n = ctx->tensor[2].shape[1], k = ctx->tensor[0].shape[1];
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = accumulate ? (double)c[i * n + j] : 0;
            for (int64_t t = 0; t < k; t++)
                sum += (double)a[i * k + t] * (double)b[t * n + j];
            c[i * n + j] = (float)sum;
        }
}

static void reference_product(const struct tg_ctx *ctx)
{
    product_into(ctx, false);
}

static void reference_accumulate(const struct tg_ctx *ctx)
{
    product_into(ctx, true);
}

static void reference_bias_relu(const struct tg_ctx *ctx)
{
    const float *bias = TG_ARG(ctx, 0, const float);
    float *c = TG_ARG(ctx, 1, float);
    int64_t n = ctx->tensor[1].shape[1];
    for (int64_t i = 0; i < tg_arg_numel(ctx, 1); i++)
        c[i] = fmaxf(c[i] + bias[i % n], 0);
}

/* Inputs are in [-1, 1) and sums have at most 4096 terms. n roundings of sums below n leave an
 * error below n²·2^-24; 1e-3 covers tiles of 128, because only the random part of the errors adds
 * up. */
static const struct tg_reference_def references[] = {
    {"tile_product", reference_product, 1e-3, 1e-4},
    {"tile_accumulate", reference_accumulate, 1e-3, 1e-4},
    {"tile_bias_relu", reference_bias_relu, 0, 1e-6},
};

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "matmul_chain",
    .summary = "D = relu(A*B + bias)*C: tiles on matrix cores, epilogue on vector cores",
    .kernels = kernels,
    .n_kernels = MATMUL_CHAIN_KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = matmul_chain,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
    .references = references,
    .n_references = sizeof references / sizeof references[0],
};
