/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Y = gelu(X·W1 + b1)·W2 + b2, a block of rows at a time. For every tile of a layer's output
 *
 *   AIC  product      S  = X(0)·W(0,j)
 *   AIC  accumulate   S += X(k)·W(k,j)           a chain: each adds to the one before
 *   AIV  epilogue     Y(j) = gelu(S + b(j))      or S + b(j) in the second layer
 *
 * or, when fused, all of it as one mix that loops over k in the kernel:
 *
 *   AIC + AIV0 + AIV1
 *
 * A task of the second layer waits only for the tiles of the hidden layer that it reads. No task
 * overwrites memory that another one still reads: the sums belong to the tasks of one tile, and the
 * hidden layer to one block of rows.
 *
 * Over several ranks each has a slice of the hidden layer: some columns of W1 and the rows of W2
 * that belong to them. The first layer needs nothing of the others. The second is a sum over the
 * hidden layer, of which each rank has a part for every element of Y, so for a block of rows
 *
 *   AIC         product, accumulate   S(j) = the rank's part, for every tile j
 *   all ranks   tg_all_reduce         S    = the sum of all parts
 *   AIV         epilogue              Y(j) = S(j) + b(j)
 *
 * and blocks of rows that come later are computed meanwhile.
 */
#include "mlp.h"

/* One layer for a block of rows: out = finish(x·w + bias). */
struct layer {
    struct tg_tensor x, w, bias, out;
    uint32_t finish;       /* the kernel for plain tasks */
    uint32_t mix_finish;   /* the kernel in a mix */
    const uint64_t *ready; /* the tasks that write x, tile by tile; NULL: x is an input */
    int64_t tile;
};

TG_INLINE int64_t at_most(int64_t value, int64_t limit)
{
    return value < limit ? value : limit;
}

TG_INLINE uint32_t tiles_along(int64_t size, int64_t tile)
{
    return (uint32_t)((size + tile - 1) / tile);
}

/* Starts a task that multiplies tile k of the depth. */
TG_APART TG_FN static void factors(struct tg_args *task, const struct layer *l, struct tg_tensor w,
                                   int64_t k)
{
    int64_t end = at_most(k + l->tile, l->x.shape[1]);
    tg_args_init(task);
    tg_args_in(task, tg_tensor_slice(l->x, 1, k, end, 1));
    tg_args_in(task, tg_tensor_slice(w, 0, k, end, 1));
    tg_args_after(task, l->ready ? l->ready[k / l->tile] : TG_TASK_NONE);
}

/* The first product allocates the sums, and they live until the tile's scope ends. */
TG_APART TG_FN static uint64_t sum_up(struct tg_rt *rt, const struct layer *l, struct tg_tensor w,
                                      const int64_t *shape, struct tg_tensor *sums)
{
    uint64_t last = TG_TASK_NONE;
    for (int64_t k = 0; k < l->x.shape[1]; k += l->tile) {
        struct tg_args task;
        factors(&task, l, w, k);
        if (k == 0) {
            tg_args_out_new(&task, TG_FLOAT32, 2, shape);
            last = tg_submit(rt, MLP_PRODUCT, &task);
            *sums = tg_output(rt, last, 2);
        } else {
            tg_args_inout(&task, *sums);
            tg_args_after(&task, last);
            last = tg_submit(rt, MLP_ACCUMULATE, &task);
        }
    }
    return last;
}

TG_APART TG_FN static uint64_t plain_tile(struct tg_rt *rt, const struct layer *l,
                                          struct tg_tensor w, struct tg_tensor bias,
                                          struct tg_tensor out)
{
    struct tg_tensor sums;
    struct tg_args task;
    uint64_t last = sum_up(rt, l, w, out.shape, &sums);
    tg_args_init(&task);
    tg_args_in(&task, bias);
    tg_args_in(&task, sums);
    tg_args_out(&task, out);
    tg_args_after(&task, last);
    return tg_submit(rt, l->finish, &task);
}

TG_APART TG_FN static uint64_t fused_tile(struct tg_rt *rt, const struct layer *l,
                                          struct tg_tensor w, struct tg_tensor bias,
                                          struct tg_tensor out)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, l->x);
    tg_args_in(&task, w);
    tg_args_in(&task, bias);
    tg_args_out_new(&task, TG_FLOAT32, 2, out.shape); /* written and read inside the task */
    tg_args_out(&task, out);
    tg_args_after_all(&task, l->ready, l->ready ? tiles_along(l->x.shape[1], l->tile) : 0);
    return tg_submit_mix(rt, MLP_MIX_PRODUCT, l->mix_finish, l->mix_finish, &task);
}

/* Stores the tasks that write the output in `done`, tile by tile. */
TG_APART TG_FN static void layer(struct tg_rt *rt, const struct layer *l, bool fused,
                                 uint64_t *done)
{
    int64_t width = l->out.shape[1];
    for (int64_t j = 0; j < width; j += l->tile) {
        int64_t end = at_most(j + l->tile, width);
        struct tg_tensor w = tg_tensor_slice(l->w, 1, j, end, 1);
        struct tg_tensor bias = tg_tensor_slice(l->bias, 0, j, end, 1);
        struct tg_tensor out = tg_tensor_slice(l->out, 1, j, end, 1);
        TG_SCOPE(rt) { /* the sums are freed when this scope ends */
            done[j / l->tile] =
                fused ? fused_tile(rt, l, w, bias, out) : plain_tile(rt, l, w, bias, out);
        }
    }
}

/* Columns [j, end) of the sums of a block of rows. The sums lie tile after tile, so that every tile
 * is contiguous, as the kernels want it, and all together are one tensor for the other ranks. */
TG_APART TG_FN static struct tg_tensor tile_of(struct tg_tensor sums, int64_t rows, int64_t j,
                                               int64_t end)
{
    int64_t shape[2];
    shape[0] = rows;
    shape[1] = end - j;
    return tg_tensor_reshape(tg_tensor_slice(sums, 0, rows * j, rows * end, 1), 2, shape);
}

/* This rank's part of one tile of sums: a chain as in sum_up, or one task for the whole depth. */
TG_APART TG_FN static uint64_t part_of_tile(struct tg_rt *rt, const struct layer *l, bool fused,
                                            struct tg_tensor w, struct tg_tensor sums)
{
    uint64_t last = TG_TASK_NONE;
    struct tg_args task;
    if (fused) {
        tg_args_init(&task);
        tg_args_in(&task, l->x);
        tg_args_in(&task, w);
        tg_args_out(&task, sums);
        tg_args_after_all(&task, l->ready, tiles_along(l->x.shape[1], l->tile));
        return tg_submit(rt, MLP_PRODUCT, &task);
    }
    for (int64_t k = 0; k < l->x.shape[1]; k += l->tile) {
        factors(&task, l, w, k);
        tg_args_tensor(&task, k == 0 ? TG_OUT : TG_INOUT, sums);
        tg_args_after(&task, last);
        last = tg_submit(rt, k == 0 ? MLP_PRODUCT : MLP_ACCUMULATE, &task);
    }
    return last;
}

/* The sums of all ranks together; `parts` are the tasks that computed this rank's. */
TG_APART TG_FN static uint64_t add_ranks(struct tg_rt *rt, struct tg_tensor sums,
                                         const uint64_t *parts, uint32_t n)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_inout(&task, sums);
    tg_args_after_all(&task, parts, n);
    return tg_all_reduce(rt, TG_SUM, &task);
}

TG_APART TG_FN static void finish_tile(struct tg_rt *rt, const struct layer *l, int64_t j,
                                       int64_t end, struct tg_tensor sums, uint64_t ready)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, tg_tensor_slice(l->bias, 0, j, end, 1));
    tg_args_in(&task, tile_of(sums, l->x.shape[0], j, end));
    tg_args_out(&task, tg_tensor_slice(l->out, 1, j, end, 1));
    tg_args_after(&task, ready);
    tg_submit(rt, l->finish, &task);
}

/* A layer of which each rank has a part of the depth. Its sums live until the scope around this
 * call ends; every tile has a scope of its own, so that a small window of task slots is enough. */
TG_APART TG_FN static void layer_over_ranks(struct tg_rt *rt, const struct layer *l, bool fused)
{
    int64_t rows = l->x.shape[0], width = l->out.shape[1], n = rows * width;
    struct tg_tensor sums = tg_alloc(rt, TG_FLOAT32, 1, &n);
    uint64_t parts[MLP_MAX_TILES], whole;

    for (int64_t j = 0; j < width; j += l->tile) {
        int64_t end = at_most(j + l->tile, width);
        TG_SCOPE(rt) {
            parts[j / l->tile] = part_of_tile(rt, l, fused, tg_tensor_slice(l->w, 1, j, end, 1),
                                              tile_of(sums, rows, j, end));
        }
    }
    whole = add_ranks(rt, sums, parts, tiles_along(width, l->tile));
    for (int64_t j = 0; j < width; j += l->tile) {
        TG_SCOPE(rt) {
            finish_tile(rt, l, j, at_most(j + l->tile, width), sums, whole);
        }
    }
}

/* Both layers for a block of rows; the hidden layer lives until the scope around this call ends. */
TG_APART TG_FN static void block(struct tg_rt *rt, const struct tg_args *args, struct tg_tensor x,
                                 struct tg_tensor y)
{
    int64_t tile = tg_args_get_i64(args, 0);
    bool fused = tg_args_get_i64(args, 1) != 0;
    uint64_t of_hidden[MLP_MAX_TILES], of_y[MLP_MAX_TILES];
    int64_t shape[2];
    struct tg_tensor hidden;
    struct layer l;

    shape[0] = x.shape[0];
    shape[1] = args->tensor[1].shape[1];
    hidden = tg_alloc(rt, TG_BFLOAT16, 2, shape);

    l.tile = tile;
    l.x = x;
    l.w = args->tensor[1];
    l.bias = args->tensor[2];
    l.out = hidden;
    l.finish = MLP_GELU;
    l.mix_finish = MLP_MIX_GELU;
    l.ready = 0;
    layer(rt, &l, fused, of_hidden);

    l.x = hidden;
    l.w = args->tensor[3];
    l.bias = args->tensor[4];
    l.out = y;
    l.finish = MLP_BIAS;
    l.mix_finish = MLP_MIX_BIAS;
    l.ready = of_hidden;
    if (tg_ranks(rt) > 1)
        layer_over_ranks(rt, &l, fused);
    else
        layer(rt, &l, fused, of_y); /* no task waits for these */
}

TG_ORCHESTRATION(mlp)
{
    struct tg_tensor x = args->tensor[0]; /* batch, in; then w1, b1, w2, b2 */
    struct tg_tensor y = args->tensor[5]; /* batch, out */
    int64_t hidden = args->tensor[2].shape[0];
    int64_t tile = tg_args_get_i64(args, 0), limit = tile * MLP_MAX_TILES;

    if (tile < 1 || x.shape[1] > limit || hidden > limit || y.shape[1] > limit) {
        tg_fail(rt, "a layer must be at most 64 tiles wide: raise the tile");
        return;
    }
    for (int64_t i = 0; i < x.shape[0]; i += tile) {
        TG_SCOPE(rt) {
            int64_t end = at_most(i + tile, x.shape[0]);
            block(rt, args, tg_tensor_slice(x, 0, i, end, 1), tg_tensor_slice(y, 0, i, end, 1));
        }
    }
}
