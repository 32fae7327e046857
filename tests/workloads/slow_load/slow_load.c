/* SPDX-License-Identifier: Apache-2.0 */
/* A module that takes TASKGLASS_TEST_LOAD_SECONDS to load, in the device's process only. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/workload.h>
#include <unistd.h>

__attribute__((constructor)) static void linger(void)
{
    const char *seconds = getenv("TASKGLASS_TEST_LOAD_SECONDS");
    if (seconds && strncmp(program_invocation_short_name, "taskglass-", 10) == 0)
        sleep((unsigned)atoi(seconds));
}

TG_KERNEL(one)
{
    TG_ARG(ctx, 0, float)[0] = 1;
}

TG_ORCHESTRATION(only)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_out(&task, args->tensor[0]);
    tg_submit(rt, 0, &task);
}

static void prepare(struct tg_case *c)
{
    int64_t n = 1;
    tg_case_tensor(c, "x", TG_OUT, TG_FLOAT32, 1, &n);
}

static void golden(struct tg_case *c)
{
    tg_case_expect(c, "x", 0, 0)[0] = 1;
}

static const struct tg_kernel_def kernels[] = {{"one", one, TG_AIV, "out:float32"}};
static const struct tg_case_def cases[] = {{"only", "one task", ""}};

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,   .name = "slow_load", .summary = "takes its time to load",
    .kernels = kernels, .n_kernels = 1,      .cases = cases,
    .n_cases = 1,       .orchestrate = only, .orchestrate_site = TG_SITE,
    .prepare = prepare, .golden = golden,
};
