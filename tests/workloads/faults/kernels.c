/* SPDX-License-Identifier: Apache-2.0 */
/* The good kernel, and the faults that every device can have. */
#include "faults.h"

/* The good kernel: counts that one more task has run. */
TG_KERNEL(fault_none)
{
    int32_t *count = TG_ARG(ctx, 0, int32_t);
    TG_FOR(once, 1)
        count[0] += 1;
}

/* The fault is intended: a sanitizer must not report it first. */
#if defined(__CUDACC__)
#define UNCHECKED
#else
#define UNCHECKED __attribute__((no_sanitize("undefined", "address")))
#endif

UNCHECKED TG_FN static void write_to_null(void)
{
    volatile int32_t *volatile nowhere = 0; /* volatile, so that the compiler assumes nothing */
    *nowhere = 1;
}

TG_KERNEL(fault_null)
{
    (void)ctx;
    write_to_null();
}

/* Writes a terabyte past it, where no memory is mapped. */
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

/* The task has one tensor and no scalar. */
TG_KERNEL(fault_tensor)
{
    int32_t *count = TG_ARG(ctx, 0, int32_t), *more = TG_ARG(ctx, 2, int32_t);
    TG_FOR(once, 1)
        count[0] += more[0];
}

TG_KERNEL(fault_scalar)
{
    int32_t *count = TG_ARG(ctx, 0, int32_t), more = tg_arg_i32(ctx, 0);
    TG_FOR(once, 1)
        count[0] += more;
}

/* Never returns, because no other task writes the count. */
TG_KERNEL(fault_spin)
{
    const volatile int32_t *count = TG_ARG(ctx, 0, const volatile int32_t);
    while (*count >= 0) {
    }
}

TG_KERNEL(fault_aic_none)
{
    fault_none(ctx);
}

TG_KERNEL(fault_aic_spin)
{
    fault_spin(ctx);
}

/* Crashes while the other parts wait for it. */
TG_KERNEL(fault_mix_null)
{
    (void)ctx;
    write_to_null();
}

/* Skips the barrier, so that the other parts wait forever. */
TG_KERNEL(fault_mix_skip)
{
    (void)ctx;
}

TG_KERNEL(fault_mix_meet)
{
    tg_mix_barrier(ctx);
}
