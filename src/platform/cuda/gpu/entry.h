/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the entry point that does not depend on the threads of a block. */
#ifndef TG_CUDA_GPU_ENTRY_H
#define TG_CUDA_GPU_ENTRY_H

#include "device/engine.h"
#include "platform/cuda/bell.h"
#include "platform/cuda/launch.h"

/* True if the worker takes part in the run. A leader asks before the blocks meet (stay.h): afterwards a
 * short run may be over, and the engine be reset for the next. */
TG_FN static inline bool tg_cuda_is_wanted(const struct tg_engine *e, uint32_t worker)
{
    return worker != tg_engine_orchestrator(e) || tg_engine_orchestrates(e);
}

/* One thread of each block calls this: runs a worker from the start of the run to its end. */
TG_FN static inline void tg_cuda_take_part(struct tg_engine *e, uint32_t worker,
                                           struct tg_cuda_words *words, uint32_t call)
{
    if (worker == tg_engine_orchestrator(e))
        tg_store_relaxed_host(&e->worker[worker].status->running, (uint64_t)1);
    if (tg_engine_enter(e, worker))
        tg_bell_end(words, call, tg_load_relaxed(&e->phase) == TG_STOPPED);
}

#endif
