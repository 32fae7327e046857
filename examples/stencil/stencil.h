/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of this workload share. */
#ifndef STENCIL_H
#define STENCIL_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum { STENCIL_STEP, STENCIL_KERNELS };

/* Tiles of the grid, at most: the orchestration keeps a task id for each, for this step and the
 * last. */
enum { STENCIL_MAX_TILES = 256 };

TG_KERNEL(stencil_step);
TG_ORCHESTRATION(stencil);

#endif
