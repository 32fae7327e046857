/* SPDX-License-Identifier: Apache-2.0 */
/* The orchestration of tiles.c: submits tasks with three tiles each, which stay in flight because a scope
 * holds them back, and measures how long that takes. Each tile of the result is used by two tasks, so
 * every second task has an edge. */
#include "../kernels_only.h"

#include "tiles.h"
#include <time.h>

enum { KERNEL_MULTIPLY, KERNEL_JOIN };

TG_KERNEL(multiply)
{
    (void)ctx;
}

TG_KERNEL(join)
{
    *TG_ARG(ctx, 1, int64_t) = 1;
}

static uint64_t now_ns(void)
{
    struct timespec t;

    timespec_get(&t, TIME_UTC);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The whole matrix, in the shape that its tiles are cut from. */
static struct tg_tensor shaped(struct tg_tensor matrix, enum layout layout, int64_t tiles)
{
    static const int64_t flat[2] = {MOST_TILES * SIDE, SIDE}, cube[3] = {112, 112, 100};
    int64_t row[2] = {SIDE, tiles * SIDE}, square[2] = {MOST_TILES / 64 * SIDE, 64 * SIDE};
    int64_t uneven[2] = {MOST_TILES / 64 * SIDE, 1001}, column[2] = {SIDE * SIDE, tiles};

    switch (layout) {
    case LAYOUT_ROW:
        return tg_tensor_make(matrix.addr, TG_FLOAT32, 2, row);
    case LAYOUT_SQUARE:
        return tg_tensor_make(matrix.addr, TG_FLOAT32, 2, square);
    case LAYOUT_UNEVEN:
        return tg_tensor_make(matrix.addr + 24, TG_FLOAT32, 2, uneven);
    case LAYOUT_COLUMN:
        return tg_tensor_make(matrix.addr, TG_FLOAT32, 2, column);
    case LAYOUT_CUBE:
        return tg_tensor_make(matrix.addr, TG_FLOAT32, 3, cube);
    default:
        return tg_tensor_make(matrix.addr, TG_FLOAT32, 2, flat);
    }
}

/* Sets where a view begins and how large it is, in place, as a loop that makes many would do it. */
static void put_tile(struct tg_args *task, enum tg_role role, const struct tg_tensor *matrix,
                     enum layout layout, int64_t i)
{
    struct tg_tensor *view = &task->tensor[task->n_tensors];
    int64_t row = i / 64, column = i % 64;

    tg_args_put(task, role, matrix);
    view->shape[0] = view->shape[1] = SIDE;
    switch (layout) {
    case LAYOUT_ROW:
        view->start = i * SIDE;
        break;
    case LAYOUT_SQUARE:
        view->start = (row * view->strides[0] + column) * SIDE;
        break;
    case LAYOUT_UNEVEN:
        view->shape[0] = view->shape[1] = 15;
        view->start = (row * view->strides[0] + column) * 15;
        break;
    case LAYOUT_COLUMN:
        view->shape[0] = SIDE * SIDE;
        view->shape[1] = 1;
        view->start = i;
        break;
    case LAYOUT_CUBE:
        view->shape[0] = view->shape[1] = 7;
        view->shape[2] = 6;
        view->start =
            i / 256 * 7 * view->strides[0] + i / 16 % 16 * 7 * view->strides[1] + i % 16 * 6;
        break;
    default:
        view->start = i * SIDE * SIDE;
    }
}

static void orchestrate(struct tg_rt *rt, const struct tg_args *args)
{
    enum layout layout = (enum layout)args->scalar[ARG_LAYOUT].bits;
    int64_t in_flight = (int64_t)args->scalar[ARG_IN_FLIGHT].bits, tiles = in_flight / 2, one = 1;
    uint64_t *times = TG_DEVICE_PTR(uint64_t, args->tensor[ARG_TIMES].addr);
    struct tg_tensor whole[MATRICES], matrix[MATRICES];
    struct tg_args task;

    for (int k = 0; k < MATRICES; k++) {
        whole[k] = tg_tensor_index(args->tensor[ARG_MATRICES], 0, k);
        whole[k].addr += (uint64_t)whole[k].start * sizeof(float);
        whole[k].start = 0;
        whole[k].storage_bytes = MATRIX_ELEMENTS * sizeof(float);
        matrix[k] = shaped(whole[k], layout, tiles);
    }
    for (uint64_t round = 0; round < args->scalar[ARG_ROUNDS].bits; round++) {
        struct tg_tensor joined = tg_tensor_slice(args->tensor[ARG_TIMES], 0, 0, 1, 1);

        TG_SCOPE_HELD(rt) {
            uint64_t began = now_ns();

            for (int64_t i = 0; i < in_flight; i++) {
                tg_args_init(&task);
                put_tile(&task, TG_IN, &matrix[0], layout, i % tiles);
                put_tile(&task, TG_IN, &matrix[1], layout, i % tiles);
                put_tile(&task, TG_INOUT, &matrix[2], layout, i % tiles);
                tg_submit(rt, KERNEL_MULTIPLY, &task);
            }
            times[1 + round] = now_ns() - began;
        }
        tg_args_init(&task); /* waits for all of them */
        tg_args_in(&task, whole[2]);
        joined.ndim = 1;
        joined.shape[0] = one;
        tg_args_out(&task, joined);
        tg_read_i64(rt, joined, tg_submit(rt, KERNEL_JOIN, &task));
    }
}

static const struct tg_kernel_def kernels[] = {
    [KERNEL_MULTIPLY] = {"multiply", multiply, TG_AIC, "in:float32 in:float32 inout:float32"},
    [KERNEL_JOIN] = {"join", join, TG_AIV, "in:float32 out:int64"},
};

BENCH_KERNELS("bench_tiles", "tasks on tiles of matrices, for bench/tasks", kernels, orchestrate);
