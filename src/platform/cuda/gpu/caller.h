/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU's end of its calls of communication (platform/cuda/calls.h). It does not depend on the threads of a
 * block. */
#ifndef TG_CUDA_GPU_CALLER_H
#define TG_CUDA_GPU_CALLER_H

#include "device/comm.h"
#include "device/wait.h"
#include "platform/cuda/calls.h"

/* Before a run, by one thread. */
TG_FN static inline void tg_cuda_caller_reset(struct tg_cuda_caller *c, struct tg_cuda_calls *calls)
{
    c->calls = calls;
    c->posted = c->heard = 0;
}

/* Any core. If the ring is full, it waits until the process has taken a post, or the run is stopped and
 * nobody needs the call any more. */
TG_FN static inline void tg_cuda_post(struct tg_engine *e, struct tg_cuda_caller *c,
                                      const struct tg_comm_post *post)
{
    uint64_t number = tg_add_acq_rel(&c->posted, (uint64_t)1);
    struct tg_cuda_post *place = &c->calls->post[number % TG_CUDA_POSTS];
    while (number >= TG_CUDA_POSTS &&
           tg_load_acquire_host(&c->calls->taken) <= number - TG_CUDA_POSTS) { /* P2 */
        if (!tg_engine_running(e))
            return;
        tg_wait_nap();
    }
    place->post = *post;
    tg_store_release_host(&place->number, number + 1); /* P1 */
}

/* The watch, again and again: makes the tasks ready whose calls are done. */
TG_FN static inline void tg_cuda_hear(struct tg_engine *e, struct tg_cuda_caller *c)
{
    uint64_t done;
    if (!tg_comm_is_on(e))
        return;
    done = tg_load_acquire_host(&c->calls->n_done); /* P3 */
    if (c->heard == done)
        return;
    for (; c->heard != done; c->heard++)
        tg_comm_arrive(e, tg_comm_ear(e, 0), c->calls->done[c->heard % TG_CUDA_DONES], false);
    tg_store_release_host(&c->calls->heard, c->heard); /* P4 */
}

#endif
