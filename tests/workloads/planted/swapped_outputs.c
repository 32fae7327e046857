/* SPDX-License-Identifier: Apache-2.0 */
/* Another kernel writes its two results in the other order, and the tasks after it
 * know: nothing is wrong. */
#include "two_results.h"

enum { START, SPLIT, SPLIT_BACK, FINISH, MULTIPLY };

FROM_ONE(start, 0.9f * a[i] + 0.05f)
TWO_RESULTS(split_kernel, a[i] + 1, a[i] - 1)
TWO_RESULTS(split_back, a[i] - 1, a[i] + 1)
FROM_ONE(finish, 2 * a[i] - 1)
FROM_TWO(multiply, a[i] * b[i])

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt), p = vector(rt), q = vector(rt);
    uint64_t last = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    last = BAD ? split(rt, SPLIT_BACK, a, q, p, last) : split(rt, SPLIT, a, p, q, last);
    one(rt, FINISH, p, row_of(args, 0), last, TG_TASK_NONE);
    two(rt, MULTIPLY, q, args->tensor[Y], row_of(args, 1), last, TG_TASK_NONE);
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"split", split_kernel, TG_AIV, TWO_OUT},
        {"split_back", split_back, TG_AIV, TWO_OUT}, {"finish", finish, TG_AIV, ONE_IN},
        {"multiply", multiply, TG_AIV, TWO_IN});
