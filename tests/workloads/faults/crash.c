/* SPDX-License-Identifier: Apache-2.0 */
/* Faults that only a process can have. On devices whose kernels do not run in a process they all
 * trap, so that every kernel exists on every device. */
#define _POSIX_C_SOURCE 200809L
#include "faults.h"

#if defined(__CUDACC__)

TG_KERNEL(fault_abort)
{
    (void)ctx;
    __trap();
}

TG_KERNEL(fault_aic_abort)
{
    (void)ctx;
    __trap();
}

TG_KERNEL(fault_fpe)
{
    (void)ctx;
    __trap();
}

TG_KERNEL(fault_stack)
{
    (void)ctx;
    __trap();
}

TG_KERNEL(fault_exit)
{
    (void)ctx;
    __trap();
}

#else

#include <stdlib.h>
#include <unistd.h>

TG_KERNEL(fault_abort)
{
    (void)ctx;
    abort();
}

TG_KERNEL(fault_aic_abort)
{
    (void)ctx;
    abort();
}

/* Division by zero. Only x86 turns it into a signal; other processors trap explicitly. */
TG_KERNEL(fault_fpe)
{
    volatile int zero = 0, one = 1;
    (void)ctx;
    one = one / zero;
    __builtin_trap();
}

static int32_t use_stack(const volatile int32_t *count)
{
    volatile char room[4096];
    room[0] = 1;
    if (*count < 0) /* never: the count only grows */
        return 0;
    return use_stack(count) + room[0];
}

TG_KERNEL(fault_stack)
{
    int32_t *count = TG_ARG(ctx, 0, int32_t);
    *count = use_stack(count);
}

TG_KERNEL(fault_exit)
{
    (void)ctx;
    _exit(7);
}

#endif
