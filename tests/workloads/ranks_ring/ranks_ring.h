/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RANKS_RING_H
#define RANKS_RING_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum { RING_WORK, RING_TAKE, RING_KERNELS };

TG_KERNEL(ring_work);
TG_KERNEL(ring_take);
TG_ORCHESTRATION(ring);

/* Nanoseconds since some fixed time. */
#if defined(__CUDACC__)
TG_FN static inline int64_t ring_now(void)
{
    int64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}
#else
int64_t ring_now(void); /* clock.c */
#endif

#endif
