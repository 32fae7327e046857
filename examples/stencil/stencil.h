/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of this workload share. */
#ifndef STENCIL_H
#define STENCIL_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum { STENCIL_STEP, STENCIL_KERNELS };

/* Tiles of the grid, at most: the orchestration keeps a task id for each, for this step and the
 * last. */
enum { STENCIL_MAX_TILES = 256 };

/* The ranks as a grid, as square as their number allows, and this rank's place in it. */
struct stencil_ranks {
    int64_t down, across;
    int64_t row, col;
};

TG_INLINE struct stencil_ranks stencil_grid(int64_t rank, int64_t ranks)
{
    struct stencil_ranks g;
    g.down = 1;
    for (int64_t d = 2; d * d <= ranks; d++)
        if (ranks % d == 0)
            g.down = d;
    g.across = ranks / g.down;
    g.row = rank / g.across;
    g.col = rank % g.across;
    return g;
}

TG_INLINE int64_t at_most(int64_t value, int64_t limit)
{
    return value < limit ? value : limit;
}

TG_INLINE int64_t tiles_along(int64_t size, int64_t tile)
{
    return (size + tile - 1) / tile;
}

TG_KERNEL(stencil_step);
TG_ORCHESTRATION(stencil);
/* The same on several ranks, of which each has a part of the grid (ranks.c). */
TG_FN void stencil_over_ranks(struct tg_rt *rt, const struct tg_args *args);

#endif
