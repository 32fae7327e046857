/* SPDX-License-Identifier: Apache-2.0 */
/* Not device code: it sleeps, and ends the process. */
#define _POSIX_C_SOURCE 200809L
#include "rings.h"

#include <stdlib.h>
#include <time.h>

/* Keeps its core, but not the CPU: others can overtake it on a machine with few. */
TG_KERNEL(rings_wait)
{
    int64_t nanoseconds = tg_arg_i64(ctx, 1);
    struct timespec t = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    while (nanosleep(&t, &t) != 0) {
    }
    *TG_ARG(ctx, 0, int64_t) += tg_arg_i64(ctx, 0);
}

void rings_abort(void)
{
    abort();
}
