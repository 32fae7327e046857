/* SPDX-License-Identifier: Apache-2.0 */
/* The task of the benchmark: two tensors in, one out, and a kernel that does nothing. */
#include <taskglass/workload.h>

TG_KERNEL(nothing)
{
    (void)ctx;
}

static const struct tg_kernel_def kernels[] = {
    {"nothing", nothing, TG_AIV, "in:uint32 in:uint32 out:uint32"},
};

/* The benchmark builds its graphs through graph.h; `taskglass run` has nothing to do here. */
static const struct tg_case_def cases[] = {{"none", "no task at all", ""}};

static void orchestrate(struct tg_rt *rt, const struct tg_args *args)
{
    (void)rt;
    (void)args;
}

static void no_tensors(struct tg_case *c)
{
    (void)c;
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "bench_record",
    .summary = "tasks that do nothing, for bench/record",
    .kernels = kernels,
    .n_kernels = 1,
    .cases = cases,
    .n_cases = 1,
    .orchestrate = orchestrate,
    .orchestrate_site = TG_SITE,
    .prepare = no_tensors,
    .golden = no_tensors,
};
