/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planes, tiles and blocks of a tensor (docs/workbench-protocol.md, "Planes and tiles"). Every number of a request
 * is checked here, so that the rest only sees elements that exist.
 *
 *   plane    rows × cols of a packed row-major tensor, at one index of every other dimension; or a tensor of one
 *            dimension in rows of `wrap` elements
 *   tile     up to 128 × 128 cells of a plane at one level; a cell of level L is 2^L × 2^L elements
 *   block    up to 32 × 32 elements of a plane
 */
#ifndef TG_WORKBENCH_PLANE_H
#define TG_WORKBENCH_PLANE_H

#include <taskglass/json.h>

#include "workbench/shown.h"

enum { TG_TILE_CELLS = 128, TG_BLOCK_SIDE = 32, TG_PLANE_WRAP = 65536 };

struct tg_plane {
    int rows, cols;              /* dimensions; rows -1: the plane has one row; both 0: wrapped */
    uint64_t height, width;      /* elements */
    uint64_t first;              /* the number of the element in row 0 and column 0 */
    uint64_t row_step, col_step; /* from one to the next row or column, in elements */
    unsigned levels;             /* at least 1 */
};

/* Elements of a plane: rows [top, top + height), columns [left, left + width). */
struct tg_area {
    uint64_t top, left, height, width;
};

struct tg_tile {
    unsigned level;
    uint64_t height, width; /* cells */
    struct tg_area area;
    uint64_t tiles; /* of the plane at this level; at least 1 */
};

/* The plane that a tensor shows by default: its last two dimensions, at index 0 of the others. */
void tg_plane_default(const struct tg_shown *shown, struct tg_plane *plane);
/* Takes `rows`, `cols` and `at`, or `wrap`. BAD_ARGUMENT names what is wrong. */
tg_status tg_plane_take(const struct tg_shown *shown, struct tg_ask *ask, struct tg_plane *plane,
                        struct tg_error *error);
/* Takes `level`, `row` and `col`; those of a block are `row` and `col`. A plane without elements has one tile and
 * one block, which are empty. BAD_ARGUMENT. */
tg_status tg_tile_take(const struct tg_plane *plane, struct tg_ask *ask, struct tg_tile *tile,
                       struct tg_error *error);
tg_status tg_block_take(const struct tg_plane *plane, struct tg_ask *ask, struct tg_area *block,
                        struct tg_error *error);

/* The number of an element of the plane. */
static inline uint64_t tg_plane_element(const struct tg_plane *plane, uint64_t row, uint64_t col)
{
    return plane->first + row * plane->row_step + col * plane->col_step;
}

/* "key": [1, 2] */
void tg_put_numbers(struct tg_json *json, const char *key, const int64_t *number, int count);

#endif
