/* SPDX-License-Identifier: Apache-2.0 */
#include "tables.h"

/* Stores its scalars. Arguments: a double, a whole number. */
TG_KERNEL(tables_store)
{
    TG_FOR(once, 1) {
        *TG_ARG(ctx, 0, double) = tg_arg_f64(ctx, 0);
        *TG_ARG(ctx, 1, int64_t) = tg_arg_i64(ctx, 1);
    }
}

/* Writes its argument with what it holds already. */
TG_KERNEL(tables_touch)
{
    TG_FOR(i, tg_arg_numel(ctx, 0) / 2)
        tg_arg_store(ctx, 0, i, tg_arg_load(ctx, 0, i));
}
