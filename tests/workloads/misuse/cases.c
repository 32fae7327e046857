/* SPDX-License-Identifier: Apache-2.0 */
/* There is no golden check: the runs must end well, and the tools must find the misuse. */
#include "misuse.h"

#include <string.h>
#include <taskglass/workload.h>

#define KERNEL(name, layout, signature, summary) [K_##name] = {#name, name, TG_AIV, signature},
static const struct tg_kernel_def kernels[K_ALL] = {
    MISUSE_MAP(KERNEL)[K_fill] = {"fill", fill, TG_AIV, "out"},
    [K_bystander] = {"bystander", bystander, TG_AIV, "out"},
    [K_look] = {"look", look, TG_AIV, NULL},
    [K_other_half] = {"other_half", other_half, TG_AIC, "in:float32 out:float32"},
};

#define CASE(name, layout, signature, summary) {#name, summary, "kernel=" #name},
static const struct tg_case_def cases[MISUSES] = {MISUSE_MAP(CASE)};

#define LAYOUT(name, layout, signature, summary) layout,
static const int layouts[MISUSES] = {MISUSE_MAP(LAYOUT)};

static int number_of(struct tg_case *c)
{
    const char *name = tg_case_text(c, "kernel");
    for (int i = 0; i < MISUSES; i++)
        if (strcmp(name, cases[i].name) == 0)
            return i;
    tg_case_fail(c, "kernel must be the name of a case of this workload");
    return 0;
}

static void prepare(struct tg_case *c)
{
    static const int64_t shape[2] = {2, 8};
    int number = number_of(c);
    tg_case_tensor(c, "sizes", TG_OUT, TG_INT64, 2, shape);
    tg_case_scalar(c, "kernel", TG_INT64, (uint64_t)number);
    tg_case_scalar(c, "layout", TG_INT64, (uint64_t)layouts[number]);
}

static void golden(struct tg_case *c)
{
    double *expected = tg_case_expect(c, "sizes", 1e300, 0);
    for (int64_t i = 0; i < 16; i++)
        expected[i] = 0;
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "misuse",
    .summary = "kernels that misuse memory, and kernels that only look like it",
    .kernels = kernels,
    .n_kernels = K_ALL,
    .cases = cases,
    .n_cases = MISUSES,
    .orchestrate = misuse,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
};
