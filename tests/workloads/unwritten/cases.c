/* SPDX-License-Identifier: Apache-2.0 */
/* There is no golden check: `taskglass find unwritten` judges the runs. */
#include "unwritten.h"

#include <taskglass/workload.h>

static const struct tg_kernel_def kernels[UNWRITTEN_KERNELS] = {
    [DOUBLED] = {"doubled", doubled, TG_AIV, "in:float32 out:float32"},
    [ZEROS] = {"zeros", zeros, TG_AIV, "in:float32 out:float32"},
    [RAMP] = {"ramp", ramp, TG_AIV, "out:float32 scalar:float32"},
    [TAIL] = {"tail", tail, TG_AIV, "in:float32 out:float32"},
    [NOTHING] = {"nothing", nothing, TG_AIV, "in:float32 out"},
    [COPY] = {"copy", copy, TG_AIV, "in:float32 out:float32"},
    /* the same functions, under names that have references */
    [RIGHT_ZEROS] = {"right_zeros", zeros, TG_AIV, "in:float32 out:float32"},
    [FORGETFUL] = {"forgetful", nothing, TG_AIV, "in:float32 out:float32"},
};

static const struct tg_case_def cases[] = {
    {"on_purpose", "a kernel writes zeros on purpose", "which=0"},
    {"tail", "a kernel forgets its tail, in new memory", "which=1"},
    {"nothing", "a kernel writes nothing, in new memory", "which=2"},
    {"twice", "the same kernel twice, with the same input", "which=3"},
    {"reused", "a kernel writes nothing, in memory that another used", "which=4"},
    {"reused_tail", "a kernel forgets its tail, in memory that another used", "which=5"},
    {"passed_on", "a kernel copies what another did not write", "which=6"},
    {"types", "unwritten outputs of every type", "which=7"},
    {"references", "zeros on purpose, and nothing, both with references", "which=8"},
    {"no_elements", "tensors without elements, and a kernel with a reference", "which=9"},
};

static void prepare(struct tg_case *c)
{
    int64_t n = N;
    float *x = tg_case_tensor(c, "x", TG_IN, TG_FLOAT32, 1, &n);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(i * 37 % 101) / 101 + 0.25f;
    tg_case_tensor(c, "y", TG_OUT, TG_FLOAT32, 1, &n);
    tg_case_tensor(c, "z", TG_OUT, TG_FLOAT32, 1, &n);
    tg_case_scalar(c, "which", TG_INT64, (uint64_t)tg_case_int(c, "which"));
}

static void golden(struct tg_case *c)
{
    static const char *const names[] = {"y", "z"};
    for (int k = 0; k < 2; k++) {
        double *expected = tg_case_expect(c, names[k], 1e300, 0);
        for (int64_t i = 0; i < N; i++)
            expected[i] = 0;
    }
}

static void right_zeros(const struct tg_ctx *ctx)
{
    for (int64_t i = 0; i < N; i++)
        TG_ARG(ctx, 1, float)[i] = 0;
}

static void right_doubled(const struct tg_ctx *ctx)
{
    for (int64_t i = 0; i < tg_arg_numel(ctx, 1); i++)
        TG_ARG(ctx, 1, float)[i] = 2 * TG_ARG(ctx, 0, const float)[i];
}

static const struct tg_reference_def references[] = {
    {"right_zeros", right_zeros, 0, 0},
    {"forgetful", right_doubled, 0, 0},
};

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "unwritten",
    .summary = "kernels that write all of their output, some of it, or none",
    .kernels = kernels,
    .n_kernels = UNWRITTEN_KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = unwritten,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
    .references = references,
    .n_references = sizeof references / sizeof references[0],
};
