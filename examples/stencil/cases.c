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
};

enum { MAX_SIZE = 4096, MAX_STEPS = 1000 };

/* Numbers from 1/2 to 1: their averages stay in this range, where the spacing of float32 is
 * constant. */
static void fill(float *x, int64_t n, uint32_t seed)
{
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(seed >> 8) / 33554432.0f + 0.5f;
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
    if (steps < 1 || steps > MAX_STEPS) {
        tg_case_fail(c, "steps must be from 1 to 1000");
        return;
    }
    if (tile < 1 || tile > MAX_SIZE || too_many_tiles(rows, cols, tile)) {
        tg_case_fail(c, "tile must be from 1 to 4096, and the grid at most 256 tiles");
        return;
    }
    fill(tg_case_tensor(c, "start", TG_IN, TG_FLOAT32, 2, ((int64_t[]){rows + 2, cols + 2})),
         (rows + 2) * (cols + 2), 1);
    tg_case_tensor(c, "end", TG_OUT, TG_FLOAT32, 2, ((int64_t[]){rows, cols}));
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

/*
 * Computes the same sums in the same order as the kernel, over the whole grid instead of tile by
 * tile, so that results are equal bit for bit. IEEE 754 defines how sums round on every machine.
 * The products are exact, because the factors are powers of two and all values, averages of the
 * first ones, lie between 1/2 and 1.
 */
static void golden(struct tg_case *c)
{
    int64_t rows = tg_case_int(c, "rows"), cols = tg_case_int(c, "cols");
    size_t bytes = (size_t)((rows + 2) * (cols + 2)) * sizeof(float);
    const float *start = tg_case_input(c, "start");
    float *end = tg_case_expect_exact(c, "end");
    float *from = malloc(bytes), *to = malloc(bytes);

    if (from && to) {
        memcpy(from, start, bytes);
        memcpy(to, start, bytes); /* for the border */
        for (int64_t left = tg_case_int(c, "steps"); left > 0; left--) {
            float *other = from;
            step(from, to, rows, cols);
            from = to;
            to = other;
        }
        for (int64_t i = 0; i < rows; i++)
            memcpy(end + i * cols, from + (i + 1) * (cols + 2) + 1, (size_t)cols * sizeof *end);
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
};
