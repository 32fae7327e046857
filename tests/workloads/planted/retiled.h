/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of one kernel fill a tensor in tiles, and the bad graph has tiles of another size. A scene says how
 * many there are and whether the third of the bad graph is wrong, and includes this. */
#ifndef RETILED_H
#define RETILED_H

#include "planted.h"

#ifndef IS_RESULT
#define IS_RESULT 0 /* the tensor is a result of the run, and no task reads it */
#endif

enum { START, SQUARE, FINISH };

FROM_ONE(start, 0.9f * a[i] + 0.05f)
FROM_ONE(square,
         a[i] * a[i] + (BAD && TILE_IS_WRONG && ctx->tensor[0].start == N / 2 && i == 3 ? 1 : 0))
FROM_TWO(finish, a[i] + b[i])

TG_ORCHESTRATION(planted)
{
    struct tg_tensor a = vector(rt), b = IS_RESULT ? row_of(args, 0) : vector(rt);
    uint64_t last = one(rt, START, args->tensor[X], a, TG_TASK_NONE, TG_TASK_NONE);
    int64_t tiles = BAD ? BAD_TILES : GOOD_TILES, part = N / tiles;
    for (int64_t k = 0; k < tiles; k++)
        last = one(rt, SQUARE, tg_tensor_slice(a, 0, k * part, (k + 1) * part, 1),
                   tg_tensor_slice(b, 0, k * part, (k + 1) * part, 1), last, TG_TASK_NONE);
    if (!IS_RESULT)
        two(rt, FINISH, b, args->tensor[Y], row_of(args, 0), last, TG_TASK_NONE);
}

PLANTED({"start", start, TG_AIV, ONE_IN}, {"square", square, TG_AIV, ONE_IN},
        {"finish", finish, TG_AIV, TWO_IN});

#endif
