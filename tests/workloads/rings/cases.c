/* SPDX-License-Identifier: Apache-2.0 */
#include "rings.h"

#include <string.h>
#include <taskglass/workload.h>

static const struct tg_kernel_def kernels[RINGS_KERNELS] = {
    [RINGS_SET] = {"set", rings_set, TG_AIV, "out:int64 scalar:int64"},
    [RINGS_TAKE] = {"take", rings_take, TG_AIV, "in:int64 out:int64"},
    [RINGS_ADD] = {"add", rings_add, TG_AIV, "inout:int64 scalar:int64"},
    [RINGS_NEXT] = {"next", rings_next, TG_AIV, "in:int64 out:int64 scalar:int64"},
    [RINGS_SUM] = {"sum", rings_sum, TG_AIC, NULL},
    [RINGS_WAIT] = {"wait", rings_wait, TG_AIV, "inout:int64 scalar:int64 scalar:int64"},
    [RINGS_CRASH] = {"crash", rings_crash, TG_AIV, "inout:int64 scalar:int64"},
    [RINGS_SPIN] = {"spin", rings_spin, TG_AIV, "inout:int64 scalar:int64"},
};

#define CASE(name, n, depth, size, text) \
    {#name, text, "what=" #name " n=" #n " depth=" #depth " size=" #size},
static const struct tg_case_def cases[] = {RINGS_CASES(CASE)};
#undef CASE

static int64_t what_of(struct tg_case *c)
{
    const char *name = tg_case_text(c, "what");
    int64_t what = 0;
    while (what < N_RINGS_CASES && strcmp(name, cases[what].name) != 0)
        what++;
    return what;
}

static void prepare(struct tg_case *c)
{
    int64_t what = what_of(c), n = tg_case_int(c, "n"), depth = tg_case_int(c, "depth");
    int64_t size = tg_case_int(c, "size"), elements = n + 1;
    if (what == N_RINGS_CASES) {
        tg_case_fail(c, "what must be the name of a case of this workload");
        return;
    }
    if (n < 0 || n > 1 << 24 || depth < 0 || depth > 62 || size < 0) {
        tg_case_fail(c, "n must be from 0 to 16777216, depth from 0 to 62, size 0 or more");
        return;
    }
    tg_case_tensor(c, "value", TG_INOUT, TG_INT64, 1, &elements);
    tg_case_scalar(c, "what", TG_INT64, (uint64_t)what);
    tg_case_scalar(c, "n", TG_INT64, (uint64_t)n);
    tg_case_scalar(c, "depth", TG_INT64, (uint64_t)depth);
    tg_case_scalar(c, "size", TG_INT64, (uint64_t)size);
}

/* Some cases use the element after the last for themselves. */
static void golden(struct tg_case *c)
{
    int64_t what = what_of(c), n = tg_case_int(c, "n");
    int64_t *value = tg_case_expect_exact(c, "value");
    for (int64_t i = 0; i < n; i++)
        value[i] = i + 1;
    value[n] = 0;
    if (what == RINGS_fan_in || what == RINGS_found_fan || what == RINGS_held_fan ||
        what == RINGS_slow_fan)
        value[n] = 1;
    if (what == RINGS_read)
        value[n] = n;
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "rings",
    .summary = "what can go right and wrong with rings",
    .kernels = kernels,
    .n_kernels = RINGS_KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = rings,
    .orchestrate_site = TG_SITE, /* line: orchestration */
    .prepare = prepare,
    .golden = golden,
};
