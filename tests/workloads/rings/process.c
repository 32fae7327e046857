/* SPDX-License-Identifier: Apache-2.0 */
/* Not device code: this file sleeps, and ends the process. */
#define _POSIX_C_SOURCE 200809L
#include "rings.h"

#include <stdlib.h>
#include <time.h>

/* Gives the CPU to other threads, so that they can overtake it on a machine with few CPUs. */
void rings_sleep(int64_t nanoseconds)
{
    struct timespec t = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    while (nanosleep(&t, &t) != 0) {
    }
}

void rings_abort(void)
{
    abort();
}
