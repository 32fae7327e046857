/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel does in place what two did in place: nothing is wrong. */
#include "planted.h"

enum { START, TWICE, LESS, TWICE_LESS, FINISH };
FROM_ONE(start, 0.9f * a[i] + 0.05f)

TG_KERNEL(twice)
{
    TG_FOR(i, tg_arg_numel(ctx, 0)) {
        double a = tg_arg_load(ctx, 0, i);
        tg_arg_store(ctx, 0, i, a * 2);
    }
}

TG_KERNEL(less)
{
    TG_FOR(i, tg_arg_numel(ctx, 0)) {
        double a = tg_arg_load(ctx, 0, i);
        tg_arg_store(ctx, 0, i, a - 1);
    }
}

TG_KERNEL(twice_less)
{
    TG_FOR(i, tg_arg_numel(ctx, 0)) {
        double a = tg_arg_load(ctx, 0, i);
        tg_arg_store(ctx, 0, i, a * 2 - 1);
    }
}

FROM_ONE(finish, 2 * a[i] - 1)
TG_ORCHESTRATION(planted)
{

    struct tg_tensor a = vector(rt);
    uint64_t l = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    if (BAD)
        l = change(rt, TWICE_LESS, a, l);
    else {
        l = change(rt, TWICE, a, l);
        l = change(rt, LESS, a, l);
    }
    one(rt, FINISH, a, row_of(args, 0), l, TG_TASK_NONE);
}
PLANTED({"start", start, TG_AIV, ONE_IN}, {"twice", twice, TG_AIV, "inout:float32"},
        {"less", less, TG_AIV, "inout:float32"},
        {"twice_less", twice_less, TG_AIV, "inout:float32"}, {"finish", finish, TG_AIV, ONE_IN});
