/* SPDX-License-Identifier: Apache-2.0 */
#include "scale.h"

static const struct tg_kernel_def kernels[] = {
    [K_SCALE] = {"scale", scale, TG_AIV, "in:float32 out:float32 scalar:float32"},
};

static const struct tg_case_def cases[] = {
    {"small", "a hundred elements", "n=100"},
};

static void prepare(struct tg_case *c)
{
    int64_t n = tg_case_int(c, "n");
    float *x = tg_case_tensor(c, "x", TG_IN, TG_FLOAT32, 1, &n);
    tg_case_tensor(c, "y", TG_OUT, TG_FLOAT32, 1, &n);
    tg_case_scalar(c, "k", TG_FLOAT32, 0x3f000000u); /* 0.5 */
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)i;
}

static void golden(struct tg_case *c)
{
    int64_t n = tg_case_int(c, "n");
    const float *x = tg_case_input(c, "x");
    double *y = tg_case_expect(c, "y", 0, 0);
    for (int64_t i = 0; i < n; i++)
        y[i] = 0.5 * x[i];
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "scale",
    .summary = "y = x / 2",
    .kernels = kernels,
    .n_kernels = 1,
    .cases = cases,
    .n_cases = 1,
    .orchestrate = scale_graph,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
};
