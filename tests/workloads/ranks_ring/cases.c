/* SPDX-License-Identifier: Apache-2.0 */
/* `crash`, `wrong`, `refuse` and `slow` name a rank: its last kernel crashes, it expects other values than
 * there will be, it refuses to prepare, it takes `seconds` to compute what it expects. */
#include "ranks_ring.h"

#include <taskglass/workload.h>
#include <unistd.h>

static const struct tg_kernel_def kernels[RING_KERNELS] = {
    [RING_WORK] = {"ring_work", ring_work, TG_AIV, "inout:int64 scalar:int64 scalar:int64"},
    [RING_TAKE] = {"ring_take", ring_take, TG_AIV, "inout:int64 in:int64"},
};

static const struct tg_case_def cases[] = {
    {"ring", "values go around",
     "steps=5 ms=0 n=1000 crash=-1 wrong=-1 refuse=-1 slow=-1 seconds=0 pieces=1"},
    {"pieces", "each value goes in a call of its own",
     "steps=2 ms=0 n=1500 crash=-1 wrong=-1 refuse=-1 slow=-1 seconds=0 pieces=1500"},
};

static void prepare(struct tg_case *c)
{
    int64_t n = tg_case_int(c, "n"), rank = tg_case_rank(c);
    if (tg_case_int(c, "refuse") == rank)
        tg_case_fail(c, "this rank refuses");
    int64_t *x = tg_case_tensor(c, "x", TG_INOUT, TG_INT64, 1, &n);
    for (int64_t i = 0; i < n; i++)
        x[i] = rank + 1;
    tg_case_tensor(c, "got", TG_OUT, TG_INT64, 1, &n);
    tg_case_tensor(c, "sum", TG_OUT, TG_INT64, 1, &n);
    tg_case_scalar(c, "steps", TG_INT64, (uint64_t)tg_case_int(c, "steps"));
    tg_case_scalar(c, "nanoseconds", TG_INT64, (uint64_t)(tg_case_real(c, "ms") * 1e6));
    tg_case_scalar(c, "crash", TG_INT64, tg_case_int(c, "crash") == rank ? 16 : 0);
    tg_case_scalar(c, "pieces", TG_INT64, (uint64_t)tg_case_int(c, "pieces"));
}

static void golden(struct tg_case *c)
{
    int64_t n = tg_case_int(c, "n"), steps = tg_case_int(c, "steps");
    int64_t rank = tg_case_rank(c), ranks = tg_case_ranks(c);
    int64_t *x = tg_case_expect_exact(c, "x"), *got = tg_case_expect_exact(c, "got");
    int64_t *sum = tg_case_expect_exact(c, "sum");
    int64_t from = ((rank - steps) % ranks + ranks) % ranks; /* whose values are here now */
    int64_t wrong = tg_case_int(c, "wrong") == rank;
    if (tg_case_int(c, "slow") == rank)
        sleep((unsigned)tg_case_int(c, "seconds"));
    for (int64_t i = 0; i < n; i++) {
        x[i] = got[i] = from + 1 + steps;
        sum[i] = ranks * (ranks + 1) / 2 + ranks * steps + wrong;
    }
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "ranks_ring",
    .summary = "ranks that pass values on",
    .kernels = kernels,
    .n_kernels = RING_KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = ring,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
    .communicates = 1,
};
