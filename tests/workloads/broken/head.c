/* SPDX-License-Identifier: Apache-2.0 */
/* A good workload; the build makes one thing in it wrong: see CMakeLists.txt. */
#include "broken.h"

#include <stddef.h>
#include <taskglass/workload.h>

#ifndef ABI
#define ABI TG_WORKLOAD_ABI
#endif
#ifndef SIZE
#define SIZE sizeof(struct tg_workload)
#endif
#ifndef NAME
#define NAME "sound"
#endif
#ifndef ORCHESTRATE
#define ORCHESTRATE broken_orchestrate
#endif
#ifndef PREPARE
#define PREPARE prepare
#endif
#ifndef GOLDEN
#define GOLDEN golden
#endif
#ifndef N_CASES
#define N_CASES 2
#endif
#ifndef CASE_1
#define CASE_1 "second"
#endif
#ifndef KERNELS
#define KERNELS kernels
#endif
#ifndef N_KERNELS
#define N_KERNELS 2
#endif
#ifndef KERNEL_1
#define KERNEL_1 "unused"
#endif
#ifndef KERNEL_FN
#define KERNEL_FN broken_copy
#endif
#ifndef KERNEL_CORE
#define KERNEL_CORE TG_AIV
#endif

#define UNUSED __attribute__((unused))

/* A kernel in a source of the host, so that no image for a GPU has it. */
TG_KERNEL(broken_on_the_host)
{
    (void)ctx;
}

UNUSED static const struct tg_kernel_def kernels[] = {
    {"copy", broken_copy, TG_AIV, "in:float32 out:float32"},
    {KERNEL_1, KERNEL_FN, KERNEL_CORE, NULL},
};

static const struct tg_case_def cases[] = {
    {"first", "as it should be", NULL},
    {CASE_1, "the same", NULL},
};

UNUSED static void prepare(struct tg_case *c)
{
    int64_t n = 4;
    float *x = tg_case_tensor(c, "x", TG_IN, TG_FLOAT32, 1, &n);
    tg_case_tensor(c, "y", TG_OUT, TG_FLOAT32, 1, &n);
    for (int i = 0; i < 4; i++)
        x[i] = (float)i;
}

UNUSED static void golden(struct tg_case *c)
{
    double *y = tg_case_expect(c, "y", 0, 0);
    for (int i = 0; i < 4; i++)
        y[i] = i;
}

TG_WORKLOAD = {
    .abi = ABI,
    .size = (uint32_t)(SIZE),
    .name = NAME,
    .summary = "copies four numbers",
    .kernels = KERNELS,
    .n_kernels = N_KERNELS,
    .cases = cases,
    .n_cases = N_CASES,
    .orchestrate = ORCHESTRATE,
    .orchestrate_site = TG_SITE,
    .prepare = PREPARE,
    .golden = GOLDEN,
};
