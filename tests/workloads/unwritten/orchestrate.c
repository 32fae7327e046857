/* SPDX-License-Identifier: Apache-2.0 */
#include "unwritten.h"

/* Submits a task from x to y that waits for `after` (TG_TASK_NONE: nothing). */
TG_FN static uint64_t step(struct tg_rt *rt, uint32_t kernel, struct tg_tensor x,
                           struct tg_tensor y, uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, x);
    tg_args_out(&task, y);
    if (after != TG_TASK_NONE)
        tg_args_after(&task, after);
    return tg_submit(rt, kernel, &task);
}

TG_FN static uint64_t ramp_from(struct tg_rt *rt, struct tg_tensor y, float first)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_out(&task, y);
    tg_args_f32(&task, first);
    return tg_submit(rt, RAMP, &task);
}

/* Two scopes, so that the second gets the memory of the first where the device has a ring heap that
 * is no larger than one tensor. `last` is what runs in the second. */
TG_FN static void reuse(struct tg_rt *rt, const struct tg_args *args, uint32_t last)
{
    int64_t n = N;
    uint64_t before = TG_TASK_NONE;
    TG_SCOPE(rt) {
        struct tg_tensor t = tg_alloc(rt, TG_FLOAT32, 1, &n);
        before = step(rt, COPY, t, args->tensor[2], ramp_from(rt, t, 1));
    }
    TG_SCOPE(rt) {
        struct tg_tensor t = tg_alloc(rt, TG_FLOAT32, 1, &n);
        before = step(rt, last, args->tensor[0], t, before);
        step(rt, COPY, t, args->tensor[1], before);
    }
}

/* One output of each type, all of them unwritten. */
TG_FN static void types(struct tg_rt *rt, const struct tg_args *args)
{
    for (unsigned dtype = 1; dtype < TG_DTYPE_END; dtype++) {
        int64_t shape[2];
        struct tg_tensor t;
        shape[0] = 9;
        shape[1] = 8;
        t = tg_alloc(rt, dtype, 2, shape);
        step(rt, NOTHING, args->tensor[0], t, TG_TASK_NONE);
        /* A view with gaps between its elements, which the recorder gathers. */
        t = tg_alloc(rt, dtype, 2, shape);
        step(rt, NOTHING, args->tensor[0], tg_tensor_transpose(t, 0, 1), TG_TASK_NONE);
    }
}

TG_FN static void no_elements(struct tg_rt *rt, const struct tg_args *args)
{
    int64_t none = 0;
    struct tg_tensor x = tg_alloc(rt, TG_FLOAT32, 1, &none);
    step(rt, FORGETFUL, x, tg_alloc(rt, TG_FLOAT32, 1, &none), TG_TASK_NONE);
    step(rt, RIGHT_ZEROS, args->tensor[0], args->tensor[1], TG_TASK_NONE);
    ramp_from(rt, args->tensor[2], 1);
}

TG_ORCHESTRATION(unwritten)
{
    struct tg_tensor x = args->tensor[0], y = args->tensor[1], z = args->tensor[2];
    switch (tg_args_get_i64(args, 0)) {
    case ON_PURPOSE:
        step(rt, ZEROS, x, y, TG_TASK_NONE);
        ramp_from(rt, z, 1);
        break;
    case NEW_TAIL:
        step(rt, TAIL, x, y, TG_TASK_NONE);
        ramp_from(rt, z, 1);
        break;
    case NEW_NOTHING:
        step(rt, NOTHING, x, y, TG_TASK_NONE);
        ramp_from(rt, z, 1);
        break;
    case TWICE:
        step(rt, DOUBLED, x, y, step(rt, DOUBLED, x, y, TG_TASK_NONE));
        ramp_from(rt, z, 1);
        break;
    case REUSED:
        reuse(rt, args, NOTHING);
        break;
    case REUSED_TAIL:
        reuse(rt, args, TAIL);
        break;
    case PASSED_ON:
        step(rt, COPY, y, z, step(rt, NOTHING, x, y, TG_TASK_NONE));
        break;
    case TYPES:
        types(rt, args);
        break;
    case NO_ELEMENTS:
        no_elements(rt, args);
        break;
    default:
        step(rt, RIGHT_ZEROS, x, y, TG_TASK_NONE);
        step(rt, FORGETFUL, x, z, TG_TASK_NONE);
    }
}
