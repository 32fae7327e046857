/* SPDX-License-Identifier: Apache-2.0 */
/* The benchmark's task: two inputs, one output, and a kernel that does nothing. */
#include "../kernels_only.h"

TG_KERNEL(nothing)
{
    (void)ctx;
}

static const struct tg_kernel_def kernels[] = {
    {"nothing", nothing, TG_AIV, "in:uint32 in:uint32 out:uint32"},
};

BENCH_KERNELS_ONLY("bench_record", "tasks that do nothing, for bench/record", kernels);
