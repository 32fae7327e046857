/* SPDX-License-Identifier: Apache-2.0 */
#include "mistakes.h"

TG_FN static struct tg_tensor row(struct tg_tensor rows, int64_t i, int64_t n)
{
    return tg_tensor_slice(tg_tensor_index(rows, 0, i), 0, 0, n, 1);
}

/* Arguments: x[n + 2], y[n]; scalars: steps. */
TG_ORCHESTRATION(mistakes)
{
    struct tg_tensor y = args->tensor[1];
    int64_t n = y.shape[0], steps = (int64_t)args->scalar[0].bits;
    int64_t shape[2];
    shape[0] = steps;
    shape[1] = n + HIDDEN;
    struct tg_tensor rows = tg_alloc(rt, TG_FLOAT32, 2, shape);
    struct tg_tensor last = tg_tensor_slice(args->tensor[0], 0, 0, n, 1);
    uint64_t before = TG_TASK_NONE;
    struct tg_args task;

    for (int64_t i = 0; i < steps; i++) {
        tg_args_init(&task);
        tg_args_in(&task, last);
        last = row(rows, i, n);
        tg_args_out(&task, last);
        tg_args_i64(&task, i);
        tg_args_after(&task, before);
        before = tg_submit(rt, MISTAKES_STEP, &task);
    }
    tg_args_init(&task);
    tg_args_in(&task, row(rows, 0, n));
    tg_args_in(&task, last);
    tg_args_out(&task, y);
    tg_args_after(&task, before);
    tg_submit(rt, MISTAKES_JOIN, &task);
}
