/* SPDX-License-Identifier: Apache-2.0 */
/* The orchestration submits another kernel for one of the tasks. */
#include "planted.h"

enum { START, PLUS, MINUS, FINISH };

FROM_ONE(start, 0.9f * a[i] + 0.05f)
FROM_TWO(plus, a[i] + b[i])
FROM_TWO(minus, a[i] - b[i])
FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt), b = vector(rt), c = vector(rt);
    uint64_t last = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    last = two(rt, PLUS, a, args->tensor[Y], b, last, TG_TASK_NONE);
    last = two(rt, BAD ? PLUS : MINUS, b, args->tensor[X], c, last, TG_TASK_NONE);
    last = two(rt, MINUS, c, a, row_of(args, 1), last, TG_TASK_NONE);
    one(rt, FINISH, c, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"plus", plus, TG_AIV, TWO_IN},
        {"minus", minus, TG_AIV, TWO_IN}, {"finish", finish, TG_AIV, ONE_IN});
