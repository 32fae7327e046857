/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of this workload share. */
#ifndef MLP_H
#define MLP_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum {
    MLP_PRODUCT,
    MLP_ACCUMULATE,
    MLP_GELU,
    MLP_BIAS,
    MLP_MIX_PRODUCT,
    MLP_MIX_GELU,
    MLP_MIX_BIAS,
    MLP_KERNELS
};

/* Tiles along each layer, at most: the orchestration keeps a task id for each. */
enum { MLP_MAX_TILES = 64 };

TG_KERNEL(mlp_product);
TG_KERNEL(mlp_accumulate);
TG_KERNEL(mlp_gelu);
TG_KERNEL(mlp_bias);
TG_KERNEL(mlp_mix_product);
TG_KERNEL(mlp_mix_gelu);
TG_KERNEL(mlp_mix_bias);
TG_ORCHESTRATION(mlp);

#endif
