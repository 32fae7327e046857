/* SPDX-License-Identifier: Apache-2.0 */
/* One task reads every second element instead of the second half. */
#include "planted.h"

enum { PICK, START, FINISH };
TG_KERNEL(pick)
{
    TG_FOR(i, tg_arg_numel(ctx, 1)) {
        double a = tg_arg_load(ctx, 0, i);
        tg_arg_store(ctx, 1, i, a * 2);
    }
}

FROM_ONE(start, 0.9f * a[i] + 0.05f)
FROM_ONE(finish, 2 * a[i] - 1)
TG_ORCHESTRATION(planted)
{

    struct tg_tensor a = vector(rt), b = vector(rt);
    uint64_t l = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    for (int k = 0; k < 2; k++) {
        int64_t from = k * 32;
        struct tg_tensor v = BAD && k == 1 ? tg_tensor_slice(a, 0, 0, 64, 2)
                                           : tg_tensor_slice(a, 0, from, from + 32, 1);
        l = one(rt, PICK, v, tg_tensor_slice(b, 0, from, from + 32, 1), l, TG_TASK_NONE);
    }
    one(rt, FINISH, b, row_of(args, 0), l, TG_TASK_NONE);
}
PLANTED({"pick", pick, TG_AIV, ONE_IN}, {"start", start, TG_AIV, ONE_IN},
        {"finish", finish, TG_AIV, ONE_IN});
