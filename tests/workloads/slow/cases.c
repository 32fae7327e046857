/* SPDX-License-Identifier: Apache-2.0 */
#include "slow.h"

#include <taskglass/workload.h>

static const struct tg_kernel_def kernels[SLOW_KERNELS] = {
    [SLOW_WAIT] = {"slow_wait", slow_wait, TG_AIV, "inout:int32 scalar:int64"},
};

static const struct tg_case_def cases[] = {
    {"wide", "independent tasks", "ms=10 n=100 chain=0"},
    {"chain", "one task after the other", "ms=10 n=100 chain=1"},
};

static void prepare(struct tg_case *c)
{
    double ms = tg_case_real(c, "ms");
    int64_t n = tg_case_int(c, "n"), chain = tg_case_int(c, "chain");

    if (!(ms >= 0 && ms <= 1e6) || n < 0 || n > 1 << 24) {
        tg_case_fail(c, "ms must be from 0 to 1000000 and n from 0 to 16777216");
        return;
    }
    tg_case_tensor(c, "runs", TG_INOUT, TG_INT32, 1, &n);
    tg_case_scalar(c, "nanoseconds", TG_INT64, (uint64_t)(ms * 1e6));
    tg_case_scalar(c, "chain", TG_BOOL, chain != 0);
}

static void golden(struct tg_case *c)
{
    int64_t n = tg_case_int(c, "n");
    int32_t *runs = tg_case_expect_exact(c, "runs");
    for (int64_t i = 0; i < n; i++)
        runs[i] = 1;
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "slow",
    .summary = "tasks that take a given time",
    .kernels = kernels,
    .n_kernels = SLOW_KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = slow,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
};
