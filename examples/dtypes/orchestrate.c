/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For each typed tensor x of the case, with `numbers` as float32:
 *
 *   cast    values[x] = x                 as float64, before x changes
 *   twice   x = 2·x                       in place
 *   cast    tmp = numbers                 rounded to x's type
 *   cast    back[x] = tmp                 and back again, as float64
 *
 * and one task that gets every scalar of the run.
 */
#include "dtypes.h"

TG_FN static uint64_t cast(struct tg_rt *rt, struct tg_tensor in, struct tg_tensor out,
                           uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, in);
    tg_args_out(&task, out);
    tg_args_after(&task, after);
    return tg_submit(rt, DTYPES_CAST, &task);
}

TG_FN static uint64_t twice(struct tg_rt *rt, struct tg_tensor x, uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_inout(&task, x);
    tg_args_after(&task, after);
    return tg_submit(rt, DTYPES_TWICE, &task);
}

TG_ORCHESTRATION(dtypes)
{
    struct tg_tensor numbers = args->tensor[ARG_NUMBERS];
    struct tg_args all;

    for (int i = ARG_FIRST_TYPED; i < args->n_tensors; i++) {
        TG_SCOPE(rt) {
            struct tg_tensor x = args->tensor[i];
            struct tg_tensor tmp = tg_alloc(rt, x.dtype, 1, numbers.shape);
            int64_t row = i - ARG_FIRST_TYPED;
            uint64_t task;
            task = cast(rt, x, tg_tensor_index(args->tensor[ARG_VALUES], 0, row), TG_TASK_NONE);
            twice(rt, x, task);
            task = cast(rt, numbers, tmp, TG_TASK_NONE);
            cast(rt, tmp, tg_tensor_index(args->tensor[ARG_BACK], 0, row), task);
        }
    }
    tg_args_init(&all);
    tg_args_out(&all, args->tensor[ARG_SCALAR_BITS]);
    tg_args_out(&all, args->tensor[ARG_SCALAR_VALUES]);
    for (int i = 0; i < args->n_scalars; i++)
        tg_args_bits(&all, args->scalar[i].dtype, args->scalar[i].bits);
    tg_submit(rt, DTYPES_SCALARS, &all);
}
