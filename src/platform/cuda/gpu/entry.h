/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the entry point that does not depend on the threads of a block. */
#ifndef TG_CUDA_GPU_ENTRY_H
#define TG_CUDA_GPU_ENTRY_H

#include "device/engine.h"
#include "platform/cuda/launch.h"

/* One thread of each block calls this: runs a worker from the start of the run to its end. */
TG_FN static inline void tg_cuda_take_part(struct tg_engine *e, uint32_t worker,
                                           struct tg_cuda_words *words)
{
    if (worker == tg_engine_orchestrator(e)) {
        if (!tg_engine_orchestrates(e))
            return;
        tg_store_relaxed_host(&e->worker[worker].status->running, (uint64_t)1);
    }
    if (tg_engine_enter(e, worker))
        tg_store_relaxed_host(&words->phase, tg_load_relaxed(&e->phase));
}

#endif
