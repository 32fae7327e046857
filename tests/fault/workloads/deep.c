/* SPDX-License-Identifier: Apache-2.0 */
/* An orchestration and a kernel that each need more than half of a thread's stack. */
#include "table.h"

enum { STEPS = 20, DEPTH = 5 << 20 };

/* Touches each page, so that a stack that is too small shows. */
static void fill(volatile char *bytes)
{
    for (int i = 0; i < DEPTH; i += 4096)
        bytes[i] = 1;
}

static void step(const struct tg_ctx *ctx)
{
    volatile char deep[DEPTH];
    fill(deep);
    *TG_ARG(ctx, 0, int64_t) += deep[0];
}

static const struct tg_kernel_def kernels[] = {{"step", step, TG_AIV, "inout:int64"}};
static const struct tg_case_def cases[] = {{"only", "the orchestration reads each result", ""}};

static void prepare(struct tg_case *c)
{
    int64_t n = 1;
    tg_case_tensor(c, "x", TG_INOUT, TG_INT64, 1, &n);
}

static void golden(struct tg_case *c)
{
    *(int64_t *)tg_case_expect_exact(c, "x") = STEPS;
}

static void orchestrate(struct tg_rt *rt, const struct tg_args *args)
{
    volatile char deep[DEPTH];
    fill(deep);
    for (int i = 0; i < STEPS; i++) {
        struct tg_args task;
        tg_args_init(&task);
        tg_args_inout(&task, args->tensor[0]);
        if (tg_read_i64(rt, args->tensor[0], tg_submit(rt, 0, &task)) != i + deep[0])
            tg_fail(rt, "a result is wrong");
    }
}

TG_WORKLOAD = {TABLE("deep", "large variables in the orchestration and in its kernel")};
