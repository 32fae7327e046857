/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For every tile x of the input, plain tasks and mixes in turn:
 *
 *   scale        AIV                 s = factor·x
 *   product      AIC + AIV0 + AIV1   y = relu(s·w + bias)
 *   residual     AIC + AIV0          z = y·w + y
 *   row shift          AIV0 + AIV1   out = z - largest of each row
 *   total        AIV                 total += out      in order: tiles share `total`
 */
#include "mix.h"

TG_FN static uint64_t scale(struct tg_rt *rt, struct tg_tensor x, struct tg_tensor s, float factor)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, x);
    tg_args_out(&task, s);
    tg_args_f32(&task, factor);
    return tg_submit(rt, MIX_SCALE, &task);
}

TG_FN static uint64_t product(struct tg_rt *rt, struct tg_tensor s, struct tg_tensor w,
                              struct tg_tensor bias, struct tg_tensor y, uint64_t after)
{
    struct tg_tensor scratch = tg_alloc(rt, TG_FLOAT32, 2, y.shape);
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, s);
    tg_args_in(&task, w);
    tg_args_in(&task, bias);
    tg_args_out(&task, scratch); /* written and read inside the task */
    tg_args_out(&task, y);
    tg_args_after(&task, after);
    return tg_submit_mix(rt, MIX_PRODUCT, MIX_BIAS_RELU, MIX_BIAS_RELU, &task);
}

TG_FN static uint64_t residual(struct tg_rt *rt, struct tg_tensor y, struct tg_tensor w,
                               struct tg_tensor z, uint64_t after)
{
    struct tg_tensor scratch = tg_alloc(rt, TG_FLOAT32, 2, z.shape);
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, y);
    tg_args_in(&task, w);
    tg_args_out(&task, scratch);
    tg_args_out(&task, z);
    tg_args_after(&task, after);
    return tg_submit_mix(rt, MIX_RESIDUAL_PRODUCT, MIX_RESIDUAL_ADD, TG_NO_KERNEL, &task);
}

TG_FN static uint64_t row_shift(struct tg_rt *rt, struct tg_tensor z, struct tg_tensor out,
                                uint64_t after)
{
    int64_t shape[2];
    struct tg_args task;
    shape[0] = 2;
    shape[1] = z.shape[0];
    tg_args_init(&task);
    tg_args_in(&task, z);
    tg_args_out(&task, tg_alloc(rt, TG_FLOAT32, 2, shape));
    tg_args_out(&task, out);
    tg_args_after(&task, after);
    return tg_submit_mix(rt, TG_NO_KERNEL, MIX_ROW_SHIFT, MIX_ROW_SHIFT, &task);
}

/* Waits for the tile, and for the previous task that added to the same total. */
TG_FN static uint64_t add_to(struct tg_rt *rt, struct tg_tensor total, struct tg_tensor out,
                             uint64_t tile, uint64_t previous)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, out);
    tg_args_inout(&task, total);
    tg_args_after(&task, tile);
    tg_args_after(&task, previous);
    return tg_submit(rt, MIX_TOTAL, &task);
}

TG_ORCHESTRATION(mix)
{
    struct tg_tensor x = args->tensor[0]; /* tiles, side, side */
    struct tg_tensor w = args->tensor[1];
    struct tg_tensor bias = args->tensor[2];
    struct tg_tensor out = args->tensor[3];
    struct tg_tensor total = args->tensor[4];
    float factor = (float)(int64_t)args->scalar[0].bits;
    uint64_t previous = TG_TASK_NONE;

    for (int64_t i = 0; i < x.shape[0]; i++) {
        TG_SCOPE(rt) {
            struct tg_tensor s = tg_alloc(rt, TG_FLOAT32, 2, w.shape);
            struct tg_tensor y = tg_alloc(rt, TG_FLOAT32, 2, w.shape);
            struct tg_tensor z = tg_alloc(rt, TG_FLOAT32, 2, w.shape);
            struct tg_tensor o = tg_tensor_index(out, 0, i);
            uint64_t task = scale(rt, tg_tensor_index(x, 0, i), s, factor);
            task = product(rt, s, w, bias, y, task);
            task = residual(rt, y, w, z, task);
            task = row_shift(rt, z, o, task);
            previous = add_to(rt, total, o, task, previous);
        }
    }
}
