/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view is a tensor with another start, shape or strides over the same storage. Making one moves
 * nothing and costs nothing; kernels read and write through it. Taskglass refuses a task whose view
 * reaches outside its storage.
 */
#include "views.h"

/* Reverses one dimension: the view starts at its last element and steps down. */
TG_INLINE struct tg_tensor reversed(struct tg_tensor t, int dim)
{
    t.start += (t.shape[dim] - 1) * t.strides[dim];
    t.strides[dim] = -t.strides[dim];
    return t;
}

/* A vector as a matrix of `rows` rows that share the same memory: stride 0, so for reading only. */
TG_INLINE struct tg_tensor broadcast(struct tg_tensor row, int64_t rows)
{
    row.ndim = 2;
    row.shape[1] = row.shape[0];
    row.strides[1] = row.strides[0];
    row.shape[0] = rows;
    row.strides[0] = 0;
    return row;
}

TG_FN static uint64_t copy(struct tg_rt *rt, struct tg_tensor in, struct tg_tensor out,
                           uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, in);
    tg_args_out(&task, out);
    tg_args_after(&task, after);
    return tg_submit(rt, VIEWS_COPY, &task);
}

TG_FN static uint64_t add(struct tg_rt *rt, struct tg_tensor a, struct tg_tensor b,
                          struct tg_tensor out)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, a);
    tg_args_in(&task, b);
    tg_args_out(&task, out);
    return tg_submit(rt, VIEWS_ADD, &task);
}

TG_FN static uint64_t sum(struct tg_rt *rt, struct tg_tensor in, struct tg_tensor out)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, in);
    tg_args_out(&task, out);
    return tg_submit(rt, VIEWS_SUM, &task);
}

/* Sub-tiles: tile (i, j) of the input becomes tile (j, i) of the output, transposed. */
TG_FN static void transpose_in_tiles(struct tg_rt *rt, struct tg_tensor in, struct tg_tensor out,
                                     int64_t tile)
{
    int64_t height = in.shape[0], width = in.shape[1];
    for (int64_t i = 0; i < height; i += tile) {
        for (int64_t j = 0; j < width; j += tile) {
            int64_t rows = height - i < tile ? height - i : tile;
            int64_t cols = width - j < tile ? width - j : tile;
            copy(rt, tg_tensor_transpose(tg_tensor_tile(in, i, rows, j, cols), 0, 1),
                 tg_tensor_tile(out, j, cols, i, rows), TG_TASK_NONE);
        }
    }
}

/* Sums of blocks of 2 by 2. A reshape splits each dimension in two; a transpose brings the two
 * inner halves to the end; no element moves before the kernel sums them up. */
TG_FN static void pool(struct tg_rt *rt, struct tg_tensor a, struct tg_tensor out)
{
    int64_t split[4];
    split[0] = a.shape[0] / 2;
    split[1] = 2;
    split[2] = a.shape[1] / 2;
    split[3] = 2;
    sum(rt, tg_tensor_transpose(tg_tensor_reshape(a, 4, split), 1, 2), out);
}

TG_ORCHESTRATION(views)
{
    struct tg_tensor a = args->tensor[0];    /* rows, cols */
    struct tg_tensor row = args->tensor[1];  /* cols */
    struct tg_tensor cube = args->tensor[2]; /* depth, rows, cols */
    struct tg_tensor transposed = args->tensor[3];
    struct tg_tensor turned = args->tensor[4];
    struct tg_tensor even_sums = args->tensor[5];
    struct tg_tensor plane_sums = args->tensor[6];
    struct tg_tensor pooled = args->tensor[7];
    struct tg_tensor permuted = args->tensor[8];
    struct tg_tensor shifted = args->tensor[9];
    struct tg_tensor woven = args->tensor[10]; /* 2 * rows, cols */
    int64_t tile = (int64_t)args->scalar[0].bits;
    int64_t rows = a.shape[0], cols = a.shape[1];
    uint64_t shift;

    if (tile < 1) {
        tg_fail(rt, "the tile must have at least one row");
        return;
    }
    TG_SCOPE(rt) {
        transpose_in_tiles(rt, a, transposed, tile);
        /* Both dimensions reversed: rotated by 180 degrees. */
        copy(rt, reversed(reversed(a, 0), 1), turned, TG_TASK_NONE);
        /* Every second column. */
        sum(rt, tg_tensor_slice(a, 1, 0, cols, 2), even_sums);
        /* One plane of a cube: the rank goes down by one. */
        sum(rt, tg_tensor_index(cube, 0, cube.shape[0] / 2), plane_sums);
        pool(rt, a, pooled);
        /* Swaps the first and the last dimension. */
        copy(rt, tg_tensor_transpose(cube, 0, 2), permuted, TG_TASK_NONE);
    }
    TG_SCOPE(rt) {
        shift = add(rt, a, broadcast(row, rows), shifted);
        /* Two tasks write the same tensor at the same time, each every second row. */
        copy(rt, a, tg_tensor_slice(woven, 0, 0, 2 * rows, 2), TG_TASK_NONE);
        copy(rt, shifted, tg_tensor_slice(woven, 0, 1, 2 * rows, 2), shift);
    }
}
