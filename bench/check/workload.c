/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks with two inputs and an output of 1 MiB each, and a reference for their kernel. */
#include <string.h>
#include <taskglass/workload.h>

enum { ELEMENTS = 1 << 18 };

/* The reference of `add` computes the very same bits, that of `blend` computes in double precision, so
 * that most elements differ a little. */
static void add(const struct tg_ctx *ctx)
{
    const float *a = TG_ARG(ctx, 0, const float), *b = TG_ARG(ctx, 1, const float);
    float *y = TG_ARG(ctx, 2, float);
    for (int64_t i = 0; i < ELEMENTS; i++)
        y[i] = a[i] + b[i];
}

static void blend(const struct tg_ctx *ctx)
{
    const float *a = TG_ARG(ctx, 0, const float), *b = TG_ARG(ctx, 1, const float);
    float *y = TG_ARG(ctx, 2, float);
    for (int64_t i = 0; i < ELEMENTS; i++)
        y[i] = a[i] * 0.3f + b[i] * 0.7f;
}

static void blend_exactly(const struct tg_ctx *ctx)
{
    const float *a = TG_ARG(ctx, 0, const float), *b = TG_ARG(ctx, 1, const float);
    float *y = TG_ARG(ctx, 2, float);
    for (int64_t i = 0; i < ELEMENTS; i++)
        y[i] = (float)((double)a[i] * 0.3 + (double)b[i] * 0.7);
}

static const struct tg_kernel_def kernels[] = {
    {"add", add, TG_AIV, "in:float32 in:float32 out:float32"},
    {"blend", blend, TG_AIV, "in:float32 in:float32 out:float32"},
};
static const struct tg_reference_def references[] = {{"add", add, 0, 0},
                                                     {"blend", blend_exactly, 1e-5, 1e-5}};
static const struct tg_case_def cases[] = {
    {"add", "the reference computes the same bits", "kernel=0 tasks=341"},
    {"blend", "the reference rounds differently", "kernel=1 tasks=341"},
};

static void prepare(struct tg_case *c)
{
    int64_t n = ELEMENTS;
    float *a = tg_case_tensor(c, "a", TG_IN, TG_FLOAT32, 1, &n);
    float *b = tg_case_tensor(c, "b", TG_IN, TG_FLOAT32, 1, &n);
    tg_case_tensor(c, "y", TG_OUT, TG_FLOAT32, 1, &n);
    for (int64_t i = 0; i < n; i++) {
        a[i] = (float)(i % 1000) * 0.37f + 1;
        b[i] = (float)(i % 777) * 0.11f + 1;
    }
    tg_case_scalar(c, "kernel", TG_INT64, (uint64_t)tg_case_int(c, "kernel"));
    tg_case_scalar(c, "tasks", TG_INT64, (uint64_t)tg_case_int(c, "tasks"));
}

static void golden(struct tg_case *c)
{
    const float *a = tg_case_input(c, "a"), *b = tg_case_input(c, "b");
    double *y = tg_case_expect(c, "y", 1e-4, 1e-4);
    bool adds = tg_case_int(c, "kernel") == 0;
    for (int64_t i = 0; i < ELEMENTS; i++)
        y[i] = adds ? (double)a[i] + (double)b[i] : (double)a[i] * 0.3 + (double)b[i] * 0.7;
}

static void orchestrate(struct tg_rt *rt, const struct tg_args *args)
{
    uint64_t last = TG_TASK_NONE;
    for (uint64_t i = 0; i < args->scalar[1].bits; i++) {
        struct tg_args task;
        tg_args_init(&task);
        tg_args_in(&task, args->tensor[0]);
        tg_args_in(&task, args->tensor[1]);
        tg_args_out(&task, args->tensor[2]);
        tg_args_after(&task, last);
        last = tg_submit(rt, (uint32_t)args->scalar[0].bits, &task);
    }
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "bench_check",
    .summary = "tasks with references",
    .kernels = kernels,
    .n_kernels = 2,
    .cases = cases,
    .n_cases = 2,
    .orchestrate = orchestrate,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
    .references = references,
    .n_references = 2,
};
