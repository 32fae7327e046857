/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of this workload share. */
#ifndef MIX_H
#define MIX_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum {
    MIX_SCALE,
    MIX_PRODUCT,
    MIX_BIAS_RELU,
    MIX_RESIDUAL_PRODUCT,
    MIX_RESIDUAL_ADD,
    MIX_ROW_SHIFT,
    MIX_TOTAL,
    MIX_KERNELS
};

TG_KERNEL(mix_scale);
TG_KERNEL(mix_product);
TG_KERNEL(mix_bias_relu);
TG_KERNEL(mix_residual_product);
TG_KERNEL(mix_residual_add);
TG_KERNEL(mix_row_shift);
TG_KERNEL(mix_total);
TG_ORCHESTRATION(mix);

#endif
