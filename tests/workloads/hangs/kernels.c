/* SPDX-License-Identifier: Apache-2.0 */
#include "hangs.h"

TG_KERNEL(hangs_step)
{
    int64_t *value = TG_ARG(ctx, 0, int64_t);
    TG_FOR(once, 1)
        value[0] += 1;
}

/* Never returns, because no other task writes the value. Says first that it has begun. */
TG_KERNEL(hangs_spin)
{
    volatile int64_t *value = TG_ARG(ctx, 0, volatile int64_t);
    *value = 1;
    while (*value >= 0) { /* line: spin */
    }
}

/* Returns when two others have begun to spin. */
TG_KERNEL(hangs_gate)
{
    const volatile int64_t *value = TG_ARG(ctx, 0, const volatile int64_t);
    while (value[0] == 0 || value[1] == 0) {
    }
}

TG_KERNEL(hangs_part_aic)
{
    hangs_step(ctx);
}

TG_KERNEL(hangs_part_aiv)
{
    (void)ctx;
}
