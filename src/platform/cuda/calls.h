/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of communication (wire/comm.h) between the GPU and its process: two rings in shared memory.
 *
 *   GPU                                        process                             host
 *   every core ──► post[posted % POSTS] ─────► carries what is new to a socket ──► progress thread
 *   the watch  ◄── done[heard % DONES] ◄────── carries it from the socket      ◄── says what is done
 *
 * The GPU cannot exchange over the bus, so a core takes its number among all posts from a counter in the
 * GPU's own memory; the number in the post says that the rest of it is there. The process has a thread for each
 * direction, because the host may wait until its answers are read before it takes the next post.
 *
 * Named edges:
 *   P1  post[].number   the core that filled the post, and whatever the core knows of, pairs with the
 *                       process, which then reads the post
 *   P2  taken           the process, after it has read a post, pairs with the core that fills the place again
 *   P3  done            the process, which has heard from the host that the bytes are there, pairs with
 *                       the watch, which makes the task ready
 *   P4  heard           the watch, after it has read a place, pairs with the process, which fills it again
 */
#ifndef TG_CUDA_CALLS_H
#define TG_CUDA_CALLS_H

#include <stdint.h>
#include <taskglass/wire/assert.h>
#include <taskglass/wire/comm.h>

enum { TG_CUDA_POSTS = 128, TG_CUDA_DONES = 1024 };

struct tg_cuda_post {
    uint64_t number; /* P1: 1 + how many were posted before; 0: none yet */
    struct tg_comm_post post;
};

/* All zeros when a run begins. Each line has one writer. */
struct tg_cuda_calls {
    uint64_t taken, n_done; /* the process's: P2, P3 */
    uint64_t reserved[6];
    uint64_t heard; /* the watch's: P4 */
    uint64_t reserved_too[7];
    uint32_t done[TG_CUDA_DONES];            /* the process's: slots of tasks */
    struct tg_cuda_post post[TG_CUDA_POSTS]; /* the cores' */
};

/* In the GPU's own memory, where its cores can exchange. Zeros when a run begins, but for `calls`. */
struct tg_cuda_caller {
    struct tg_cuda_calls *calls;
    uint64_t posted;
    uint64_t heard;
};

#endif
