/* SPDX-License-Identifier: Apache-2.0 */
#include "vector_add.h"

/*
 * Turns the arguments of a run into tasks: one per tile. No task waits for another, so all cores
 * can work at once.
 *
 * `args` holds what `prepare` in cases.c declared, in that order. The function can use nothing
 * else, because it runs on the host before launch or on the device while tasks run, depending on
 * the runtime. For the same reason it cannot read elements; it only passes tensors on.
 */
TG_ORCHESTRATION(vector_add)
{
    struct tg_tensor a = args->tensor[0];
    struct tg_tensor b = args->tensor[1];
    struct tg_tensor c = args->tensor[2];
    int64_t tile = (int64_t)args->scalar[0].bits;
    int64_t n = c.shape[0];

    if (tile < 1) {
        tg_fail(rt, "the tile must have at least one element");
        return;
    }
    TG_SCOPE(rt) {
        for (int64_t from = 0; from < n; from += tile) {
            int64_t to = n - from < tile ? n : from + tile; /* the last tile may be shorter */
            struct tg_args task;
            tg_args_init(&task);
            tg_args_in(&task, tg_tensor_slice(a, 0, from, to, 1));
            tg_args_in(&task, tg_tensor_slice(b, 0, from, to, 1));
            tg_args_out(&task, tg_tensor_slice(c, 0, from, to, 1));
            tg_submit(rt, VECTOR_ADD_TILE, &task);
        }
    }
}
