/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel has another name in the bad graph; a scene says whether it is wrong, too, and includes this. */
#ifndef RENAMED_H
#define RENAMED_H

#include "planted.h"

#if BAD
#define RENAMED "_v2"
#else
#define RENAMED ""
#endif
enum { START, MIDDLE, FINISH };

FROM_ONE(start, 0.9f * a[i] + 0.05f)
FROM_ONE(middle, a[i] * a[i] + (BAD && MIDDLE_IS_WRONG && i == 5 ? 0.75f : 0.25f))
FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt), b = vector(rt);
    uint64_t last = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    last = one(rt, MIDDLE, a, b, last, TG_TASK_NONE);
    one(rt, FINISH, b, row_of(args, 0), last, TG_TASK_NONE);
    one(rt, FINISH, a, row_of(args, 1), last, TG_TASK_NONE);
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"middle" RENAMED, middle, TG_AIV, ONE_IN},
        {"finish", finish, TG_AIV, ONE_IN});

#endif
