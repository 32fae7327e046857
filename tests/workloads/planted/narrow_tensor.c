/* SPDX-License-Identifier: Apache-2.0 */
/* An intermediate tensor is float16 instead of float32. */
#include "planted.h"

enum { START, MAGNIFY };

TG_KERNEL(start)
{
    TG_FOR(i, N)
        tg_arg_store(ctx, 1, i, tg_arg_load(ctx, 0, i) * 0.9 + 0.05);
}

TG_KERNEL(magnify)
{
    TG_FOR(i, N)
        tg_arg_store(ctx, 1, i, tg_arg_load(ctx, 0, i) * 100);
}

TG_ORCHESTRATION(planted)
{
    int64_t n = N;
    struct tg_tensor a = tg_alloc(rt, BAD ? TG_FLOAT16 : TG_FLOAT32, 1, &n);
    uint64_t last = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    one(rt, MAGNIFY, a, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"start", start, TG_AIV, BAD ? "in:float32 out:float16" : "in:float32 out:float32"},
        {"magnify", magnify, TG_AIV, BAD ? "in:float16 out:float32" : "in:float32 out:float32"});
