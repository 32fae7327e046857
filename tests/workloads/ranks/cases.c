/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks.h"
#include "serial.h"
#include <stdio.h>
#include <stdlib.h>
#include <taskglass/workload.h>

static const struct tg_kernel_def kernels[RANKS_KERNELS] = {
    [RANKS_MIX] = {"ranks_mix", ranks_mix, TG_EITHER, "inout:int64 in:int64 scalar:uint64"},
};

static const struct tg_case_def cases[] = {
    {"random", "a random program that communicates", "seed=1 steps=40"},
};

static void prepare(struct tg_case *c)
{
    const int64_t shape[] = {RANKS_ELEMENTS};
    uint64_t seed = (uint64_t)tg_case_int(c, "seed");
    if (tg_case_ranks(c) > RANKS_MOST)
        tg_case_fail(c, "at most 8 ranks");
    for (uint32_t b = 0; b < RANKS_BUFFERS; b++) {
        char name[16];
        snprintf(name, sizeof name, "b%u", (unsigned)b);
        int64_t *x = tg_case_tensor(c, name, TG_INOUT, TG_INT64, 1, shape);
        for (int64_t i = 0; i < RANKS_ELEMENTS; i++)
            x[i] = ranks_first(seed, tg_case_rank(c), b, i);
    }
    tg_case_scalar(c, "seed", TG_INT64, seed);
    tg_case_scalar(c, "steps", TG_INT64, (uint64_t)tg_case_int(c, "steps"));
}

static void golden(struct tg_case *c)
{
    static struct ranks_world world;
    ranks_run(&world, (uint64_t)tg_case_int(c, "seed"), tg_case_int(c, "steps"), tg_case_ranks(c));
    for (uint32_t b = 0; b < RANKS_BUFFERS; b++) {
        char name[16];
        snprintf(name, sizeof name, "b%u", (unsigned)b);
        memcpy(tg_case_expect_exact(c, name), world.at[tg_case_rank(c)][b], sizeof world.at[0][b]);
    }
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "ranks",
    .summary = "random programs that communicate",
    .kernels = kernels,
    .n_kernels = RANKS_KERNELS,
    .cases = cases,
    .n_cases = 1,
    .orchestrate = ranks_orchestrate,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
    .communicates = 1,
};
