/* SPDX-License-Identifier: Apache-2.0 */
/* The same computation, written anew: another order, another name and a fused kernel. Nothing is
 * wrong. */
#include "planted.h"

enum { START, SQUARE, MINUS_ONE, SQUARE_MINUS_ONE, JOIN };

FROM_ONE(start, 0.9f * a[i] + 0.05f)
FROM_ONE(square, a[i] * a[i])
FROM_ONE(minus_one, a[i] - 1)
FROM_ONE(square_minus_one, a[i] * a[i] - 1)
FROM_TWO(join, a[i] + b[i])

#if BAD
#define NEW "_anew"
#else
#define NEW ""
#endif

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt), b = vector(rt), s = vector(rt), t = vector(rt), u = vector(rt);
    uint64_t p, q;
    if (BAD) {
        q = one(rt, START, args->tensor[Y], b, TG_TASK_NONE, TG_TASK_NONE);
        p = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
        q = one(rt, SQUARE, b, u, q, TG_TASK_NONE);
        p = one(rt, SQUARE_MINUS_ONE, a, t, p, TG_TASK_NONE);
    } else {
        p = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
        p = one(rt, SQUARE, a, s, p, TG_TASK_NONE);
        p = one(rt, MINUS_ONE, s, t, p, TG_TASK_NONE);
        q = one(rt, START, args->tensor[Y], b, TG_TASK_NONE, TG_TASK_NONE);
        q = one(rt, SQUARE, b, u, q, TG_TASK_NONE);
    }
    two(rt, JOIN, t, u, row_of(args, 0), p, q);
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"square", square, TG_AIV, ONE_IN},
        {"minus_one", minus_one, TG_AIV, ONE_IN},
        {"square_minus_one", square_minus_one, TG_AIV, ONE_IN},
        {"join" NEW "", join, TG_AIV, TWO_IN});
