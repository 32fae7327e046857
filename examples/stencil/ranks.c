/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same iteration where each rank has a part of the grid. Ranks form a grid too, and those side
 * by side swap the cells along their common edge before every step but the first:
 *
 *          ┌──────────── a frame around the part: what the neighbours have there
 *        ┌─┼───────┬─┐
 *        │ above     │   tg_recv writes a row or a column of the frame, as a view of the buffer,
 *        ├─┬───────┬─┤   and tg_send reads a row or a column of the part
 *        │ │ part  │ │
 *        ├─┴───────┴─┤   the input has the first step's frame, and the border of the whole
 *        │ below     │   grid, which never changes
 *        └───────────┘
 *
 * In step t, for each side that has a neighbour:
 *
 *   tg_send   the edge that step t-1 wrote; waits for the tiles along it
 *   tg_recv   the neighbour's; waits for the tiles of step t-2 along this side, which read the
 *             frame of the same buffer
 *   tile      waits for its neighbours on this rank as on one device; along a side also for the
 *             tg_recv, and for the tg_send of step t-1, which reads the cells that the tile
 *             overwrites
 *
 * Tiles inside wait for no rank, so they are computed while edges are under way. Sends are
 * submitted before receives on every rank. So whatever a runtime makes of views that come close, no
 * send waits for a receive of the same step, and ranks cannot wait for one another in a circle.
 */
#include "stencil.h"

enum { ABOVE, BELOW, LEFT, RIGHT, SIDES };
enum { NO_RANK = -1 };

/* What the tasks of one step share. */
struct part {
    int64_t rows, cols, tile, down, across; /* down, across: in tiles */
    int32_t peer[SIDES];                    /* the rank on that side, or NO_RANK */
    struct tg_tensor input;                 /* framed: (rows + 2) by (cols + 2) */
    struct tg_tensor from;                  /* framed; before the step */
    struct tg_tensor to;                    /* rows by cols; after the step */
    const uint64_t *previous, *older;       /* tasks of the last two steps, or NULL */
    uint64_t sent[SIDES];                   /* the step before */
    uint64_t received[SIDES];               /* this step */
};

TG_FN static void find_peers(struct part *p, int32_t rank, int32_t ranks)
{
    struct stencil_ranks g = stencil_grid(rank, ranks);
    int32_t across = (int32_t)g.across;
    p->peer[ABOVE] = g.row > 0 ? rank - across : NO_RANK;
    p->peer[BELOW] = g.row < g.down - 1 ? rank + across : NO_RANK;
    p->peer[LEFT] = g.col > 0 ? rank - 1 : NO_RANK;
    p->peer[RIGHT] = g.col < g.across - 1 ? rank + 1 : NO_RANK;
}

/* A row or a column of a framed buffer along one side: of the part itself, or of the frame. */
TG_FN static struct tg_tensor edge(const struct part *p, int side, bool framing)
{
    int64_t beyond = framing ? 1 : 0;
    switch (side) {
    case ABOVE:
        return tg_tensor_tile(p->from, 1 - beyond, 1, 1, p->cols);
    case BELOW:
        return tg_tensor_tile(p->from, p->rows + beyond, 1, 1, p->cols);
    case LEFT:
        return tg_tensor_tile(p->from, 1, p->rows, 1 - beyond, 1);
    default:
        return tg_tensor_tile(p->from, 1, p->rows, p->cols + beyond, 1);
    }
}

/* The tasks of the tiles along one side, if there are any; returns how many. */
TG_FN static uint32_t along(const struct part *p, const uint64_t *tasks, int side, uint64_t *ids)
{
    bool is_row = side == ABOVE || side == BELOW;
    int64_t n = is_row ? p->across : p->down;
    int64_t first = side == BELOW ? (p->down - 1) * p->across : side == RIGHT ? p->across - 1 : 0;
    if (!tasks)
        return 0;
    for (int64_t i = 0; i < n; i++)
        ids[i] = tasks[first + i * (is_row ? 1 : p->across)];
    return (uint32_t)n;
}

/* The tag is the side from which the cells go, so a receive names the other one. */
TG_APART TG_FN static uint64_t send_edge(struct tg_rt *rt, const struct part *p, int side)
{
    uint64_t ids[STENCIL_MAX_TILES];
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, edge(p, side, false));
    tg_args_after_all(&task, ids, along(p, p->previous, side, ids));
    return tg_send(rt, p->peer[side], side, &task);
}

TG_APART TG_FN static uint64_t receive_edge(struct tg_rt *rt, const struct part *p, int side)
{
    uint64_t ids[STENCIL_MAX_TILES];
    struct tg_args task;
    tg_args_init(&task);
    tg_args_out(&task, edge(p, side, true));
    tg_args_after_all(&task, ids, along(p, p->older, side, ids));
    return tg_recv(rt, p->peer[side], side ^ 1, &task);
}

/* Swaps the edges; `sent` gets the sends, which tiles of the next step wait for. */
TG_APART TG_FN static void exchange(struct tg_rt *rt, struct part *p, uint64_t *sent)
{
    TG_SCOPE(rt) {
        for (int side = 0; side < SIDES; side++)
            if (p->peer[side] != NO_RANK)
                sent[side] = send_edge(rt, p, side);
        for (int side = 0; side < SIDES; side++)
            if (p->peer[side] != NO_RANK)
                p->received[side] = receive_edge(rt, p, side);
    }
}

/* Cells before the step, counted without the frame. Those of the grid's border are in the input
 * alone. */
TG_FN static struct tg_tensor cells(const struct part *p, int64_t row, int64_t rows, int64_t col,
                                    int64_t cols)
{
    bool is_border =
        (row < 0 && p->peer[ABOVE] == NO_RANK) || (row >= p->rows && p->peer[BELOW] == NO_RANK) ||
        (col < 0 && p->peer[LEFT] == NO_RANK) || (col >= p->cols && p->peer[RIGHT] == NO_RANK);
    return tg_tensor_tile(is_border ? p->input : p->from, row + 1, rows, col + 1, cols);
}

/* Tile (i, j) is at the edge of the part on this side. */
TG_FN static bool is_along(const struct part *p, int side, int64_t i, int64_t j)
{
    return side == ABOVE   ? i == 0
           : side == BELOW ? i == p->down - 1
           : side == LEFT  ? j == 0
                           : j == p->across - 1;
}

/* On each side a tile waits either for another tile of this rank, or for the rank there. */
TG_FN static void wait_on_sides(const struct part *p, struct tg_args *task, int64_t i, int64_t j)
{
    const int64_t apart[SIDES] = {-p->across, p->across, -1, 1};
    const uint64_t *own = p->previous + i * p->across + j;
    tg_args_after(task, own[0]);
    for (int side = 0; side < SIDES; side++) {
        if (!is_along(p, side, i, j)) {
            tg_args_after(task, own[apart[side]]);
        } else {
            tg_args_after(task, p->received[side]);
            tg_args_after(task, p->sent[side]);
        }
    }
}

TG_APART TG_FN static uint64_t step_tile(struct tg_rt *rt, const struct part *p, int64_t i,
                                         int64_t j)
{
    int64_t row = i * p->tile, rows = at_most(p->tile, p->rows - row);
    int64_t col = j * p->tile, cols = at_most(p->tile, p->cols - col);
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, cells(p, row, rows, col, cols));
    tg_args_in(&task, cells(p, row - 1, 1, col, cols));
    tg_args_in(&task, cells(p, row + rows, 1, col, cols));
    tg_args_in(&task, cells(p, row, rows, col - 1, 1));
    tg_args_in(&task, cells(p, row, rows, col + cols, 1));
    tg_args_out(&task, tg_tensor_tile(p->to, row, rows, col, cols));
    if (p->previous)
        wait_on_sides(p, &task, i, j);
    return tg_submit(rt, STENCIL_STEP, &task);
}

/* All tiles of one step, a scope for each row of them; `ids` gets their tasks. */
TG_APART TG_FN static void step_all(struct tg_rt *rt, const struct part *p, uint64_t *ids)
{
    for (int64_t i = 0; i < p->down; i++) {
        TG_SCOPE(rt) {
            for (int64_t j = 0; j < p->across; j++)
                ids[i * p->across + j] = step_tile(rt, p, i, j);
        }
    }
}

TG_FN static void no_tasks(uint64_t ids[SIDES])
{
    for (int side = 0; side < SIDES; side++)
        ids[side] = TG_TASK_NONE;
}

/* Steps alternate between two framed buffers; the first reads the input and the last writes the
 * output. */
TG_APART TG_FN static void all_steps(struct tg_rt *rt, struct part *p, struct tg_tensor out,
                                     int64_t steps)
{
    uint64_t ids[2][STENCIL_MAX_TILES], sent[SIDES];
    struct tg_tensor buffer[2];
    buffer[0] = tg_alloc(rt, TG_FLOAT32, 2, p->input.shape);
    buffer[1] = tg_alloc(rt, TG_FLOAT32, 2, p->input.shape);
    p->from = p->input;
    p->previous = p->older = 0;
    no_tasks(p->sent);
    no_tasks(p->received);
    for (int64_t t = 0; t < steps; t++) {
        no_tasks(sent);
        if (t > 0)
            exchange(rt, p, sent);
        p->to = t + 1 < steps ? tg_tensor_tile(buffer[t % 2], 1, p->rows, 1, p->cols) : out;
        step_all(rt, p, ids[t % 2]);
        p->older = p->previous;
        p->previous = ids[t % 2];
        p->from = buffer[t % 2];
        for (int side = 0; side < SIDES; side++)
            p->sent[side] = sent[side];
    }
}

TG_APART TG_FN void stencil_over_ranks(struct tg_rt *rt, const struct tg_args *args)
{
    struct tg_tensor out = args->tensor[1];
    struct part p;
    p.input = args->tensor[0];
    p.rows = out.shape[0];
    p.cols = out.shape[1];
    p.tile = tg_args_get_i64(args, 1);
    p.down = tiles_along(p.rows, p.tile);
    p.across = tiles_along(p.cols, p.tile);
    find_peers(&p, tg_rank(rt), tg_ranks(rt));
    all_steps(rt, &p, out, tg_args_get_i64(args, 0));
}
