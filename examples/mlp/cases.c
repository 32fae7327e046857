/* SPDX-License-Identifier: Apache-2.0 */
#include "mlp.h"

#include <math.h>
#include <stdlib.h>
#include <taskglass/math.h>
#include <taskglass/workload.h>

#define TILE_ARGS "in:bfloat16 in:bfloat16 "
#define FINISH_ARGS "in:bfloat16 in:float32 out:bfloat16"
#define MIX_ARGS "in:bfloat16 in:bfloat16 in:bfloat16 out:float32 out:bfloat16"

static const struct tg_kernel_def kernels[MLP_KERNELS] = {
    [MLP_PRODUCT] = {"mlp_product", mlp_product, TG_AIC, TILE_ARGS "out:float32"},
    [MLP_ACCUMULATE] = {"mlp_accumulate", mlp_accumulate, TG_AIC, TILE_ARGS "inout:float32"},
    [MLP_GELU] = {"mlp_gelu", mlp_gelu, TG_AIV, FINISH_ARGS},
    [MLP_BIAS] = {"mlp_bias", mlp_bias, TG_AIV, FINISH_ARGS},
    [MLP_MIX_PRODUCT] = {"mlp_mix_product", mlp_mix_product, TG_AIC, MIX_ARGS},
    [MLP_MIX_GELU] = {"mlp_mix_gelu", mlp_mix_gelu, TG_AIV, MIX_ARGS},
    [MLP_MIX_BIAS] = {"mlp_mix_bias", mlp_mix_bias, TG_AIV, MIX_ARGS},
};

static const struct tg_case_def cases[] = {
    {"small", "a few tiles of 16 by 16", "batch=32 in=48 hidden=64 out=32 tile=16 fused=0"},
    {"medium", "a thousand tasks", "batch=96 in=128 hidden=192 out=96 tile=16 fused=0"},
    {"fused", "the same in a tenth of the tasks, each a mix",
     "batch=96 in=128 hidden=192 out=96 tile=16 fused=1"},
    {"ragged", "no size is a multiple of the tile",
     "batch=21 in=37 hidden=50 out=19 tile=16 fused=0"},
    {"one", "every layer is a single tile", "batch=8 in=8 hidden=8 out=8 tile=8 fused=0"},
    {"tensor_parallel", "for up to 64 ranks: each has a slice of the hidden layer",
     "batch=32 in=32 hidden=64 out=32 tile=16 fused=0"},
};

enum { MAX_SIZE = 1024 };

/* X is batch by in, W1 is in by hidden, W2 is hidden by out. */
struct sizes {
    int64_t batch, in, hidden, out;
};

static struct sizes sizes_of(struct tg_case *c)
{
    return (struct sizes){tg_case_int(c, "batch"), tg_case_int(c, "in"), tg_case_int(c, "hidden"),
                          tg_case_int(c, "out")};
}

static bool in_range(int64_t size)
{
    return size >= 1 && size <= MAX_SIZE;
}

/* A part of a matrix: columns [col, col + cols) of rows [row, row + rows). */
struct part {
    int64_t row, rows, col, cols;
};

static struct part whole(int64_t rows, int64_t cols)
{
    return (struct part){0, rows, 0, cols};
}

/* Hidden units [from, to) are this rank's; all of them if it is alone. */
struct slice {
    int64_t from, to;
};

static struct slice slice_of(struct tg_case *c, int64_t hidden)
{
    int64_t rank = tg_case_rank(c), ranks = tg_case_ranks(c);
    return (struct slice){hidden * rank / ranks, hidden * (rank + 1) / ranks};
}

/* A part of a matrix of random numbers from -scale to scale, rounded to bfloat16. The number of an
 * element depends on the whole matrix, so that all ranks together have what one device has. */
static void fill(uint16_t *x, int64_t rows, int64_t cols, struct part p, double scale,
                 uint32_t seed)
{
    for (int64_t i = 0; i < rows * cols; i++) {
        int64_t row = i / cols - p.row, col = i % cols - p.col;
        seed = seed * 1664525u + 1013904223u;
        if (row >= 0 && row < p.rows && col >= 0 && col < p.cols)
            x[row * p.cols + col] =
                tg_bfloat16_from_double(scale * ((double)(seed >> 8) / 8388608.0 - 1.0));
    }
}

/* The weights are so large that sums come to a few units, where gelu is neither 0 nor x. */
static void fill_w1(uint16_t *w, struct sizes s, struct slice h)
{
    fill(w, s.in, s.hidden, (struct part){0, s.in, h.from, h.to - h.from}, 4 / sqrt((double)s.in),
         2);
}

static void fill_b1(uint16_t *b, struct sizes s, struct slice h)
{
    fill(b, 1, s.hidden, (struct part){0, 1, h.from, h.to - h.from}, 1, 3);
}

static void fill_w2(uint16_t *w, struct sizes s, struct slice h)
{
    fill(w, s.hidden, s.out, (struct part){h.from, h.to - h.from, 0, s.out},
         2 / sqrt((double)s.hidden), 4);
}

static uint16_t *matrix(struct tg_case *c, const char *name, enum tg_role role, int64_t rows,
                        int64_t cols)
{
    return tg_case_tensor(c, name, role, TG_BFLOAT16, 2, ((int64_t[]){rows, cols}));
}

static uint16_t *vector(struct tg_case *c, const char *name, int64_t n)
{
    return tg_case_tensor(c, name, TG_IN, TG_BFLOAT16, 1, &n);
}

/* Inputs and biases of the output are on every rank, weights of the hidden layer where it is. */
static void declare(struct tg_case *c, struct sizes s)
{
    struct slice h = slice_of(c, s.hidden);
    int64_t width = h.to - h.from;
    fill(matrix(c, "x", TG_IN, s.batch, s.in), s.batch, s.in, whole(s.batch, s.in), 1, 1);
    fill_w1(matrix(c, "w1", TG_IN, s.in, width), s, h);
    fill_b1(vector(c, "b1", width), s, h);
    fill_w2(matrix(c, "w2", TG_IN, width, s.out), s, h);
    fill(vector(c, "b2", s.out), 1, s.out, whole(1, s.out), 1, 5);
    matrix(c, "y", TG_OUT, s.batch, s.out);
}

static void prepare(struct tg_case *c)
{
    struct sizes s = sizes_of(c);
    int64_t tile = tg_case_int(c, "tile"), fused = tg_case_int(c, "fused");

    if (!in_range(s.batch) || !in_range(s.in) || !in_range(s.hidden) || !in_range(s.out)) {
        tg_case_fail(c, "batch, in, hidden and out must each be from 1 to 1024");
        return;
    }
    if (!in_range(tile) || s.in > tile * MLP_MAX_TILES || s.hidden > tile * MLP_MAX_TILES ||
        s.out > tile * MLP_MAX_TILES) {
        tg_case_fail(c, "tile must be from 1 to 1024, and in, hidden and out at most 64 tiles");
        return;
    }
    if (fused < 0 || fused > 1) {
        tg_case_fail(c, "fused must be 0 or 1");
        return;
    }
    if (tg_case_ranks(c) > s.hidden) {
        tg_case_fail(c, "hidden must be at least the number of ranks: each has a part of it");
        return;
    }
    declare(c, s);
    tg_case_scalar(c, "tile", TG_INT64, (uint64_t)tile);
    tg_case_scalar(c, "fused", TG_INT64, (uint64_t)fused);
}

/* A number, and the largest error that the device may make. */
struct value {
    double exact, error;
};

/* Relative rounding errors of float32 and bfloat16. */
static const double u32 = 0x1p-24, u16 = 0x1p-8;

/* The argument of tanh in gelu's usual approximation, which the kernels take from taskglass/math.h.
 * */
static double bent(double x)
{
    return sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x);
}

/*
 * The error bound of the device, step by step; u = 2^-24 is float32's.
 *   sums    Inputs and weights are what the device has, and their products exact in float32. So n
 *           products and the bias go through n additions at most, in whatever order: off by
 *           n·u / (1 - n·u) of the terms' magnitudes (Higham, Accuracy and Stability of Numerical
 *           Algorithms, chapter 3). Where the terms were off before, that is added. Sums of parts
 *           of several ranks are such an order too.
 *   gelu    Its slope is below 1.13. What the function itself is off is stated by taskglass/math.h,
 *           in ulp, and an ulp is at most 2·u of the value.
 *   output  bfloat16 keeps 8 bits: 2^-8 of the value.
 * The error of the golden values, in double, is 2^-29 of the first.
 */
static struct value gelu(struct value x)
{
    double y = x.exact / 2 * (1 + tanh(bent(x.exact)));
    return (struct value){y, 1.13 * x.error + tg_gelu_tanh_f32_ulp() * 2 * u32 * fabs(y)};
}

static struct value to_bfloat16(struct value x)
{
    return (struct value){x.exact, x.error + u16 * (fabs(x.exact) + x.error)};
}

static double number(const uint16_t *x, int64_t i)
{
    return tg_load(TG_BFLOAT16, x, i);
}

/* One element of x·w + bias: `x` is a row of n, `w` a column whose elements lie `down` apart. */
static struct value affine(const struct value *x, const uint16_t *w, int64_t n, int64_t down,
                           double bias)
{
    double sum = bias, size = fabs(bias), inherited = 0, rounding = (double)n * u32;
    for (int64_t k = 0; k < n; k++) {
        double weight = number(w, k * down);
        sum += x[k].exact * weight;
        inherited += x[k].error * fabs(weight);
        size += (fabs(x[k].exact) + x[k].error) * fabs(weight);
    }
    return (struct value){sum, inherited + rounding / (1 - rounding) * size};
}

/* All of the inputs and weights. A rank that has a part of the weights makes the others' again. */
struct network {
    const uint16_t *x, *w1, *b1, *w2, *b2;
    uint16_t *made; /* of several ranks: memory of w1, b1 and w2 */
};

static struct network network_of(struct tg_case *c, struct sizes s)
{
    struct network n = {tg_case_input(c, "x"),  tg_case_input(c, "w1"), tg_case_input(c, "b1"),
                        tg_case_input(c, "w2"), tg_case_input(c, "b2"), NULL};
    struct slice all = {0, s.hidden};
    if (tg_case_ranks(c) == 1)
        return n;
    n.made = calloc((size_t)(s.hidden * (s.in + 1 + s.out)), sizeof *n.made);
    if (!n.made) {
        tg_case_fail(c, "no memory for the weights of all ranks: make hidden smaller");
        return n;
    }
    fill_w1(n.made, s, all);
    fill_b1(n.made + s.hidden * s.in, s, all);
    fill_w2(n.made + s.hidden * (s.in + 1), s, all);
    n.w1 = n.made;
    n.b1 = n.made + s.hidden * s.in;
    n.w2 = n.made + s.hidden * (s.in + 1);
    return n;
}

/* One row through both layers. */
static void row(const struct network *n, struct sizes s, int64_t i, struct value *y)
{
    struct value in[MAX_SIZE] = {{0}}, hidden[MAX_SIZE] = {{0}};

    for (int64_t k = 0; k < s.in; k++)
        in[k] = (struct value){number(n->x, i * s.in + k), 0};
    for (int64_t j = 0; j < s.hidden; j++)
        hidden[j] = to_bfloat16(gelu(affine(in, n->w1 + j, s.in, s.hidden, number(n->b1, j))));
    for (int64_t q = 0; q < s.out; q++)
        y[q] = affine(hidden, n->w2 + q, s.hidden, s.out, number(n->b2, q));
}

/* The last rounding, to bfloat16, is relative to each element. For all errors before it the
 * tolerance is the largest over all of Y, which every rank has. */
static void golden(struct tg_case *c)
{
    struct sizes s = sizes_of(c);
    struct network n = network_of(c, s);
    struct value *y = calloc((size_t)(s.batch * s.out), sizeof *y);
    double largest = 0;

    if (!y) {
        free(n.made);
        tg_case_fail(c, "no memory for the golden values: make batch or out smaller");
        return;
    }
    for (int64_t i = 0; i < s.batch; i++)
        row(&n, s, i, y + i * s.out);
    for (int64_t i = 0; i < s.batch * s.out; i++)
        largest = fmax(largest, y[i].error);
    double *expected = tg_case_expect(c, "y", (1 + u16) * largest, u16);
    for (int64_t i = 0; i < s.batch * s.out; i++)
        expected[i] = y[i].exact;
    free(y);
    free(n.made);
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "mlp",
    .summary = "Y = gelu(X*W1 + b1)*W2 + b2 in bfloat16, summed in float32; plain or fused tasks",
    .kernels = kernels,
    .n_kernels = MLP_KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = mlp,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
    .communicates = 1,
};
