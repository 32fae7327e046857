/* SPDX-License-Identifier: Apache-2.0 */
/* Empty scopes, so that scope stats are the only cost that differs. */
#include "../kernels_only.h"

TG_KERNEL(nothing)
{
    (void)ctx;
}

/* Scalar 0: how many scopes; scalar 1: tasks in each. */
static void orchestrate(struct tg_rt *rt, const struct tg_args *args)
{
    for (uint64_t i = 0; i < args->scalar[0].bits; i++)
        TG_SCOPE(rt) {
            for (uint64_t k = 0; k < args->scalar[1].bits; k++)
                tg_submit(rt, 0, NULL);
        }
}

static const struct tg_kernel_def kernels[] = {{"nothing", nothing, TG_AIV, ""}};

BENCH_KERNELS("bench_scope_cost", "empty scopes", kernels, orchestrate);
