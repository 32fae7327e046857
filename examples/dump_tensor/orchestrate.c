/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One task for each thing that a recording can show:
 *
 *   task  kernels                what it does                                      marked
 *    0    add                    sum = a + b                                       sum
 *    1    add_scalar             total += step, in place
 *    2    accumulate             total += sum                                      total
 *    3    add                    even rows of pairs = even + odd columns of matrix
 *    4    copy                   odd rows of pairs = one row, repeated by stride 0
 *    5    transpose (AIC)        turned = matrix, transposed
 *    6    scalars                bits[0] = ordinary scalars of all types           scalars 1, 15
 *    7    scalars                bits[1] = NaN, infinities, limits                 the task
 *    8    copy                   narrow = nibbles[1:]: int4 from an odd nibble     nibbles
 *    9    copy                   nibbles[1:] = narrow backwards                    both
 *   10    copy                   wide[0] = narrow
 *   11    copy                   thirds = codes[1::3]: float4 with a stride
 *   12    copy                   wide[1, :-1] = codes[:-2]: ends in the middle of a byte
 *   13    scale + fold + fold    a mix: mixed = folded a                           the task
 *   14    copy                   nothing: no rows to no rows
 *   15    copy                   count = point: no dimensions, one element
 *   16    copy                   turned_cube = cube with its 8 dimensions reversed
 *
 * Marks decide what the levels `marked` and `hybrid` keep.
 */
#include "dump_tensor.h"

TG_APART TG_FN static uint64_t copy(struct tg_rt *rt, uint32_t kernel, struct tg_tensor in,
                                    struct tg_tensor out, uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, in);
    tg_args_out(&task, out);
    tg_args_after(&task, after);
    return tg_submit(rt, kernel, &task);
}

/* Tasks 0 to 2: the plain ones. */
TG_APART TG_FN static void add_up(struct tg_rt *rt, const struct tg_args *args)
{
    struct tg_tensor total = args->tensor[ARG_TOTAL];
    struct tg_tensor sum = tg_alloc(rt, TG_FLOAT32, 1, total.shape);
    struct tg_args add, step, accumulate;

    tg_args_init(&add);
    tg_args_in(&add, args->tensor[ARG_A]);
    tg_args_in(&add, args->tensor[ARG_B]);
    tg_args_out(&add, sum);
    tg_args_mark_tensor(&add, 2);

    tg_args_init(&step);
    tg_args_inout(&step, total);
    tg_args_f32(&step, (float)tg_args_get_real(args, 0));

    tg_args_init(&accumulate);
    tg_args_in(&accumulate, sum);
    tg_args_inout(&accumulate, total);
    tg_args_mark_tensor(&accumulate, 1);
    tg_args_after(&accumulate, tg_submit(rt, DUMP_ADD, &add));
    tg_args_after(&accumulate, tg_submit(rt, DUMP_ADD_SCALAR, &step));
    tg_submit(rt, DUMP_ACCUMULATE, &accumulate);
}

/* Tasks 3 to 5: views whose strides differ from those of a whole tensor. */
TG_APART TG_FN static void take_views(struct tg_rt *rt, struct tg_tensor matrix,
                                      struct tg_tensor pairs, struct tg_tensor turned)
{
    int64_t rows = pairs.shape[0], cols = matrix.shape[1];
    struct tg_tensor even = tg_tensor_slice(matrix, 1, 0, cols, 2);
    struct tg_tensor odd = tg_tensor_slice(matrix, 1, 1, cols, 2);
    struct tg_tensor first = tg_tensor_slice(even, 0, 0, 1, 1);
    struct tg_args add;

    tg_args_init(&add);
    tg_args_in(&add, even);
    tg_args_in(&add, odd);
    tg_args_out(&add, tg_tensor_slice(pairs, 0, 0, rows, 2));
    tg_submit(rt, DUMP_ADD, &add);
    copy(rt, DUMP_COPY, tg_tensor_broadcast(first, 0, rows / 2),
         tg_tensor_slice(pairs, 0, 1, rows, 2), TG_TASK_NONE);
    copy(rt, DUMP_TRANSPOSE, tg_tensor_transpose(matrix, 0, 1), turned, TG_TASK_NONE);
}

/* Tasks 6 and 7. */
TG_APART TG_FN static void pass_scalars(struct tg_rt *rt, struct tg_tensor bits, int set)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_out(&task, tg_tensor_index(bits, 0, set));
    for (int i = 0; i < TYPED_SCALARS; i++) {
        struct tg_scalar scalar = typed_scalar(set, i);
        tg_args_bits(&task, scalar.dtype, scalar.bits);
    }
    if (set == SPECIAL) {
        tg_args_mark_task(&task);
    } else {
        tg_args_mark_scalar(&task, 1);
        tg_args_mark_scalar(&task, TYPED_SCALARS - 1);
    }
    tg_submit(rt, DUMP_SCALARS, &task);
}

/* Tasks 8 to 12: views that begin or end in the middle of a byte. */
TG_APART TG_FN static void take_nibbles(struct tg_rt *rt, struct tg_tensor nibbles,
                                        struct tg_tensor codes, struct tg_tensor wide)
{
    int64_t n = nibbles.shape[0];
    struct tg_tensor odd = tg_tensor_slice(nibbles, 0, 1, n, 1);
    struct tg_tensor third = tg_tensor_slice(codes, 0, 1, n, 3);
    struct tg_tensor narrow = tg_alloc(rt, TG_INT8, 1, odd.shape);
    struct tg_args widen, back;
    uint64_t widened;

    tg_args_init(&widen);
    tg_args_in(&widen, odd);
    tg_args_out(&widen, narrow);
    tg_args_mark_tensor(&widen, 0);
    widened = tg_submit(rt, DUMP_COPY, &widen);

    tg_args_init(&back);
    tg_args_in(&back, tg_tensor_flip(narrow, 0));
    tg_args_out(&back, odd);
    tg_args_mark_tensor(&back, 0);
    tg_args_mark_tensor(&back, 1);
    tg_args_after(&back, widened);
    tg_submit(rt, DUMP_COPY, &back);

    copy(rt, DUMP_COPY, narrow, tg_tensor_index(wide, 0, 0), widened);
    copy(rt, DUMP_COPY, third, tg_alloc(rt, TG_FLOAT4_E2M1FN, 1, third.shape), TG_TASK_NONE);
    copy(rt, DUMP_COPY, tg_tensor_slice(codes, 0, 0, n - 2, 1),
         tg_tensor_slice(tg_tensor_index(wide, 0, 1), 0, 0, n - 2, 1), TG_TASK_NONE);
}

/* Task 13. */
TG_APART TG_FN static void fold(struct tg_rt *rt, struct tg_tensor a, struct tg_tensor mixed)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, a);
    tg_args_out(&task, tg_alloc(rt, TG_FLOAT32, 1, a.shape));
    tg_args_out(&task, mixed);
    tg_args_f64(&task, 2);
    tg_args_f32(&task, -0.0f);
    tg_args_mark_task(&task);
    tg_submit_mix(rt, DUMP_SCALE, DUMP_FOLD, DUMP_FOLD, &task);
}

TG_ORCHESTRATION(dump_tensor)
{
    const struct tg_tensor *t = args->tensor;
    struct tg_tensor cube = t[ARG_CUBE];

    TG_SCOPE(rt) {
        add_up(rt, args);
    }
    TG_SCOPE(rt) {
        take_views(rt, t[ARG_MATRIX], t[ARG_PAIRS], t[ARG_TURNED]);
        pass_scalars(rt, t[ARG_BITS], ORDINARY);
        pass_scalars(rt, t[ARG_BITS], SPECIAL);
        take_nibbles(rt, t[ARG_NIBBLES], t[ARG_CODES], t[ARG_WIDE]);
    }
    TG_SCOPE(rt) {
        fold(rt, t[ARG_A], t[ARG_MIXED]);
        copy(rt, DUMP_COPY, t[ARG_EMPTY], tg_tensor_slice(t[ARG_PAIRS], 0, 3, 3, 1), TG_TASK_NONE);
        copy(rt, DUMP_COPY, t[ARG_POINT], t[ARG_COUNT], TG_TASK_NONE);
        for (int i = 0; i < cube.ndim / 2; i++)
            cube = tg_tensor_transpose(cube, i, cube.ndim - 1 - i);
        copy(rt, DUMP_COPY, cube, t[ARG_TURNED_CUBE], TG_TASK_NONE);
    }
}
