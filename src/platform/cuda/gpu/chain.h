/* SPDX-License-Identifier: Apache-2.0 */
/* Running tasks on a GPU: chain.cu. Only target_impl.h includes this. */
#ifndef TG_CUDA_GPU_CHAIN_H
#define TG_CUDA_GPU_CHAIN_H

#include "device/core.h"
#include "device/trace.h"

/* True if the task after one can be prepared while that one runs: its successors are known before
 * it ends, or most often are, because the orchestrator beside the GPU is far ahead; and nobody looks at the
 * arguments or the clock in between. */
TG_FN static inline bool tg_chain_is_possible(const struct tg_engine *e)
{
    return (e->edges == TG_EDGES_FIXED || e->done_words) && !tg_is_watched(e);
}

/* Runs tasks, each a successor of the one before, until there is none or the worker is called elsewhere. Returns
 * the last task, as tg_target_run. */
TG_FN uint32_t tg_chain_run_on(struct tg_engine *e, struct tg_worker *w, uint32_t task);
/* What all lanes do for it (TG_WALK_RUN): with fixed edges, and in a graph that is fed from beside the GPU. */
TG_FN uint32_t tg_chain_walk(struct tg_engine *e);
TG_FN uint32_t tg_chain_walk_fed(struct tg_engine *e);

TG_FN static inline uint32_t tg_target_run(struct tg_engine *e, struct tg_worker *w, uint32_t task)
{
    if (tg_orders()->near.chains)
        return tg_chain_run_on(e, w, task);
    return tg_core_run_alone(e, w, task) ? task : TG_NO_TASK;
}

#endif
