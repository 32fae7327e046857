/* SPDX-License-Identifier: Apache-2.0 */
#include "mistakes.h"

#include <string.h>
#include <taskglass/workload.h>

static const struct tg_kernel_def kernels[MISTAKES_KERNELS] = {
    [MISTAKES_STEP] = {"step", mistakes_step, TG_AIV, "in:float32 out:float32 scalar:int64"},
    [MISTAKES_JOIN] = {"join", mistakes_join, TG_AIV, "in:float32 in:float32 out:float32"},
};

#define PARAMS(mistake) "n=8 steps=4 at=2 first=0 mistake=" mistake
static const struct tg_case_def cases[MISTAKES] = {
    [MISTAKE_NONE] = {"none", "no mistake", PARAMS("none")},
    [MISTAKE_WRONG] = {"wrong", "one element is off by one", PARAMS("wrong")},
    [MISTAKE_NAN] = {"nan", "one element is NaN", PARAMS("nan")},
    [MISTAKE_OVERFLOW] = {"overflow", "one element overflows", PARAMS("overflow")},
    [MISTAKE_CONSTANT] = {"constant", "all elements are the same", PARAMS("constant")},
    [MISTAKE_UNWRITTEN] = {"unwritten", "nothing is written", PARAMS("unwritten")},
    [MISTAKE_STOMP] = {"stomp", "another row is written", PARAMS("stomp")},
};

static int mistake_of(struct tg_case *c)
{
    const char *name = tg_case_text(c, "mistake");
    for (int i = 0; i < MISTAKES; i++)
        if (strcmp(name, cases[i].name) == 0)
            return i;
    tg_case_fail(c, "mistake must be the name of a case of this workload");
    return 0;
}

static void prepare(struct tg_case *c)
{
    int64_t n = tg_case_int(c, "n"), steps = tg_case_int(c, "steps"), all = n + HIDDEN;
    if (n < 5 || n > 1 << 24 || steps < 1 || steps > 1 << 16) {
        tg_case_fail(c, "n must be at least 5 and steps at least 1");
        return;
    }
    float *x = tg_case_tensor(c, "x", TG_IN, TG_FLOAT32, 1, &all);
    tg_case_tensor(c, "y", TG_OUT, TG_FLOAT32, 1, &n);
    tg_case_scalar(c, "steps", TG_INT64, (uint64_t)steps);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(i % 1000) + (float)tg_case_real(c, "first");
    x[n] = (float)mistake_of(c);
    x[n + 1] = (float)tg_case_int(c, "at");
}

/* The results without the mistake. */
static void golden(struct tg_case *c)
{
    int64_t n = tg_case_int(c, "n"), steps = tg_case_int(c, "steps");
    const float *x = tg_case_input(c, "x");
    double *y = tg_case_expect(c, "y", 0, 1e-6);
    for (int64_t i = 0; i < n; i++) {
        double value = (double)x[i], first = value / 2 + 1;
        for (int64_t k = 0; k < steps; k++)
            value = value / 2 + 1;
        y[i] = first + value;
    }
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "mistakes",
    .summary = "a chain of steps, one of which may make a mistake",
    .kernels = kernels,
    .n_kernels = MISTAKES_KERNELS,
    .cases = cases,
    .n_cases = MISTAKES,
    .orchestrate = mistakes,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
};
