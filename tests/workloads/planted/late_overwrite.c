/* SPDX-License-Identifier: Apache-2.0 */
/* The bad graph has a task that overwrites a result. */
#include "planted.h"

enum { START, FINISH, JUNK };
FROM_ONE(start, 0.9f * a[i] + 0.05f)
FROM_ONE(finish, 2 * a[i] - 1)
FROM_ONE(junk, 7 * a[i])
TG_ORCHESTRATION(planted)
{

    struct tg_tensor a = vector(rt);
    uint64_t l = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    l = one(rt, FINISH, a, row_of(args, 0), l, TG_TASK_NONE);
    if (BAD)
        one(rt, JUNK, args->tensor[Y], row_of(args, 0), l, TG_TASK_NONE);
}
PLANTED({"start", start, TG_AIV, ONE_IN}, {"finish", finish, TG_AIV, ONE_IN},
        {"junk", junk, TG_AIV, ONE_IN});
