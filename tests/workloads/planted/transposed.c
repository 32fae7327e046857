/* SPDX-License-Identifier: Apache-2.0 */
/* combine gets its first input, which another task made, transposed. */
#include "planted.h"

enum { START, COMBINE, FINISH };

FROM_ONE(start, 0.9f * a[i] + 0.05f)

TG_KERNEL(combine)
{
    float *c = TG_ARG(ctx, 2, float);
    TG_FOR(i, N)
        c[i] = (float)(tg_arg_load(ctx, 0, i) - tg_arg_load(ctx, 1, i));
}

FROM_ONE(finish, 2 * a[i] - 1)

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt), b = vector(rt), c = vector(rt), square;
    int64_t shape[2] = {8, 8};
    uint64_t first = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    uint64_t second = one(rt, START, args->tensor[Y], b, TG_TASK_NONE, TG_TASK_NONE);
    square = tg_tensor_reshape(a, 2, shape);
    if (BAD)
        square = tg_tensor_transpose(square, 0, 1);
    second = two(rt, COMBINE, square, tg_tensor_reshape(b, 2, shape), c, first, second);
    one(rt, FINISH, c, row_of(args, 0), second, TG_TASK_NONE);
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"combine", combine, TG_AIV, TWO_IN},
        {"finish", finish, TG_AIV, ONE_IN});
