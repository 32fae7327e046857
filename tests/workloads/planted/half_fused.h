/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel does the work of two and leaves one of the two results of the first. A scene says whether it is
 * wrong, and includes this. */
#ifndef HALF_FUSED_H
#define HALF_FUSED_H

#include "two_results.h"

enum { START, SPLIT, MULTIPLY, SPLIT_MULTIPLY, ADD };

FROM_ONE(start, 0.9f * a[i] + 0.05f)
TWO_RESULTS(split_kernel, a[i] + 1, a[i] - 1)
TWO_RESULTS(split_multiply, a[i] + 1,
            (a[i] + 1) * (a[i] - 1) + (BAD && FUSED_IS_WRONG && i == 40 ? 1 : 0))
FROM_TWO(multiply, a[i] * b[i])
FROM_TWO(add, a[i] + b[i])

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt), p = vector(rt), q = vector(rt), r = vector(rt);
    uint64_t last = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    if (BAD) {
        last = split(rt, SPLIT_MULTIPLY, a, p, r, last);
    } else {
        last = split(rt, SPLIT, a, p, q, last);
        last = two(rt, MULTIPLY, p, q, r, last, TG_TASK_NONE);
    }
    two(rt, ADD, p, r, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"split", split_kernel, TG_AIV, TWO_OUT},
        {"multiply", multiply, TG_AIV, TWO_IN}, {"split_multiply", split_multiply, TG_AIV, TWO_OUT},
        {"add", add, TG_AIV, TWO_IN});

#endif
