/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one program by `taskglass run`, to look into what a test found. */
#include "oracle.h"
#include "serial.h"

#include <taskglass/workload.h>

static const struct tg_kernel_def kernels[ORACLE_KERNELS] = {
    [ORACLE_AIC] = {"oracle_aic", oracle_kernel, TG_AIC, NULL},
    [ORACLE_AIV] = {"oracle_aiv", oracle_kernel, TG_AIV, NULL},
};

#define PARAM(name, value, text) #name "=" #value " "
static const struct tg_case_def cases[] = {
    {"random", "tasks made up from a seed, compared with serial execution", ORACLE_PARAMS(PARAM)},
};
#undef PARAM

static void prepare(struct tg_case *c)
{
    uint64_t seed = (uint64_t)tg_case_int(c, "seed");
    int64_t rings = tg_case_int(c, "rings"), tensors = tg_case_int(c, "tensors");
    int64_t shape;

    if (rings < 1 || rings > TG_RINGS || tensors < 1 || tensors > 6 ||
        tg_case_int(c, "window") < 1) {
        tg_case_fail(c, "rings must be from 1 to 4, tensors from 1 to 6, and window at least 1");
        return;
    }
#define TENSOR(name, bytes) \
    shape = (bytes);        \
    serial_fill(tg_case_tensor(c, #name, TG_INOUT, TG_UINT8, 1, &shape), bytes, seed);
    ORACLE_TENSORS_MAP(TENSOR)
#undef TENSOR
#define SCALAR(name, value, text) \
    tg_case_scalar(c, #name, TG_INT64, (uint64_t)tg_case_int(c, #name));
    ORACLE_PARAMS(SCALAR)
#undef SCALAR
}

static void golden(struct tg_case *c)
{
    struct tg_args args;
    tg_args_init(&args);
#define TENSOR(name, bytes)                                                           \
    {                                                                                 \
        int64_t shape = (bytes);                                                      \
        void *expect = tg_case_expect_exact(c, #name);                                \
        memcpy(expect, tg_case_input(c, #name), bytes);                               \
        tg_args_inout(&args, tg_tensor_make((uintptr_t)expect, TG_UINT8, 1, &shape)); \
    }
    ORACLE_TENSORS_MAP(TENSOR)
#undef TENSOR
#define SCALAR(name, value, text) tg_args_i64(&args, tg_case_int(c, #name));
    ORACLE_PARAMS(SCALAR)
#undef SCALAR
    serial_orchestrate(kernels, oracle, &args, NULL);
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "oracle",
    .summary = "random tasks, which must leave what serial execution leaves",
    .kernels = kernels,
    .n_kernels = ORACLE_KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = oracle,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
};
