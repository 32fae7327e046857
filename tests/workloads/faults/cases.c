/* SPDX-License-Identifier: Apache-2.0 */
#include "faults.h"

#include <string.h>
#include <taskglass/workload.h>

#define KERNEL(constant, name, core) \
    [constant] = {"fault_" #name, fault_##name, core, "inout:int32"},
static const struct tg_kernel_def kernels[FAULTS_KERNELS] = {FAULTS_MAP(KERNEL)};
#undef KERNEL

/* clang-format off */
#define CASE(name, text) {#name, text, "kernel=" #name " before=3 width=1 after=3"}
/* clang-format on */
static const struct tg_case_def cases[] = {
    CASE(none, "nothing goes wrong"),
    CASE(null, "a kernel writes through NULL"),
    CASE(spin, "a kernel never returns"),
    CASE(abort, "a kernel calls abort"),
    CASE(fpe, "a kernel divides by zero"),
    CASE(stack, "a kernel runs out of stack"),
    CASE(exit, "a kernel ends the device's process with 7"),
    CASE(far, "a kernel writes far outside its arguments"),
    CASE(trap, "a kernel traps"),
    CASE(tensor, "a kernel reads a tensor that its task does not have"),
    CASE(scalar, "a kernel reads a scalar that its task does not have"),
    CASE(mix_null, "one kernel of a mix crashes while the others wait at the barrier"),
    CASE(mix_skip, "one kernel of a mix never comes to the barrier"),
    {"nulls", "eight kernels crash at the same time", "kernel=null before=3 width=8 after=3"},
};
#undef CASE

/* FAULTS_KERNELS if no kernel has that name. mix_meet is only a helper of the others. */
static uint32_t kernel_index(const char *name)
{
#define NAME(constant, name, core) #name,
    static const char *const names[] = {FAULTS_MAP(NAME)};
#undef NAME
    for (uint32_t i = 0; i < FAULTS_KERNELS; i++)
        if (i != FAULT_MIX_MEET && strcmp(name, names[i]) == 0)
            return i;
    return FAULTS_KERNELS;
}

static void prepare(struct tg_case *c)
{
    uint32_t kernel = kernel_index(tg_case_text(c, "kernel"));
    int64_t before = tg_case_int(c, "before"), width = tg_case_int(c, "width");
    int64_t after = tg_case_int(c, "after"), one = 1;

    if (kernel == FAULTS_KERNELS) {
        tg_case_fail(c, "kernel must be the name of a case of this workload");
        return;
    }
    if (before < 0 || after < 0 || width < 1 || width > MAX_WIDTH) {
        tg_case_fail(c, "before and after must be 0 or more, width from 1 to 64");
        return;
    }
    if (kernel == FAULT_NONE && width > 1) {
        tg_case_fail(c, "width must be 1 for good kernels: they share a counter");
        return;
    }
    tg_case_tensor(c, "count", TG_INOUT, TG_INT32, 1, &one);
    tg_case_scalar(c, "kernel", TG_INT64, kernel);
    tg_case_scalar(c, "before", TG_INT64, (uint64_t)before);
    tg_case_scalar(c, "width", TG_INT64, (uint64_t)width);
    tg_case_scalar(c, "after", TG_INT64, (uint64_t)after);
}

/* Only the good case gets this far. */
static void golden(struct tg_case *c)
{
    int32_t *count = tg_case_expect_exact(c, "count");
    *count = (int32_t)(tg_case_int(c, "before") + 1 + tg_case_int(c, "after"));
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "faults",
    .summary = "kernels that crash, spin or end the device",
    .kernels = kernels,
    .n_kernels = FAULTS_KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = faults,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
};
