/* SPDX-License-Identifier: Apache-2.0 */
/* There is no golden check: the runs with bugs must end well, and the tools must find the bugs. */
#include "bugs.h"

#include <taskglass/workload.h>

static const struct tg_kernel_def kernels[BUGS_KERNELS] = {
    [SCALE] = {"scale", scale, TG_AIV, "in:float32 out:float32 scalar:int64 scalar:float32"},
    [WINDOW] = {"window", window, TG_AIV, "in:float32 out:float32 scalar:int64"},
    [MIX_UP] = {"mix_up", mix_up, TG_AIC, "in:float32 in:float32 out:float32 scalar:int64"},
    [SUBTRACT] = {"subtract", subtract, TG_AIV, "in:float32 in:float32 out:float32 scalar:int64"},
    [ADD_UP] = {"add_up", add_up, TG_AIV, "in:float32 inout:float32 scalar:int64"},
    [HALVE] = {"halve", halve, TG_AIV, "in:float32 out:float16 scalar:int64"},
    [RATIO] = {"ratio", ratio, TG_AIV, "in:float32 in:float32 out:float32 scalar:int64"},
    [QUANTIZE] = {"quantize", quantize, TG_AIV, "in:float32 in:float32 out:int32 scalar:int64"},
};

static const struct tg_case_def cases[] = {{"only", "the pipeline", ""}};

static void prepare(struct tg_case *c)
{
    int64_t n = N, steps[2] = {STEPS, N};
    float *x = tg_case_tensor(c, "x", TG_IN, TG_FLOAT32, 1, &n);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(i * 37 % 101) / 101 - 0.4f;
    tg_case_tensor(c, "total", TG_INOUT, TG_FLOAT32, 1, &n);
    tg_case_tensor(c, "q", TG_OUT, TG_INT32, 2, steps);
    tg_case_tensor(c, "h", TG_OUT, TG_FLOAT16, 2, steps);
}

static void anything(struct tg_case *c, const char *name, int64_t n)
{
    double *expected = tg_case_expect(c, name, 1e300, 0);
    for (int64_t i = 0; i < n; i++)
        expected[i] = 0;
}

static void golden(struct tg_case *c)
{
    anything(c, "total", N);
    anything(c, "q", STEPS * (int64_t)N);
    anything(c, "h", STEPS * (int64_t)N);
}

/* ── references ────────────────────────────────────────────────────────────────────────── */

static void right_scale(const struct tg_ctx *ctx)
{
    for (int64_t i = 0; i < N; i++)
        TG_ARG(ctx, 1, float)[i] = tg_arg_f32(ctx, 1) * TG_ARG(ctx, 0, const float)[i];
}

static void right_window(const struct tg_ctx *ctx)
{
    const float *a = TG_ARG(ctx, 0, const float);
    for (int64_t i = 0; i < N; i++)
        TG_ARG(ctx, 1, float)
    [i] =
        (float)((double)(i > 0 ? a[i - 1] : 0) + (double)a[i] + (double)(i < N - 1 ? a[i + 1] : 0));
}

static void right_mix_up(const struct tg_ctx *ctx)
{
    for (int64_t i = 0; i < N; i++) /* the view is contiguous here, and already transposed */
        TG_ARG(ctx, 2, float)[i] = TG_ARG(ctx, 0, const float)[i] + TG_ARG(ctx, 1, const float)[i];
}

static void right_subtract(const struct tg_ctx *ctx)
{
    for (int64_t i = 0; i < N; i++)
        TG_ARG(ctx, 2, float)[i] = TG_ARG(ctx, 0, const float)[i] - TG_ARG(ctx, 1, const float)[i];
}

static void right_add_up(const struct tg_ctx *ctx)
{
    for (int64_t i = 0; i < N; i++)
        TG_ARG(ctx, 1, float)[i] += TG_ARG(ctx, 0, const float)[i];
}

static void right_halve(const struct tg_ctx *ctx)
{
    for (int64_t i = 0; i < N; i++)
        TG_ARG(ctx, 1, uint16_t)
    [i] = (uint16_t)tg_encode(TG_FLOAT16, (double)TG_ARG(ctx, 0, const float)[i]);
}

static void right_ratio(const struct tg_ctx *ctx)
{
    const float *b = TG_ARG(ctx, 1, const float);
    for (int64_t i = 0; i < N; i++)
        TG_ARG(ctx, 2, float)[i] = TG_ARG(ctx, 0, const float)[i] / (b[i] * b[i] + 1);
}

static void right_quantize(const struct tg_ctx *ctx)
{
    const float *d = TG_ARG(ctx, 0, const float), *r = TG_ARG(ctx, 1, const float);
    for (int64_t i = 0; i < N; i++)
        TG_ARG(ctx, 2, int32_t)[i] = (int32_t)(100 * d[i] + r[i]);
}

/* Sums of three float32 below 2 have three roundings. Quantized values may round up or down. */
static const struct tg_reference_def references[] = {
    {"scale", right_scale, 0, 0},       {"window", right_window, 1e-6, 1e-6},
    {"mix_up", right_mix_up, 0, 0},     {"subtract", right_subtract, 0, 0},
    {"add_up", right_add_up, 0, 0},     {"halve", right_halve, 0, 0},
    {"ratio", right_ratio, 1e-6, 1e-6}, {"quantize", right_quantize, 1, 0},
};

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "bugs",
    .summary = "a pipeline with at most one planted bug",
    .kernels = kernels,
    .n_kernels = BUGS_KERNELS,
    .cases = cases,
    .n_cases = 1,
    .orchestrate = bugs,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
    .references = references,
    .n_references = sizeof references / sizeof references[0],
};
