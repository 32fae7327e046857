/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of this workload share. */
#ifndef SLOW_H
#define SLOW_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum { SLOW_WAIT, SLOW_KERNELS };

TG_KERNEL(slow_wait);
TG_ORCHESTRATION(slow);

/* Nanoseconds since some fixed time. */
#if defined(__CUDACC__)
TG_FN static inline int64_t slow_now(void)
{
    int64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}
#else
int64_t slow_now(void); /* clock.c */
#endif

#endif
