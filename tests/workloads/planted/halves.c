/* SPDX-License-Identifier: Apache-2.0 */
/* Two tasks change one half of a tensor each; one of them is wrong. */
#include "planted.h"

enum { START, UPD, FINISH };
FROM_ONE(start, 0.9f * a[i] + 0.05f)

TG_KERNEL(upd)
{
    float *a = TG_ARG(ctx, 0, float);
    int64_t h = tg_arg_i64(ctx, 0);
    TG_FOR(i, 32)
        a[i] = a[i] * 1.5f + (BAD && h == 1 && i == 31 ? 1 : 0);
}

FROM_ONE(finish, 2 * a[i] - 1)
TG_ORCHESTRATION(planted)
{

    struct tg_tensor a = vector(rt);
    uint64_t l = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE), u[2];
    for (int h = 0; h < 2; h++) {
        struct tg_args t;
        tg_args_init(&t);
        tg_args_inout(&t, tg_tensor_slice(a, 0, h * 32, h * 32 + 32, 1));
        tg_args_i64(&t, h);
        tg_args_after(&t, l);
        u[h] = tg_submit(rt, UPD, &t);
    }
    one(rt, FINISH, a, row_of(args, 0), u[0], u[1]);
}
PLANTED({"start", start, TG_AIV, ONE_IN}, {"upd", upd, TG_AIV, "inout:float32 scalar:int64"},
        {"finish", finish, TG_AIV, ONE_IN});
