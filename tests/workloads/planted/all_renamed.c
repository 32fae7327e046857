/* SPDX-License-Identifier: Apache-2.0 */
/* All kernels have other names: nothing is wrong. */
#include "planted.h"

enum { START, MIDDLE, FINISH };
#if BAD
#define P "_new"
#else
#define P ""
#endif
FROM_ONE(start, 0.9f * a[i] + 0.05f)
FROM_ONE(middle, a[i] * a[i])
FROM_ONE(finish, 2 * a[i] - 1)
TG_ORCHESTRATION(planted)
{

    for (int s = 0; s < 3; s++) {
        struct tg_tensor a = vector(rt), b = vector(rt);
        uint64_t l = one(rt, START, s % 2 ? args->tensor[X] : args->tensor[Y], a, TG_TASK_NONE,
                         TG_TASK_NONE);
        l = one(rt, MIDDLE, a, b, l, TG_TASK_NONE);
        one(rt, FINISH, b, row_of(args, s), l, TG_TASK_NONE);
    }
}
PLANTED({"start" P "", start, TG_AIV, ONE_IN}, {"middle" P "", middle, TG_AIV, ONE_IN},
        {"finish" P "", finish, TG_AIV, ONE_IN});
