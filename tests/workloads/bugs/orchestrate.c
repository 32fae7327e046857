/* SPDX-License-Identifier: Apache-2.0 */
#include "bugs.h"

/* Adds the argument that every task has after its tensors: its step. */
TG_FN static uint64_t submit(struct tg_rt *rt, uint32_t kernel, struct tg_args *task, int64_t step)
{
    struct tg_scalar own = task->scalar[0];
    bool has_own = task->n_scalars > 0;
    task->n_scalars = 0;
    tg_args_i64(task, step);
    if (has_own)
        tg_args_bits(task, own.dtype, own.bits);
    return tg_submit(rt, kernel, task);
}

TG_FN static struct tg_tensor square(struct tg_tensor t)
{
    int64_t shape[2];
    shape[0] = shape[1] = SIDE;
    return tg_tensor_reshape(t, 2, shape);
}

TG_FN static void scale_task(struct tg_args *task, struct tg_tensor x, struct tg_tensor a,
                             int64_t step)
{
    int64_t of = step;
#if BUG == BUG_STALE_SCALAR
    if (step == PLANTED)
        of = step - 1;
#endif
    tg_args_init(task);
    tg_args_in(task, x);
    tg_args_out(task, a);
    tg_args_f32(task, 0.25f + (float)of);
}

/* One step; `total_after` is the last task that changed the total. */
TG_FN static uint64_t one_step(struct tg_rt *rt, const struct tg_args *args, int64_t step,
                               uint64_t total_after)
{
    int64_t n = N, two[1];
    struct tg_tensor x = args->tensor[0], total = args->tensor[1];
    struct tg_tensor a = tg_alloc(rt, TG_FLOAT32, 1, &n), b = tg_alloc(rt, TG_FLOAT32, 1, &n);
    struct tg_tensor c = tg_alloc(rt, TG_FLOAT32, 1, &n), both;
    struct tg_tensor q = tg_tensor_index(args->tensor[2], 0, step);
    struct tg_tensor h = tg_tensor_index(args->tensor[3], 0, step);
    uint64_t scaled, windowed, mixed, subtracted, halved, ratioed;
    struct tg_args task;
    two[0] = 2 * N;
    both = tg_alloc(rt, TG_FLOAT32, 1, two); /* r, then d */

    scale_task(&task, x, a, step);
    scaled = submit(rt, SCALE, &task, step);

    tg_args_init(&task);
#if BUG == BUG_MISSING_EDGE
    /* Reads a, which another task may still write, without waiting for it. For runtimes that find
     * edges themselves the tensor is made by hand, from memory that no known task writes. */
    tg_args_in(&task, a);
    tg_args_out(&task, b);
    if (step != PLANTED)
        tg_args_after(&task, scaled);
#else
    tg_args_in(&task, a);
    tg_args_out(&task, b);
    tg_args_after(&task, scaled);
#endif
    windowed = submit(rt, WINDOW, &task, step);

    tg_args_init(&task);
    tg_args_in(&task, tg_tensor_transpose(square(a), 0, 1));
    tg_args_in(&task, square(b));
    tg_args_out(&task, square(c));
    tg_args_after(&task, scaled);
    tg_args_after(&task, windowed);
    mixed = submit(rt, MIX_UP, &task, step);

    tg_args_init(&task);
#if BUG == BUG_SWAPPED
    tg_args_in(&task, step == PLANTED ? a : c);
    tg_args_in(&task, step == PLANTED ? c : a);
#else
    tg_args_in(&task, c);
    tg_args_in(&task, a);
#endif
    tg_args_out(&task, tg_tensor_slice(both, 0, N, 2 * N, 1));
    tg_args_after(&task, mixed);
    tg_args_after(&task, scaled);
    subtracted = submit(rt, SUBTRACT, &task, step);

    tg_args_init(&task);
    tg_args_in(&task, tg_tensor_slice(both, 0, N, 2 * N, 1));
    tg_args_inout(&task, total);
    tg_args_after(&task, subtracted);
    tg_args_after(&task, total_after);
    total_after = submit(rt, ADD_UP, &task, step);

    tg_args_init(&task);
    tg_args_in(&task, tg_tensor_slice(both, 0, N, 2 * N, 1));
    tg_args_out(&task, h);
    tg_args_after(&task, subtracted);
    halved = submit(rt, HALVE, &task, step);

    tg_args_init(&task);
    tg_args_in(&task, tg_tensor_slice(both, 0, N, 2 * N, 1));
    tg_args_in(&task, b);
    tg_args_out(&task, tg_tensor_slice(both, 0, 0, N, 1));
    tg_args_after(&task, subtracted);
    tg_args_after(&task, windowed);
    /* Runs after the other readers of d, so that a stray write meets only the last reader. */
    tg_args_after(&task, total_after);
    tg_args_after(&task, halved);
    ratioed = submit(rt, RATIO, &task, step);

    tg_args_init(&task);
    tg_args_in(&task, tg_tensor_slice(both, 0, N, 2 * N, 1));
    tg_args_in(&task, tg_tensor_slice(both, 0, 0, N, 1));
    tg_args_out(&task, q);
    tg_args_after(&task, ratioed);
    submit(rt, QUANTIZE, &task, step);
    return total_after;
}

TG_ORCHESTRATION(bugs)
{
    uint64_t total_after = TG_TASK_NONE;
    for (int64_t step = 0; step < STEPS; step++)
        TG_SCOPE(rt) {
            total_after = one_step(rt, args, step, total_after);
        }
}
