/* SPDX-License-Identifier: Apache-2.0 */
/* A chain in place, into which the bad graph inserts a task of another kernel. */
#include "planted.h"

enum { START, CLAMP, TWICE, FINISH };
FROM_ONE(start, 0.9f * a[i] + 0.05f)

TG_KERNEL(clamp)
{
    TG_FOR(i, tg_arg_numel(ctx, 0)) {
        double a = tg_arg_load(ctx, 0, i);
        tg_arg_store(ctx, 0, i, a > 0.5 ? 0.5 : a);
    }
}

TG_KERNEL(twice)
{
    TG_FOR(i, tg_arg_numel(ctx, 0)) {
        double a = tg_arg_load(ctx, 0, i);
        tg_arg_store(ctx, 0, i, a * 2);
    }
}

FROM_ONE(finish, 2 * a[i] - 1)
TG_ORCHESTRATION(planted)
{

    struct tg_tensor a = vector(rt);
    uint64_t l = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    for (int k = 0; k < 6; k++) {
        l = change(rt, TWICE, a, l);
        if (BAD && (k == 2))
            l = change(rt, CLAMP, a, l);
    }
    one(rt, FINISH, a, row_of(args, 0), l, TG_TASK_NONE);
}
PLANTED({"start", start, TG_AIV, ONE_IN}, {"clamp", clamp, TG_AIV, "inout:float32"},
        {"twice", twice, TG_AIV, "inout:float32"}, {"finish", finish, TG_AIV, ONE_IN});
