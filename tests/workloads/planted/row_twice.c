/* SPDX-License-Identifier: Apache-2.0 */
/* The task of row 3 writes to row 2 of a tensor, after the task of row 2, and row 3 keeps its zeros. */
#include "planted.h"

enum { CLEAR, MORE, PART, ALL };
IN_PLACE(clear, 0)
IN_PLACE(more, a[i] + 1)
FROM_ONE(part, 3 * a[i])
FROM_ONE(all, 0.5f * a[i])

TG_ORCHESTRATION(planted)
{
    int64_t shape[2] = {ROWS, N};
    struct tg_tensor rows = tg_alloc(rt, TG_FLOAT32, 2, shape), x = vector(rt);
    struct tg_args task;
    tg_args_init(&task);
    tg_args_out(&task, rows);
    uint64_t last = tg_submit(rt, CLEAR, &task);
    last = one(rt, PART, args->tensor[X], x, last, TG_TASK_NONE);
    for (int64_t i = 0; i < ROWS; i++) {
        last = change(rt, MORE, x, last);
        last =
            one(rt, PART, x, tg_tensor_index(rows, 0, BAD && i == 3 ? 2 : i), last, TG_TASK_NONE);
    }
    one(rt, ALL, rows, args->tensor[OUT], last, TG_TASK_NONE);
}
PLANTED({"clear", clear, TG_AIV, "out:float32"}, {"more", more, TG_AIV, "inout:float32"},
        {"part", part, TG_AIV, ONE_IN}, {"all", all, TG_AIV, ONE_IN});
