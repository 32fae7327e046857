/* SPDX-License-Identifier: Apache-2.0 */
/* A thread block as a core: one thread leads, the crew does as it is told. */
#ifndef TG_CUDA_GPU_BLOCK_H
#define TG_CUDA_GPU_BLOCK_H

#include "platform/cuda/launch.h"

/* All threads of the block, before anything else. */
__device__ void tg_block_init(void);
/* The threads that run kernels; they come back when the leader ends the block. */
__device__ void tg_block_crew(void);
__device__ void tg_block_end(void);

#endif
