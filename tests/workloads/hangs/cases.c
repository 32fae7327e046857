/* SPDX-License-Identifier: Apache-2.0 */
#include "hangs.h"

#include <string.h>
#include <taskglass/workload.h>

static const struct tg_kernel_def kernels[HANGS_KERNELS] = {
    [HANGS_STEP] = {"step", hangs_step, TG_AIV, "inout:int64"},
    [HANGS_SPIN] = {"spin", hangs_spin, TG_AIV, "inout:int64"},
    [HANGS_GATE] = {"gate", hangs_gate, TG_AIC, "inout:int64"},
    [HANGS_PART_AIC] = {"part_aic", hangs_part_aic, TG_AIC, "inout:int64"},
    [HANGS_PART_AIV] = {"part_aiv", hangs_part_aiv, TG_AIV, "inout:int64"},
};

#define CASE(constant, name, text) {#name, text, "what=" #name},
static const struct tg_case_def cases[] = {HANGS_MAP(CASE)};
#undef CASE

static void prepare(struct tg_case *c)
{
    static const int64_t four = 4;
    const char *what = tg_case_text(c, "what");
    uint64_t number = 0;
    while (number < HANGS_CASES && strcmp(what, cases[number].name) != 0)
        number++;
    if (number == HANGS_CASES) {
        tg_case_fail(c, "what must be the name of a case of this workload");
        return;
    }
    tg_case_tensor(c, "value", TG_INOUT, TG_INT64, 1, &four);
    tg_case_scalar(c, "what", TG_INT64, number);
}

/* Only the good case gets this far. */
static void golden(struct tg_case *c)
{
    int64_t *value = tg_case_expect_exact(c, "value");
    value[0] = 1;
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "hangs",
    .summary = "tasks and orchestrations that wait for ever, each for another reason",
    .kernels = kernels,
    .n_kernels = HANGS_KERNELS,
    .cases = cases,
    .n_cases = HANGS_CASES,
    .orchestrate = hangs,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
};
