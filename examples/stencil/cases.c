/* SPDX-License-Identifier: Apache-2.0 */
#include "stencil.h"

#include <stdlib.h>
#include <string.h>
#include <taskglass/workload.h>

static const struct tg_kernel_def kernels[STENCIL_KERNELS] = {
    [STENCIL_STEP] = {"stencil_step", stencil_step, TG_AIV,
                      "in:float32 in:float32 in:float32 in:float32 in:float32 out:float32"},
};

static const struct tg_case_def cases[] = {
    {"small", "ten steps of a grid of 6 by 5 tiles", "rows=96 cols=80 steps=10 tile=16"},
    {"medium", "some thousand tasks", "rows=192 cols=192 steps=25 tile=16"},
    {"ragged", "no size is a multiple of the tile, an odd number of steps",
     "rows=53 cols=38 steps=7 tile=12"},
    {"cells", "every cell is a tile", "rows=7 cols=5 steps=9 tile=1"},
    {"one", "one step of a single tile", "rows=8 cols=8 steps=1 tile=8"},
    {"halos", "for several ranks: parts that differ in size, tiles inside them",
     "rows=50 cols=90 steps=6 tile=8"},
};

enum { MAX_SIZE = 4096, MAX_STEPS = 1000 };

/* This rank's part of the grid, and all of it if it is alone: rows [row, row + rows) of cells and
 * columns alike, counted without the border. */
struct part {
    int64_t row, rows, col, cols;
};

static struct part part_of(struct tg_case *c, int64_t rows, int64_t cols)
{
    struct stencil_ranks g = stencil_grid(tg_case_rank(c), tg_case_ranks(c));
    struct part p = {.row = rows * g.row / g.down, .col = cols * g.col / g.across};
    p.rows = rows * (g.row + 1) / g.down - p.row;
    p.cols = cols * (g.col + 1) / g.across - p.col;
    return p;
}

static struct part whole(int64_t rows, int64_t cols)
{
    return (struct part){0, rows, 0, cols};
}

/* A part and the cells around it, of a grid with numbers from 1/2 to 1: their averages stay in this
 * range, where the spacing of float32 is constant. The number of a cell depends on the whole grid,
 * so that all ranks together have what one device has. */
static void fill(float *x, int64_t rows, int64_t cols, struct part p, uint32_t seed)
{
    for (int64_t i = 0; i < (rows + 2) * (cols + 2); i++) {
        int64_t row = i / (cols + 2) - p.row, col = i % (cols + 2) - p.col;
        seed = seed * 1664525u + 1013904223u;
        if (row >= 0 && row < p.rows + 2 && col >= 0 && col < p.cols + 2)
            x[row * (p.cols + 2) + col] = (float)(seed >> 8) / 33554432.0f + 0.5f;
    }
}

static bool too_many_tiles(int64_t rows, int64_t cols, int64_t tile)
{
    return ((rows + tile - 1) / tile) * ((cols + tile - 1) / tile) > STENCIL_MAX_TILES;
}

static void prepare(struct tg_case *c)
{
    int64_t rows = tg_case_int(c, "rows"), cols = tg_case_int(c, "cols");
    int64_t steps = tg_case_int(c, "steps"), tile = tg_case_int(c, "tile");

    if (rows < 1 || rows > MAX_SIZE || cols < 1 || cols > MAX_SIZE) {
        tg_case_fail(c, "rows and cols must each be from 1 to 4096");
        return;
    }
    struct part p = part_of(c, rows, cols);
    struct stencil_ranks g = stencil_grid(tg_case_rank(c), tg_case_ranks(c));
    if (rows < g.down || cols < g.across) {
        tg_case_fail(c,
                     "every rank needs cells: rows must be at least the ranks down, and cols those "
                     "across; ranks form a grid as square as their number allows, 8 are 2 by 4");
        return;
    }
    if (steps < 1 || steps > MAX_STEPS) {
        tg_case_fail(c, "steps must be from 1 to 1000");
        return;
    }
    if (tile < 1 || tile > MAX_SIZE || too_many_tiles(p.rows, p.cols, tile)) {
        tg_case_fail(c, "tile must be from 1 to 4096, and the grid at most 256 tiles on each rank");
        return;
    }
    fill(tg_case_tensor(c, "start", TG_IN, TG_FLOAT32, 2, ((int64_t[]){p.rows + 2, p.cols + 2})),
         rows, cols, p, 1);
    tg_case_tensor(c, "end", TG_OUT, TG_FLOAT32, 2, ((int64_t[]){p.rows, p.cols}));
    tg_case_scalar(c, "steps", TG_INT64, (uint64_t)steps);
    tg_case_scalar(c, "tile", TG_INT64, (uint64_t)tile);
}

/* One step of the whole grid; `width` counts the border. */
static void step(const float *from, float *to, int64_t rows, int64_t cols)
{
    int64_t width = cols + 2;
    for (int64_t i = 1; i <= rows; i++)
        for (int64_t j = 1; j <= cols; j++) {
            const float *at = from + i * width + j;
            float around = (at[-width] + at[width]) + (at[-1] + at[1]);
            to[i * width + j] = 0.5f * at[0] + 0.125f * around;
        }
}

/* The whole grid at the start: the input, or on a rank that has a part of it what all have. */
static void fill_whole(struct tg_case *c, float *grid, int64_t rows, int64_t cols)
{
    if (tg_case_ranks(c) > 1)
        fill(grid, rows, cols, whole(rows, cols), 1);
    else
        memcpy(grid, tg_case_input(c, "start"), (size_t)((rows + 2) * (cols + 2)) * sizeof *grid);
}

/*
 * Computes the same sums in the same order as the kernel, over the whole grid instead of tile by
 * tile or rank by rank, so that results are equal bit for bit. IEEE 754 defines how sums round on
 * every machine. The products are exact, because the factors are powers of two and all values,
 * averages of the first ones, lie between 1/2 and 1.
 */
static void golden(struct tg_case *c)
{
    int64_t rows = tg_case_int(c, "rows"), cols = tg_case_int(c, "cols");
    size_t bytes = (size_t)((rows + 2) * (cols + 2)) * sizeof(float);
    struct part p = part_of(c, rows, cols);
    float *end = tg_case_expect_exact(c, "end");
    float *from = calloc(1, bytes), *to = calloc(1, bytes);

    if (from && to) {
        fill_whole(c, from, rows, cols);
        memcpy(to, from, bytes); /* for the border */
        for (int64_t left = tg_case_int(c, "steps"); left > 0; left--) {
            float *other = from;
            step(from, to, rows, cols);
            from = to;
            to = other;
        }
        for (int64_t i = 0; i < p.rows; i++)
            memcpy(end + i * p.cols, from + (p.row + i + 1) * (cols + 2) + p.col + 1,
                   (size_t)p.cols * sizeof *end);
    }
    bool enough = from && to;
    free(from);
    free(to);
    if (!enough)
        tg_case_fail(c, "no memory for the golden values: make rows or cols smaller");
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "stencil",
    .summary = "2-D Jacobi steps: tiles that wait for their neighbours only, double buffered",
    .kernels = kernels,
    .n_kernels = STENCIL_KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = stencil,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
    .communicates = 1,
};
