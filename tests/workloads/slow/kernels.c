/* SPDX-License-Identifier: Apache-2.0 */
#include "slow.h"

/* Keeps its core busy for this many nanoseconds, then counts itself. */
TG_KERNEL(slow_wait)
{
    TG_FOR(once, 1) {
        int64_t end = slow_now() + tg_arg_i64(ctx, 0);
        while (slow_now() < end) {
        }
        *TG_ARG(ctx, 0, int32_t) += 1;
    }
}
