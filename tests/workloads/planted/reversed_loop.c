/* SPDX-License-Identifier: Apache-2.0 */
/* Independent rows are computed from the last to the first: nothing is wrong. */
#include "planted.h"

enum { START, SQUARE };

FROM_ONE(start, 0.9f * a[i] + 0.05f)
FROM_ONE(square, a[i] * a[i])

TG_ORCHESTRATION(planted)
{
    for (int k = 0; k < ROWS; k++) {
        int64_t row = BAD ? ROWS - 1 - k : k;
        struct tg_tensor a = vector(rt);
        uint64_t last = one(rt, START, row % 2 ? args->tensor[X] : args->tensor[Y], a, TG_TASK_NONE,
                            TG_TASK_NONE);
        one(rt, SQUARE, a, row_of(args, row), last, TG_TASK_NONE);
    }
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"square", square, TG_AIV, ONE_IN});
