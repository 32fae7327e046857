/* SPDX-License-Identifier: Apache-2.0 */
/* A workload of integers whose reference is wrong by 2 in one element. */
#include "table.h"

enum { ELEMENTS = 10 };

static void count(const struct tg_ctx *ctx)
{
    for (int64_t i = 0; i < ELEMENTS; i++)
        TG_ARG(ctx, 1, int64_t)[i] = TG_ARG(ctx, 0, const int64_t)[i] + 1;
}

static void count_wrong(const struct tg_ctx *ctx)
{
    count(ctx);
    TG_ARG(ctx, 1, int64_t)[3] += 2;
}

static const struct tg_kernel_def kernels[] = {{"count", count, TG_AIV, "in:int64 out:int64"}};
static const struct tg_reference_def references[] = {{"count", count_wrong, 0, 0}};
static const struct tg_case_def cases[] = {{"only", "one task", ""}};

static void prepare(struct tg_case *c)
{
    int64_t n = ELEMENTS, *x = tg_case_tensor(c, "x", TG_IN, TG_INT64, 1, &n);
    for (int64_t i = 0; i < n; i++)
        x[i] = (INT64_C(1) << 60) + i; /* a double does not tell these apart */
    tg_case_tensor(c, "y", TG_OUT, TG_INT64, 1, &n);
}

static void golden(struct tg_case *c)
{
    const int64_t *x = tg_case_input(c, "x");
    int64_t *y = tg_case_expect_exact(c, "y");
    for (int64_t i = 0; i < ELEMENTS; i++)
        y[i] = x[i] + 1;
}

static void orchestrate(struct tg_rt *rt, const struct tg_args *args)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, args->tensor[0]);
    tg_args_out(&task, args->tensor[1]);
    tg_submit(rt, 0, &task);
}

TG_WORKLOAD = {TABLE("counted", "integers with a wrong reference"), TABLE_REFERENCES};
