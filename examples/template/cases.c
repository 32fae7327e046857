/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's side: the tables of kernels, cases and references, the inputs, and the golden values. This
 * file is ordinary C and may use libc.
 */
#include "kernels.h"

#include <math.h>
#include <string.h>
#include <taskglass/workload.h>

/* Taskglass refuses a task whose arguments do not fit the signature. */
static const struct tg_kernel_def kernels[WORKLOAD_NAME_KERNELS] = {
    [WORKLOAD_NAME_SCALE] = {"workload_name_scale", workload_name_scale, TG_AIV,
                             "in:float32 out:float32 scalar:float32"},
    [WORKLOAD_NAME_ADD] = {"workload_name_add", workload_name_add, TG_AIV,
                           "in:float32 in:float32 out:float32"},
};

/* The first case is the default; `--case NAME` chooses another. `--set n=5000` changes a value. */
static const struct tg_case_def cases[] = {
    {"small", "four tiles", "n=1024 tile=256 factor=0.5"},
    {"large", "64 tiles", "n=262144 tile=4096 factor=0.5"},
    {"ragged", "the last tile is shorter", "n=1000 tile=96 factor=-3"},
};

/* Numbers in [-1, 1) that are the same on every machine. */
static void fill(float *values, int64_t n, uint32_t seed)
{
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        values[i] = (float)(seed >> 8) / 8388608.0f - 1.0f;
    }
}

/* Declares the arguments of the orchestration in the order in which it takes them. */
static void prepare(struct tg_case *c)
{
    int64_t n = tg_case_int(c, "n");
    int64_t tile = tg_case_int(c, "tile");
    float factor = (float)tg_case_real(c, "factor");
    uint32_t bits;

    if (n < 1 || n > (1 << 28) || tile < 1 || tile > (1 << 28)) {
        tg_case_fail(c, "n and tile must each be from 1 to 268435456");
        return;
    }
    fill(tg_case_tensor(c, "x", TG_IN, TG_FLOAT32, 1, &n), n, 1);
    fill(tg_case_tensor(c, "b", TG_IN, TG_FLOAT32, 1, &n), n, 2);
    tg_case_tensor(c, "y", TG_OUT, TG_FLOAT32, 1, &n);
    tg_case_scalar(c, "tile", TG_INT64, (uint64_t)tile);
    memcpy(&bits, &factor, sizeof bits);
    tg_case_scalar(c, "factor", TG_FLOAT32, bits);
}

/* The golden values: what y must be, computed without the kernels. The kernels round twice, and neither
 * rounding changes a number below |factor| + 1 by more than 2^-24 of that. */
static void golden(struct tg_case *c)
{
    int64_t n = tg_case_int(c, "n");
    double factor = (double)(float)tg_case_real(c, "factor");
    const float *x = tg_case_input(c, "x"), *b = tg_case_input(c, "b");
    double *y = tg_case_expect(c, "y", 0x1p-23 * (fabs(factor) + 1), 0);
    for (int64_t i = 0; i < n; i++)
        y[i] = factor * (double)x[i] + (double)b[i];
}

/* References compute what a kernel should. `taskglass check` compares every recorded task with them. */
static void scale_reference(const struct tg_ctx *ctx)
{
    for (int64_t i = 0; i < tg_arg_numel(ctx, 1); i++)
        tg_arg_store(ctx, 1, i, (double)tg_arg_f32(ctx, 0) * tg_arg_load(ctx, 0, i));
}

static void add_reference(const struct tg_ctx *ctx)
{
    for (int64_t i = 0; i < tg_arg_numel(ctx, 2); i++)
        tg_arg_store(ctx, 2, i, tg_arg_load(ctx, 0, i) + tg_arg_load(ctx, 1, i));
}

/* The last two numbers are the tolerance: |output - reference| <= atol + rtol * |reference|. */
static const struct tg_reference_def references[] = {
    {"workload_name_scale", scale_reference, 0, 0x1p-23},
    {"workload_name_add", add_reference, 0, 0x1p-23},
};

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "workload_name",
    .summary = "y = factor * x + b, in tiles",
    .kernels = kernels,
    .n_kernels = WORKLOAD_NAME_KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = workload_name_graph,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
    .references = references,
    .n_references = sizeof references / sizeof references[0],
};
