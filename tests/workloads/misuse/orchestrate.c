/* SPDX-License-Identifier: Apache-2.0 */
#include "misuse.h"

/* A part of the arena as the task sees it. `gap` is what lies between its elements. */
struct part {
    struct tg_tensor view, gap;
    int64_t end; /* of the part, in bytes */
};

/* The bytes from `begin` to `end` of the arena. */
TG_FN static struct tg_tensor piece(struct tg_tensor arena, int64_t begin, int64_t end)
{
    int64_t bits = tg_bits_of(arena.dtype);
    return tg_tensor_slice(arena, 0, begin * 8 / bits, end * 8 / bits, 1);
}

/* The first n elements of the arena from byte `begin` on, each `step`-th. */
TG_FN static struct part strip(struct tg_tensor arena, int64_t begin, int64_t n, int64_t step)
{
    struct part part;
    int64_t bits = tg_bits_of(arena.dtype), first = begin * 8 / bits;
    int64_t end = first + (n > 0 ? (n - 1) * step + 1 : 0);
    part.view = tg_tensor_slice(arena, 0, first, end, step);
    part.gap = step > 1 ? tg_tensor_slice(arena, 0, first + 1, end, step) : tg_tensor_none();
    part.end = (end * bits + 7) / 8;
    return part;
}

TG_FN static struct part tile(struct tg_tensor arena, int64_t begin)
{
    struct part part;
    int64_t shape[2];
    struct tg_tensor matrix;
    shape[0] = ARENA / 4 / WIDTH;
    shape[1] = WIDTH;
    matrix = tg_tensor_reshape(arena, 2, shape);
    part.view = tg_tensor_tile(matrix, begin / 4 / WIDTH, ROWS, 0, COLUMNS);
    part.gap = tg_tensor_tile(matrix, begin / 4 / WIDTH, ROWS - 1, COLUMNS, 1);
    part.end = begin + ((ROWS - 1) * WIDTH + COLUMNS) * 4;
    return part;
}

TG_FN static unsigned dtype_of(int layout)
{
    if (layout == BYTES)
        return TG_INT8;
    return layout == NIBBLES || layout == HALF_BYTE ? TG_INT4 : TG_FLOAT32;
}

TG_FN static int64_t elements_of(int layout)
{
    if (layout == EMPTY)
        return 0;
    return layout == BYTES || layout == HALF_BYTE ? ODD : N;
}

TG_FN static struct part output_of(struct tg_tensor arena, int layout)
{
    struct part out;
    if (layout == TILES)
        return tile(arena, AT_OUT);
    if (layout == PEELED)
        return strip(arena, AT_OUT + 12, N - 1, 1);
    out = strip(arena, AT_OUT, elements_of(layout), layout == STRIDED ? 2 : 1);
    if (layout == FLIPPED)
        out.view = tg_tensor_flip(out.view, 0);
    return out;
}

/* Where the memory of the task begins that has its output. */
TG_FN static int64_t left_end(int layout)
{
    if (layout == OVERLAP)
        return AT_OUT - N / 2 * 4;
    if (layout == SHIFTED)
        return AT_OUT - 2 * 4;
    return layout == PEELED ? AT_OUT + 12 : AT_OUT;
}

/* True if the input has bytes of the output. */
TG_FN static bool shares(int layout)
{
    return layout == SAME || layout == OVERLAP || layout == SHIFTED;
}

TG_FN static struct part input_of(struct tg_tensor arena, int layout)
{
    struct part in;
    if (layout == TILES)
        return tile(arena, AT_IN);
    if (layout == PEELED)
        return strip(arena, AT_IN + 12, N, 1);
    if (layout == SAME)
        return strip(arena, AT_OUT, N, 1);
    if (layout == OVERLAP || layout == SHIFTED)
        return strip(arena, left_end(layout), N, 1);
    if (layout == BROADCAST) {
        in = strip(arena, AT_IN, 1, 1);
        in.view = tg_tensor_broadcast(in.view, 0, N);
        return in;
    }
    return strip(arena, AT_IN, elements_of(layout), layout == STRIDED ? 2 : 1);
}

/* The arguments of the task that the case is about. */
struct scene {
    struct tg_tensor arena, out, in, out_gap, in_gap, also;
    int64_t out_end, in_end;
    int layout;
};

TG_FN static void set_up(struct tg_rt *rt, struct scene *scene, int layout)
{
    int64_t n = (int64_t)ARENA * 8 / tg_bits_of(dtype_of(layout));
    struct part out, in;
    scene->layout = layout;
    scene->arena = tg_alloc(rt, dtype_of(layout), 1, &n);
    out = output_of(scene->arena, layout);
    in = input_of(scene->arena, layout);
    scene->out = out.view;
    scene->in = in.view;
    scene->out_gap = out.gap;
    scene->in_gap = in.gap;
    scene->out_end = out.end;
    scene->in_end = shares(layout) ? AT_IN : in.end;
    if (layout == TWO_OUT) {
        scene->also = strip(scene->arena, out.end, N, 1).view;
        scene->out_end += N * 4;
    } else if (layout == TWO_IN) {
        scene->also = strip(scene->arena, in.end, N, 1).view;
        scene->in_end += N * 4;
    }
}

/* A look at everything that no task writes. */
TG_FN static uint64_t look_at(struct tg_rt *rt, const struct scene *scene, struct tg_tensor sizes,
                              int64_t number, const uint64_t *after, uint32_t n)
{
    struct tg_args task;
    bool gap = scene->layout == STRIDED || scene->layout == TILES;
    bool in = !shares(scene->layout) && scene->layout != IN_PLACE;
    int64_t near = AT_BYSTANDER + BYTES_OF_BYSTANDER;
    tg_args_init(&task);
    tg_args_in(&task, piece(scene->arena, BYTES_OF_BYSTANDER, left_end(scene->layout)));
    tg_args_in(&task, piece(scene->arena, scene->out_end, AT_BYSTANDER));
    tg_args_in(&task, piece(scene->arena, near, AT_IN));
    tg_args_in(&task, piece(scene->arena, scene->in_end, ARENA));
    if (in)
        tg_args_in(&task, scene->in);
    if (gap) {
        tg_args_in(&task, scene->out_gap);
        tg_args_in(&task, scene->in_gap);
    }
    tg_args_out(&task, tg_tensor_slice(sizes, 0, 0, (int64_t)task.n_tensors, 1));
    tg_args_i64(&task, number);
    tg_args_after_all(&task, after, n);
    return tg_submit(rt, K_look, &task);
}

TG_FN static uint64_t stand_by(struct tg_rt *rt, struct tg_tensor part, uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_out(&task, part);
    tg_args_after(&task, after);
    return tg_submit(rt, K_bystander, &task);
}

TG_FN static uint64_t act(struct tg_rt *rt, const struct scene *scene, uint32_t kernel,
                          uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    if (scene->layout == IN_PLACE) {
        tg_args_inout(&task, scene->out);
    } else if (scene->layout == NOTHING) {
        tg_args_i64(&task, 1);
    } else {
        tg_args_in(&task, scene->in);
        if (scene->layout == TWO_IN)
            tg_args_in(&task, scene->also);
        tg_args_out(&task, scene->out);
        if (scene->layout == TWO_OUT)
            tg_args_out(&task, scene->also);
    }
    tg_args_after(&task, after);
    if (scene->layout == MIX)
        return tg_submit_mix(rt, K_other_half, kernel, TG_NO_KERNEL, &task);
    return tg_submit(rt, kernel, &task);
}

/* Arguments: sizes[2][8]; scalars: the kernel, its layout. */
TG_ORCHESTRATION(misuse)
{
    struct scene scene;
    struct tg_args task;
    struct tg_tensor sizes = args->tensor[0];
    uint64_t filled, looked, tasks[3];
    set_up(rt, &scene, (int)tg_args_get_i64(args, 1));
    tg_args_init(&task);
    tg_args_out(&task, scene.arena);
    filled = tg_submit(rt, K_fill, &task);
    looked = look_at(rt, &scene, tg_tensor_index(sizes, 0, 0), 1, &filled, 1);
    tasks[0] = stand_by(rt, piece(scene.arena, 0, BYTES_OF_BYSTANDER), looked);
    tasks[1] = act(rt, &scene, (uint32_t)tg_args_get_i64(args, 0), looked);
    tasks[2] =
        stand_by(rt, piece(scene.arena, AT_BYSTANDER, AT_BYSTANDER + BYTES_OF_BYSTANDER), looked);
    look_at(rt, &scene, tg_tensor_index(sizes, 0, 1), 2, tasks, 3);
}
