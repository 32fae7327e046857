/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of this workload share. */
#ifndef BGEMM_H
#define BGEMM_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum { BGEMM_PRODUCT, BGEMM_ACCUMULATE, BGEMM_KERNELS };

/* Tiles along n and along k, at most: then a row of tiles, which is one scope, has at most 4096
 * tasks. */
enum { BGEMM_MAX_TILES = 64 };

TG_KERNEL(bgemm_product);
TG_KERNEL(bgemm_accumulate);
TG_ORCHESTRATION(bgemm);

#endif
