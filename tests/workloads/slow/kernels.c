/* SPDX-License-Identifier: Apache-2.0 */
/* Not device code: it reads the clock. */
#define _POSIX_C_SOURCE 200809L
#include "slow.h"

#include <time.h>

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Keeps its core busy for so many nanoseconds, then counts itself. */
TG_KERNEL(slow_wait)
{
    int64_t end = now() + tg_arg_i64(ctx, 0);
    while (now() < end) {
    }
    *TG_ARG(ctx, 0, int32_t) += 1;
}
