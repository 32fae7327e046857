/* SPDX-License-Identifier: Apache-2.0 */
#include "mix.h"

#include <taskglass/workload.h>

/* All kernels of a mix have the same signature, because they share one list of arguments. */
#define PRODUCT_ARGS "in:float32 in:float32 in:float32 out:float32 out:float32"
#define RESIDUAL_ARGS "in:float32 in:float32 out:float32 out:float32"

static const struct tg_kernel_def kernels[MIX_KERNELS] = {
    [MIX_SCALE] = {"mix_scale", mix_scale, TG_AIV, "in:float32 out:float32 scalar:float32"},
    [MIX_PRODUCT] = {"mix_product", mix_product, TG_AIC, PRODUCT_ARGS},
    [MIX_BIAS_RELU] = {"mix_bias_relu", mix_bias_relu, TG_AIV, PRODUCT_ARGS},
    [MIX_RESIDUAL_PRODUCT] = {"mix_residual_product", mix_residual_product, TG_AIC, RESIDUAL_ARGS},
    [MIX_RESIDUAL_ADD] = {"mix_residual_add", mix_residual_add, TG_AIV, RESIDUAL_ARGS},
    [MIX_ROW_SHIFT] = {"mix_row_shift", mix_row_shift, TG_AIV,
                       "in:float32 out:float32 out:float32"},
    [MIX_TOTAL] = {"mix_total", mix_total, TG_AIV, "in:float32 inout:float32"},
};

static const struct tg_case_def cases[] = {
    {"small", "eight tiles of 16 by 16", "tiles=8 side=16 factor=2"},
    {"large", "100 tiles of 32 by 32", "tiles=100 side=32 factor=2"},
    {"uneven", "an odd side: the two halves differ", "tiles=5 side=7 factor=-1"},
};

/* Within these limits every value stays a whole number below 2^24: see golden. */
enum { MAX_TILES = 100, MAX_SIDE = 64, MAX_FACTOR = 2 };

/* Whole numbers from -2 to 2. */
static void fill(float *x, int64_t n, uint32_t seed)
{
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)((seed >> 16) % 5) - 2.0f;
    }
}

static void prepare(struct tg_case *c)
{
    int64_t tiles = tg_case_int(c, "tiles"), side = tg_case_int(c, "side");
    int64_t factor = tg_case_int(c, "factor");

    if (tiles < 0 || tiles > MAX_TILES) {
        tg_case_fail(c, "tiles must be from 0 to 100");
        return;
    }
    if (side < 2 || side > MAX_SIDE) {
        tg_case_fail(c, "side must be from 2 to 64: each vector core needs a column");
        return;
    }
    if (factor < -MAX_FACTOR || factor > MAX_FACTOR) {
        tg_case_fail(c, "factor must be from -2 to 2");
        return;
    }
    const int64_t all[3] = {tiles, side, side}, one[2] = {side, side};
    fill(tg_case_tensor(c, "x", TG_IN, TG_FLOAT32, 3, all), tiles * side * side, 1);
    fill(tg_case_tensor(c, "w", TG_IN, TG_FLOAT32, 2, one), side * side, 2);
    fill(tg_case_tensor(c, "bias", TG_IN, TG_FLOAT32, 1, &side), side, 3);
    tg_case_tensor(c, "out", TG_OUT, TG_FLOAT32, 3, all);
    tg_case_tensor(c, "total", TG_INOUT, TG_FLOAT32, 2, one); /* starts at zero */
    tg_case_scalar(c, "factor", TG_INT64, (uint64_t)factor);
}

/* out = in·w + add, where `add` has one number per element or per column. */
static void affine(const double *in, const float *w, int64_t side, const double *add,
                   const float *bias, double *out)
{
    for (int64_t row = 0; row < side; row++)
        for (int64_t col = 0; col < side; col++) {
            double sum = add ? add[row * side + col] : bias[col];
            for (int64_t k = 0; k < side; k++)
                sum += in[row * side + k] * (double)w[k * side + col];
            out[row * side + col] = sum;
        }
}

/* Computes one tile in the steps that orchestrate.c lists. */
static void one_tile(const float *x, const float *w, const float *bias, double factor, int64_t side,
                     double *out)
{
    double s[MAX_SIDE * MAX_SIDE] = {0}, y[MAX_SIDE * MAX_SIDE] = {0};
    for (int64_t i = 0; i < side * side; i++)
        s[i] = factor * (double)x[i];
    affine(s, w, side, NULL, bias, y);
    for (int64_t i = 0; i < side * side; i++)
        y[i] = y[i] > 0 ? y[i] : 0;
    affine(y, w, side, y, NULL, out);
    for (int64_t row = 0; row < side; row++) {
        double *at = out + row * side, largest = at[0];
        for (int64_t col = 1; col < side; col++)
            largest = at[col] > largest ? at[col] : largest;
        for (int64_t col = 0; col < side; col++)
            at[col] -= largest;
    }
}

/*
 * The tolerance is zero. Inputs are whole numbers of at most 2, so |s| <= 4, y <= 64·8 + 2,
 * |z| <= 64·2·514 + 514 = 66306, |out| <= 132612, and 100 of them stay below 2^24, up to which
 * float32 has every whole number: no kernel ever rounds.
 */
static void golden(struct tg_case *c)
{
    int64_t tiles = tg_case_int(c, "tiles"), side = tg_case_int(c, "side"), size = side * side;
    const float *x = tg_case_input(c, "x");
    const float *w = tg_case_input(c, "w"), *bias = tg_case_input(c, "bias");
    double factor = (double)tg_case_int(c, "factor");
    double *out = tg_case_expect(c, "out", 0, 0);
    double *total = tg_case_expect(c, "total", 0, 0);

    for (int64_t i = 0; i < size; i++)
        total[i] = 0;
    for (int64_t t = 0; t < tiles; t++) {
        one_tile(x + t * size, w, bias, factor, side, out + t * size);
        for (int64_t i = 0; i < size; i++)
            total[i] += out[t * size + i];
    }
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "mix",
    .summary = "mixed tasks: kernels on AIC and AIV that start together and meet at a barrier",
    .kernels = kernels,
    .n_kernels = MIX_KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = mix,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
};
