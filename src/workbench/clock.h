/* SPDX-License-Identifier: Apache-2.0 */
/* Nanoseconds on a clock that never steps, for "at most once a second". */
#ifndef TG_WORKBENCH_CLOCK_H
#define TG_WORKBENCH_CLOCK_H

#include <stdint.h>
#include <time.h>

#define TG_BENCH_SECOND UINT64_C(1000000000)

static inline uint64_t tg_bench_now(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * TG_BENCH_SECOND + (uint64_t)now.tv_nsec;
}

#endif
