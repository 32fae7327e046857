/* SPDX-License-Identifier: Apache-2.0 */
/* There is no golden check: `taskglass find stomp` judges the runs. */
#include "stomps.h"

#include <string.h>
#include <taskglass/workload.h>

static const struct tg_kernel_def kernels[STOMPS_KERNELS] = {
    [FILL] = {"fill", fill, TG_AIV, "out:float32"},
    [LOOK] = {"look", look, TG_AIV, "in:float32 out:float32 scalar:uint64"},
    [STEP] = {"step", step, TG_AIV, "in:float32 out:float32"},
    [STRAY] = {"stray", stray, TG_AIV, "in:float32 out:float32 scalar:int64"},
    [STRAY_BEFORE] = {"stray_before", stray_before, TG_AIV, "in:float32 out:float32 scalar:int64"},
    [SNEAKS] = {"sneaks", sneaks, TG_AIV, "scalar:uint64"},
    [INNOCENT] = {"innocent", innocent, TG_AIV, "in:float32 out:float32"},
    [SLOW_WRITER] = {"slow_writer", slow_writer, TG_AIV, "out:float32 scalar:uint64 scalar:uint64"},
    [WAITS] = {"waits", waits, TG_AIV, "out:float32 scalar:uint64"},
};

static const struct tg_case_def cases[SCENES] = {
    [CHAIN] = {"chain", "a task of a chain writes behind its output", "scene=0"},
    [SNEAK] = {"sneak", "a task without tensors writes to an address", "scene=1"},
    [TWICE] = {"twice", "two tasks write the same stray element", "scene=2"},
    [RACE] = {"race", "a task writes the victim, and nobody waits for it", "scene=3"},
    [ALONE] = {"alone", "the only task that runs writes into its input", "scene=4"},
    [CROWD] = {"crowd", "one of many tasks writes far from its output", "scene=5"},
};

static void prepare(struct tg_case *c)
{
    int64_t n = 2;
    tg_case_tensor(c, "sums", TG_OUT, TG_FLOAT32, 1, &n);
    tg_case_scalar(c, "scene", TG_INT64, (uint64_t)tg_case_int(c, "scene"));
}

static void golden(struct tg_case *c)
{
    double *expected = tg_case_expect(c, "sums", 1e300, 0);
    expected[0] = expected[1] = 0;
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "stomps",
    .summary = "memory that changes between two tasks that read it",
    .kernels = kernels,
    .n_kernels = STOMPS_KERNELS,
    .cases = cases,
    .n_cases = SCENES,
    .orchestrate = stomps,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
};
