/* SPDX-License-Identifier: Apache-2.0 */
/* A task writes the right values in the wrong order: its output is flipped, and another, transposed. */
#include "planted.h"

enum { TRIPLE, SUM, COPY };
TG_KERNEL(triple)
{
    TG_FOR(i, tg_arg_numel(ctx, 1))
        tg_arg_store(ctx, 1, i, 3 * tg_arg_load(ctx, 0, i));
}
FROM_TWO(sum, a[i] + b[i])
FROM_ONE(copy, 0.5f * a[i])

TG_ORCHESTRATION(planted)
{
    int64_t square[2] = {8, N / 8};
    struct tg_tensor a = vector(rt), b = tg_alloc(rt, TG_FLOAT32, 2, square);
    uint64_t flipped = one(rt, TRIPLE, args->tensor[X], BAD ? tg_tensor_flip(a, 0) : a,
                           TG_TASK_NONE, TG_TASK_NONE);
    two(rt, SUM, a, args->tensor[Y], row_of(args, 0), flipped, TG_TASK_NONE);
    uint64_t turned = one(rt, TRIPLE, tg_tensor_reshape(args->tensor[Y], 2, square),
                          BAD ? tg_tensor_transpose(b, 0, 1) : b, TG_TASK_NONE, TG_TASK_NONE);
    one(rt, COPY, b, tg_tensor_reshape(row_of(args, 1), 2, square), turned, TG_TASK_NONE);
}
PLANTED({"triple", triple, TG_AIV, ONE_IN}, {"sum", sum, TG_AIV, TWO_IN},
        {"copy", copy, TG_AIV, ONE_IN});
