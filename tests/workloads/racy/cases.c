/* SPDX-License-Identifier: Apache-2.0 */
#include "racy.h"

#include <taskglass/workload.h>

#define ONE "in:int64 out:int64 "
static const struct tg_kernel_def kernels[RACY_KERNELS] = {
    [STEP] = {"step", racy_step, TG_AIV, ONE "scalar:int64"},
    [COPY] = {"copy", racy_copy, TG_AIV, ONE},
    [ADD] = {"add", racy_add, TG_AIV, "in:int64 inout:int64 scalar:int64"},
    [BOTH] = {"both", racy_both, TG_AIV, "in:int64 in:int64 out:int64 scalar:int64"},
    [STRAY] = {"stray", racy_stray, TG_AIV, ONE "scalar:int64"},
    [SPIN] = {"spin", racy_spin, TG_AIV, ONE "scalar:int64"},
    [CRASH] = {"crash", racy_crash, TG_AIV, ONE "scalar:int64"},
    [CLOCK] = {"clock", racy_clock, TG_AIV, ONE},
};

#define CASE(name, which, text)                   \
    {                                             \
        name, text, "which=" #which " length=200" \
    }
static const struct tg_case_def cases[] = {
    CASE("clean", 0, "all edges are there"),
    CASE("war", 1, "a task writes what another one may still have to read"),
    CASE("raw", 2, "a task reads what another one may not have written yet"),
    CASE("two", 3, "shows only if two pairs are inverted"),
    CASE("stray", 4, "a write behind the region that the task declares"),
    CASE("branch", 5, "the orchestration reads a wrong value and submits another task"),
    CASE("hang", 6, "a wrong value makes a kernel spin"),
    CASE("crash", 7, "a wrong value makes a kernel crash"),
    CASE("timed", 8, "a kernel writes the time"),
    CASE("wrong", 9, "the result is not golden in any order"),
    CASE("commute", 10, "tasks add to one buffer in any order"),
    CASE("held", 11, "a wait inside a scope that holds its tasks back orders them"),
    CASE("late", 12, "a wait behind a scope that held its tasks back does not"),
};

static void prepare(struct tg_case *c)
{
    int64_t n = N, which = tg_case_int(c, "which"), length = tg_case_int(c, "length");
    int64_t *x = tg_case_tensor(c, "x", TG_IN, TG_INT64, 1, &n);
    if (which < 0 || which >= RACY_CASES || length < 1 || length > MOST_LENGTH) {
        tg_case_fail(c, "which must be the number of a case, and length from 1 to 2000");
        return;
    }
    for (int64_t i = 0; i < n; i++)
        x[i] = i + 1;
    tg_case_tensor(c, "y", TG_OUT, TG_INT64, 1, &n);
    tg_case_tensor(c, "z", TG_OUT, TG_INT64, 1, &n);
    tg_case_scalar(c, "which", TG_INT64, (uint64_t)which);
    tg_case_scalar(c, "length", TG_INT64, (uint64_t)length);
}

static void golden(struct tg_case *c)
{
    int64_t which = tg_case_int(c, "which"), length = tg_case_int(c, "length");
    int64_t *y = tg_case_expect_exact(c, "y");
    int64_t *z = which == TIMED ? NULL : tg_case_expect_exact(c, "z");
    double *any = which == TIMED ? tg_case_expect(c, "z", 1e300, 0) : NULL;
    for (int64_t i = 0; i < N; i++) {
        int64_t value = i + 1;
        for (int64_t k = 0; k < length; k++)
            value = RACY_STEP(value, k);
        y[i] = RACY_STEP(value, 7) + (which == WRONG);
        if (any)
            any[i] = 0;
        if (z)
            z[i] = RACY_STEP(i + 1, 1);
        for (int64_t k = 0; which == COMMUTE && k < SUMS; k++)
            z[i] += k * (i + 1);
    }
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "racy",
    .summary = "graphs that lack an edge, and nearly always get away with it",
    .kernels = kernels,
    .n_kernels = RACY_KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = racy,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
};
