/* SPDX-License-Identifier: Apache-2.0 */
/* Draining the feeding ring (drain.h) with a thread block: the crew's threads of the block that no lane
 * needs. */
#ifndef TG_CUDA_GPU_DRAIN_BLOCK_H
#define TG_CUDA_GPU_DRAIN_BLOCK_H

#include "device/feed.h"
#include "platform/cuda/gpu/caller.h"
#include "platform/cuda/launch.h"

/* All threads of the crew drain; a batch of cells fits into the memory that kernels get. */
static_assert(TG_FEED_BATCH * sizeof(struct tg_feed_cell) <= TG_BLOCK_MEMORY_BYTES,
              "a batch fits into a block's memory");

static __shared__ uint64_t tg_told;
static __shared__ uint32_t tg_least;

__device__ static inline void tg_drain_meet(void)
{
    TG_BARRIER();
}

__device__ static inline uint64_t tg_drain_told(uint64_t value)
{
    TG_BARRIER();
    if (threadIdx.x == 0)
        tg_told = value;
    TG_BARRIER();
    return tg_told;
}

__device__ static inline uint32_t tg_drain_least(uint32_t value)
{
    TG_BARRIER();
    if (threadIdx.x == 0)
        tg_least = UINT32_MAX;
    TG_BARRIER();
    atomicMin(&tg_least, value);
    TG_BARRIER();
    return tg_least;
}

/* Loads 16 bytes of host memory, past the caches. */
__device__ static inline ulonglong2 tg_load_far(const ulonglong2 *from)
{
    ulonglong2 pair;
    asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(pair.x), "=l"(pair.y)
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
    return pair;
}

/* Every thread has several loads on their way, so that a batch takes about one round trip. */
__device__ static inline const struct tg_feed_cell *tg_drain_fetch(const struct tg_feed_cell *cells,
                                                                   uint32_t n)
{
    enum { AT_ONCE = 4 };
    const ulonglong2 *from = (const ulonglong2 *)cells;
    ulonglong2 *to = (ulonglong2 *)tg_block_memory;
    uint32_t pairs = n * (uint32_t)(sizeof *cells / sizeof *from), i = threadIdx.x;
    TG_BARRIER();
    for (; i + (AT_ONCE - 1) * TG_CUDA_THREADS < pairs; i += AT_ONCE * TG_CUDA_THREADS) {
        ulonglong2 pair[AT_ONCE];
#pragma unroll
        for (uint32_t k = 0; k < AT_ONCE; k++)
            pair[k] = tg_load_far(from + i + k * TG_CUDA_THREADS);
#pragma unroll
        for (uint32_t k = 0; k < AT_ONCE; k++)
            to[i + k * TG_CUDA_THREADS] = pair[k];
    }
    for (; i < pairs; i += TG_CUDA_THREADS)
        to[i] = tg_load_far(from + i);
    TG_BARRIER();
    return (const struct tg_feed_cell *)tg_block_memory;
}

#include "platform/cuda/gpu/drain.h"

/* Between batches one thread watches as in a run without the ring. It looks at the words that seldom change
 * once in a while, because each look takes a round trip over the bus. */
enum { TG_LOOKS_PER_GLANCE = 16 };

__device__ static inline uint64_t tg_drain_glance(struct tg_engine *e,
                                                  const struct tg_cuda_words *words,
                                                  struct tg_cuda_caller *caller,
                                                  const struct tg_drain *d, uint32_t look)
{
    if (look % TG_LOOKS_PER_GLANCE == 0 && tg_load_acquire_host(&words->stop) != 0)
        tg_engine_stop(e);
    if (look % TG_LOOKS_PER_GLANCE == 0 || tg_comm_is_on(e))
        tg_cuda_hear(e, caller);
    return tg_engine_running(e) ? tg_load_acquire_host(&d->ring->head) : UINT64_MAX; /* K1 */
}

/* One run, by all threads of the crew. They come here together, so that no warp does everything twice. */
__device__ static inline void tg_block_drain(struct tg_engine *e, const struct tg_cuda_launch *l,
                                             struct tg_cuda_caller *caller)
{
    const struct tg_cuda_words *words = TG_DEVICE_PTR(const struct tg_cuda_words, l->words);
    struct tg_drain d;
    uint64_t head;
    tg_drain_begin(&d, e, TG_DEVICE_PTR(struct tg_feed_ring, l->feed), threadIdx.x,
                   TG_CUDA_THREADS);
    for (uint32_t look = 0;; look++) {
        head = tg_drain_told(threadIdx.x == 0 ? tg_drain_glance(e, words, caller, &d, look) : 0);
        if (head == UINT64_MAX)
            break;
        tg_drain_up_to(&d, head);
    }
    if (threadIdx.x == 0)
        tg_store_release_host(&d.ring->over, (uint64_t)1);
}

#endif
