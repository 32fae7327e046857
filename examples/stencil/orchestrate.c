/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of a damped Jacobi iteration on a grid with a fixed border, double buffered and cut into
 * tiles. The task of a tile in step t
 *
 *   reads   the tile and one row or column of each of its four neighbours, from the buffer
 *           that step t-1 wrote
 *   writes  the tile in the other buffer, which step t-1 read
 *
 * so it waits for five tasks of step t-1, its own tile's and its neighbours', for two reasons: they
 * wrote what it reads, and they read what it overwrites. The task of step t-2 that last wrote the
 * tile needs no extra edge: those five have waited for it.
 *
 * Tiles far apart do not wait for one another: one corner of the grid can be steps ahead of
 * another.
 */
#include "stencil.h"

/* Data that all tasks of one step share. */
struct step {
    struct tg_tensor
        border; /* the input: (rows + 2) by (cols + 2), of which the edge never changes */
    struct tg_tensor from;    /* the grid without its border, before the step */
    struct tg_tensor to;      /* the same after the step */
    const uint64_t *previous; /* the tasks of the step before, tile by tile; none for the first */
    int64_t tile;
};

/* Cells of the grid before the step, counted without the border; index -1 and the one past the last
 * are the border itself, which only the input has. */
TG_FN static struct tg_tensor cells(const struct step *s, int64_t row, int64_t rows, int64_t col,
                                    int64_t cols)
{
    if (row < 0 || row >= s->from.shape[0] || col < 0 || col >= s->from.shape[1])
        return tg_tensor_tile(s->border, row + 1, rows, col + 1, cols);
    return tg_tensor_tile(s->from, row, rows, col, cols);
}

/* The five tasks of the step before that this tile's task waits for. */
TG_FN static void wait_for_neighbours(const struct step *s, struct tg_args *task, int64_t i,
                                      int64_t j)
{
    int64_t down = tiles_along(s->to.shape[0], s->tile);
    int64_t across = tiles_along(s->to.shape[1], s->tile);
    const uint64_t *own = s->previous + i * across + j;
    tg_args_after(task, own[0]);
    if (i > 0)
        tg_args_after(task, own[-across]);
    if (i < down - 1)
        tg_args_after(task, own[across]);
    if (j > 0)
        tg_args_after(task, own[-1]);
    if (j < across - 1)
        tg_args_after(task, own[1]);
}

/* Tile (i, j), counted in tiles. */
TG_FN static uint64_t step_tile(struct tg_rt *rt, const struct step *s, int64_t i, int64_t j)
{
    int64_t row = i * s->tile, rows = at_most(s->tile, s->to.shape[0] - row);
    int64_t col = j * s->tile, cols = at_most(s->tile, s->to.shape[1] - col);
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, cells(s, row, rows, col, cols));
    tg_args_in(&task, cells(s, row - 1, 1, col, cols));
    tg_args_in(&task, cells(s, row + rows, 1, col, cols));
    tg_args_in(&task, cells(s, row, rows, col - 1, 1));
    tg_args_in(&task, cells(s, row, rows, col + cols, 1));
    tg_args_out(&task, tg_tensor_tile(s->to, row, rows, col, cols));
    if (s->previous)
        wait_for_neighbours(s, &task, i, j);
    return tg_submit(rt, STENCIL_STEP, &task);
}

/* All tiles of one step; `ids` gets their tasks. Each row of tiles has its own scope, so that a
 * runtime with rings can reuse its task slots while the next row is being submitted. */
TG_FN static void step_all(struct tg_rt *rt, const struct step *s, uint64_t *ids)
{
    int64_t down = tiles_along(s->to.shape[0], s->tile);
    int64_t across = tiles_along(s->to.shape[1], s->tile);
    for (int64_t i = 0; i < down; i++) {
        TG_SCOPE(rt) {
            for (int64_t j = 0; j < across; j++)
                ids[i * across + j] = step_tile(rt, s, i, j);
        }
    }
}

TG_APART TG_FN static void stencil_alone(struct tg_rt *rt, const struct tg_args *args)
{
    struct tg_tensor border = args->tensor[0];
    struct tg_tensor out = args->tensor[1];
    int64_t steps = tg_args_get_i64(args, 0);
    uint64_t ids[2][STENCIL_MAX_TILES];
    struct tg_tensor buffer[2];
    struct step s;

    /* The buffers alternate so that the last step writes the output; the first step reads the
     * input. The second buffer is allocated outside the rows' scopes, because it outlives them. */
    buffer[0] = out;
    buffer[1] = tg_alloc(rt, TG_FLOAT32, 2, out.shape);
    s.border = border;
    s.from = tg_tensor_tile(border, 1, out.shape[0], 1, out.shape[1]);
    s.previous = 0;
    s.tile = tg_args_get_i64(args, 1);
    for (int64_t left = steps - 1; left >= 0; left--) {
        s.to = buffer[left % 2];
        step_all(rt, &s, ids[left % 2]);
        s.from = s.to;
        s.previous = ids[left % 2];
    }
}

TG_ORCHESTRATION(stencil)
{
    const int64_t *shape = args->tensor[1].shape;
    int64_t tile = tg_args_get_i64(args, 1);
    if (tile < 1 || tiles_along(shape[0], tile) * tiles_along(shape[1], tile) > STENCIL_MAX_TILES)
        tg_fail(rt, "the grid must have at most 256 tiles: raise the tile");
    else if (tg_ranks(rt) > 1)
        stencil_over_ranks(rt, args);
    else
        stencil_alone(rt, args);
}
