/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel table, for the host. */
#include "../kernels_only.h"

#include "kernels.h"

static const struct tg_kernel_def kernels[KERNELS] = {
    [KERNEL_EMPTY] = {"gpu_empty", gpu_empty, TG_AIV, ""},
    [KERNEL_EMPTY_AIC] = {"gpu_empty_aic", gpu_empty_aic, TG_AIC, ""},
    [KERNEL_FIRST] = {"gpu_first", gpu_first, TG_AIV, "out:uint64"},
    [KERNEL_NEXT] = {"gpu_next", gpu_next, TG_AIV, "in:uint64 out:uint64"},
    [KERNEL_MARK_FIRST] = {"gpu_mark_first", gpu_mark_first, TG_AIV, "inout:uint64 scalar:uint64"},
    [KERNEL_MARK_NEXT] = {"gpu_mark_next", gpu_mark_next, TG_AIV,
                          "in:uint64 inout:uint64 scalar:uint64"},
    [KERNEL_COPY] = {"gpu_copy", gpu_copy, TG_AIV, "in:float32 out:float32"},
    [KERNEL_COPY_AIC] = {"gpu_copy_aic", gpu_copy_aic, TG_AIC, "in:float32 out:float32"},
};

BENCH_KERNELS("bench_gpu", "empty tasks and copies, for bench/gpu", kernels, gpu_orchestrate);
