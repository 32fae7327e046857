/* SPDX-License-Identifier: Apache-2.0 */
/* A thread block as a core: one thread, the leader, gives orders; the crew carries them out. */
#ifndef TG_CUDA_GPU_BLOCK_H
#define TG_CUDA_GPU_BLOCK_H

#include "platform/cuda/launch.h"

/* All threads of the block call this first. */
__device__ void tg_block_init(void);
/* The crew's threads call this; it returns after the leader has called tg_block_end. */
__device__ void tg_block_crew(void);
__device__ void tg_block_end(void);
/* entry.cu: what the crew's threads do at TG_ORDER_FILL. */
__device__ void tg_block_fill(void);

#endif
