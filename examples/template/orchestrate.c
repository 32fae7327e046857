/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the arguments of a run into tasks: y = factor * x + b, two tasks for each tile. It runs on the host
 * before launch or on the device while tasks run, depending on the runtime, and follows the rules of
 * kernels.
 */
#include "kernels.h"

/* `args` has what `prepare` in cases.c declares, in that order. */
TG_ORCHESTRATION(workload_name_graph)
{
    struct tg_tensor x = args->tensor[0], b = args->tensor[1], y = args->tensor[2];
    int64_t tile = tg_args_get_i64(args, 0);
    float factor = (float)tg_args_get_real(args, 1);
    int64_t n = y.shape[0];

    for (int64_t from = 0; from < n; from += tile) {
        int64_t to = n - from < tile ? n : from + tile; /* the last tile may be shorter */
        int64_t length = to - from;
        TG_SCOPE(rt) { /* t is freed when the tasks of the scope have finished */
            struct tg_tensor t = tg_alloc(rt, TG_FLOAT32, 1, &length);
            struct tg_args scale, add;

            tg_args_init(&scale);
            tg_args_in(&scale, tg_tensor_slice(x, 0, from, to, 1));
            tg_args_out(&scale, t);
            tg_args_f32(&scale, factor);
            uint64_t scaled = tg_submit(rt, WORKLOAD_NAME_SCALE, &scale);

            tg_args_init(&add);
            tg_args_in(&add, t);
            tg_args_in(&add, tg_tensor_slice(b, 0, from, to, 1));
            tg_args_out(&add, tg_tensor_slice(y, 0, from, to, 1));
            tg_args_after(&add, scaled);
            tg_submit(rt, WORKLOAD_NAME_ADD, &add);
        }
    }
}
