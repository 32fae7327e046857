/* SPDX-License-Identifier: Apache-2.0 */
/* The benchmark's task: three tensors, one scalar, and nothing to do. */
#include "../kernels_only.h"

TG_KERNEL(nothing)
{
    (void)ctx;
}

static const struct tg_kernel_def kernels[] = {
    {"nothing", nothing, TG_AIV, "in:float32 in:float32 out:float32 scalar:float32"},
};

BENCH_KERNELS_ONLY("bench_graph", "tasks with arguments, for bench/graph", kernels);
