/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions that tiles.c and its orchestration share. */
#ifndef BENCH_TILES_H
#define BENCH_TILES_H

#include <stdint.h>

/* How the tiles of a matrix lie in memory. */
enum layout {
    LAYOUT_CONTIGUOUS, /* each tile in one piece */
    LAYOUT_ROW,        /* side by side: all begin in the first row of the matrix */
    LAYOUT_SQUARE,     /* 64 side by side, then the next 64 below them */
    LAYOUT_UNEVEN,     /* the same; no size is a power of two, nor is where the matrix begins */
    LAYOUT_COLUMN,     /* a tile is one column of the matrix */
    LAYOUT_CUBE,       /* tiles of three dimensions */
    LAYOUTS
};

#define LAYOUT_NAMES                                              \
    {                                                             \
        "contiguous", "row", "square", "uneven", "column", "cube" \
    }

/* A tile has SIDE · SIDE elements, or nearly so. */
enum { SIDE = 16, MOST_TILES = 4096, MATRICES = 3 };
/* Elements of a matrix, with room for rows that are longer than the tiles need. */
#define MATRIX_ELEMENTS ((int64_t)MOST_TILES * SIDE * SIDE * 2)

/* The orchestration's tensors and scalars. */
enum { ARG_MATRICES, ARG_TIMES };
enum { ARG_LAYOUT, ARG_IN_FLIGHT, ARG_ROUNDS };

#endif
