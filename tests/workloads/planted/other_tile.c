/* SPDX-License-Identifier: Apache-2.0 */
/* One task reads a tile that begins two columns too far right. */
#include "planted.h"

enum { PICK, START, TOTAL };
TG_KERNEL(pick)
{
    TG_FOR(i, tg_arg_numel(ctx, 1)) {
        double a = tg_arg_load(ctx, 0, i);
        tg_arg_store(ctx, 1, i, a * 2 + 1);
    }
}

FROM_ONE(start, 0.9f * a[i] + 0.05f)

TG_KERNEL(total)
{
    TG_FOR(i, tg_arg_numel(ctx, 1)) {
        double a = tg_arg_load(ctx, 0, i);
        tg_arg_store(ctx, 1, i, a);
    }
}
TG_ORCHESTRATION(planted)
{

    struct tg_tensor a = vector(rt), m, c = vector(rt), o;
    int64_t sh[2] = {8, 8};
    uint64_t l;
    l = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    m = tg_tensor_reshape(a, 2, sh);
    o = tg_tensor_reshape(c, 2, sh);
    for (int r = 0; r < 2; r++)
        for (int q = 0; q < 2; q++) {
            int64_t col = q * 4 + (BAD && r == 1 && q == 0 ? 2 : 0);
            l = one(rt, PICK, tg_tensor_tile(m, r * 4, 4, col, 4),
                    tg_tensor_tile(o, r * 4, 4, q * 4, 4), l, TG_TASK_NONE);
        }
    one(rt, TOTAL, c, row_of(args, 0), l, TG_TASK_NONE);
}
PLANTED({"pick", pick, TG_AIV, ONE_IN}, {"start", start, TG_AIV, ONE_IN},
        {"total", total, TG_AIV, ONE_IN});
