/* SPDX-License-Identifier: Apache-2.0 */
/* Both variants are right. The first task of each scope changes memory in place that nobody has written
 * yet, and uses nothing of what it finds there. */
#include "planted.h"

enum { START, MORE, COPY };
IN_PLACE(start, (float)i)
IN_PLACE(more, a[i] + 1)
FROM_ONE(copy, 0.5f * a[i])

TG_ORCHESTRATION(planted)
{
    uint64_t last = TG_TASK_NONE;
    for (int64_t i = 0; i < 4; i++)
        TG_SCOPE(rt) {
            struct tg_tensor a = vector(rt);
            last = change(rt, START, a, last);
            for (int64_t k = 0; k < i; k++)
                last = change(rt, MORE, a, last);
            last = one(rt, COPY, a, row_of(args, i), last, TG_TASK_NONE);
        }
}
PLANTED({"start", start, TG_AIV, "inout:float32"}, {"more", more, TG_AIV, "inout:float32"},
        {"copy", copy, TG_AIV, ONE_IN});
