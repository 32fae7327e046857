/* SPDX-License-Identifier: Apache-2.0 */
/* The good kernel, and the ways to go wrong that every device has. */
#include "faults.h"

/* Good: one more task has run. */
TG_KERNEL(fault_none)
{
    int32_t *count = TG_ARG(ctx, 0, int32_t);
    TG_FOR(once, 1)
        count[0] += 1;
}

/* The fault is the point: a sanitizer must not find it first. */
#if defined(__CUDACC__)
#define UNCHECKED
#else
#define UNCHECKED __attribute__((no_sanitize("undefined", "address")))
#endif

UNCHECKED TG_FN static void write_to_null(void)
{
    volatile int32_t *volatile nowhere = 0; /* volatile: the compiler must not know, nor care */
    *nowhere = 1;
}

TG_KERNEL(fault_null)
{
    (void)ctx;
    write_to_null();
}

/* A terabyte behind it, where nobody has memory. */
UNCHECKED TG_FN static void write_far_behind(volatile int32_t *count)
{
    volatile int32_t *volatile far = count + ((int64_t)1 << 38);
    *far = 1;
}

TG_KERNEL(fault_far)
{
    write_far_behind(TG_ARG(ctx, 0, volatile int32_t));
}

TG_KERNEL(fault_trap)
{
    (void)ctx;
#if defined(__CUDACC__)
    __trap();
#else
    __builtin_trap();
#endif
}

/* Never returns: nobody else writes the count. */
TG_KERNEL(fault_spin)
{
    const volatile int32_t *count = TG_ARG(ctx, 0, const volatile int32_t);
    while (*count >= 0) {
    }
}

/* Crashes while the others wait for it. */
TG_KERNEL(fault_mix_null)
{
    (void)ctx;
    write_to_null();
}

/* Does not come to the barrier, so that the others wait for ever. */
TG_KERNEL(fault_mix_skip)
{
    (void)ctx;
}

TG_KERNEL(fault_mix_meet)
{
    tg_mix_barrier(ctx);
}
