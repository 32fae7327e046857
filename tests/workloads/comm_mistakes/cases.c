/* SPDX-License-Identifier: Apache-2.0 */
#include "comm_mistakes.h"
#include <taskglass/workload.h>

static const struct tg_kernel_def kernels[COMM_KERNELS] = {
    [COMM_TOUCH] = {"comm_touch", comm_touch, TG_EITHER, "inout:float32"},
};

static const struct tg_case_def cases[] = {
    {"mistake", "communication with one mistake, or none: which=0", "which=0"},
};

static void tensor(struct tg_case *c, const char *name, unsigned dtype, int64_t n)
{
    (void)tg_case_tensor(c, name, TG_INOUT, dtype, 1, &n);
}

static void prepare(struct tg_case *c)
{
    tensor(c, "x", TG_FLOAT32, COMM_SMALL);
    tensor(c, "y", TG_INT32, COMM_SMALL);
    tensor(c, "whole", TG_FLOAT32, COMM_SMALL);
    tensor(c, "large", TG_FLOAT32, COMM_LARGE);
    tg_case_scalar(c, "which", TG_INT64, (uint64_t)tg_case_int(c, "which"));
}

/* Sums of zeros. */
static void golden(struct tg_case *c)
{
    (void)tg_case_expect_exact(c, "x");
    (void)tg_case_expect_exact(c, "y");
    (void)tg_case_expect_exact(c, "whole");
    (void)tg_case_expect_exact(c, "large");
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "comm_mistakes",
    .summary = "communication with one mistake",
    .kernels = kernels,
    .n_kernels = COMM_KERNELS,
    .cases = cases,
    .n_cases = 1,
    .orchestrate = comm_orchestrate,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
    .communicates = 1,
};
