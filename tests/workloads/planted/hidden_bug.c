/* SPDX-License-Identifier: Apache-2.0 */
/* A wrong element that no later task reads. */
#include "planted.h"

enum { START, MIDDLE, PART };
FROM_ONE(start, 0.9f * a[i] + 0.05f)
FROM_ONE(middle, i == 5 && BAD ? 9 : a[i])

TG_KERNEL(part)
{
    TG_FOR(i, tg_arg_numel(ctx, 1)) {
        double a = tg_arg_load(ctx, 0, i);
        tg_arg_store(ctx, 1, i, a * 2);
    }
}
TG_ORCHESTRATION(planted)
{

    struct tg_tensor a = vector(rt), b = vector(rt);
    uint64_t l = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    l = one(rt, MIDDLE, a, b, l, TG_TASK_NONE);
    one(rt, PART, tg_tensor_slice(b, 0, 32, 64, 1), tg_tensor_slice(row_of(args, 0), 0, 0, 32, 1),
        l, TG_TASK_NONE);
}
PLANTED({"start", start, TG_AIV, ONE_IN}, {"middle", middle, TG_AIV, ONE_IN},
        {"part", part, TG_AIV, ONE_IN});
