/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of this workload share. */
#ifndef MATMUL_CHAIN_H
#define MATMUL_CHAIN_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum { TILE_PRODUCT, TILE_ACCUMULATE, TILE_BIAS_RELU, MATMUL_CHAIN_KERNELS };

/* Tiles across the columns of H, at most: the orchestration keeps one task id for each. */
enum { MAX_TILES = 64 };

TG_KERNEL(tile_product);
TG_KERNEL(tile_accumulate);
TG_KERNEL(tile_bias_relu);
TG_ORCHESTRATION(matmul_chain);

#endif
