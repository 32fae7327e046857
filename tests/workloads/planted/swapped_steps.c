/* SPDX-License-Identifier: Apache-2.0 */
/* Two tasks that change a tensor in place are submitted in the wrong order. */
#include "planted.h"

enum { START, PLUS_ONE, TIMES_THREE, FINISH };

FROM_ONE(start, 0.9f * a[i] + 0.05f)
IN_PLACE(plus_one, a[i] + 1)
IN_PLACE(times_three, a[i] * 3)
FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt);
    uint64_t last = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    last = change(rt, BAD ? TIMES_THREE : PLUS_ONE, a, last);
    last = change(rt, BAD ? PLUS_ONE : TIMES_THREE, a, last);
    one(rt, FINISH, a, row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"plus_one", plus_one, TG_AIV, "inout:float32"},
        {"times_three", times_three, TG_AIV, "inout:float32"}, {"finish", finish, TG_AIV, ONE_IN});
