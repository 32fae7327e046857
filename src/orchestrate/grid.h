/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A grid turns addresses into coordinates in which strided regions are boxes. Its strides are those of
 * a region, each a multiple of the next:
 *
 *     address + shift = at[0] · stride[0] + at[1] · stride[1] + … + at[n]     at[i] < radix[i] for i > 0
 *
 * For tiles of a matrix the stride is the length of a row in bytes, at[0] is the row and at[1] the byte
 * in the row: tiles side by side have addresses that interleave, and boxes that lie apart.
 *
 *     addresses   aabbaabb…        boxes   aa bb
 *                                          aa bb
 *
 * Every region has a box in every grid: all coordinates of its bytes, and possibly more. Regions whose
 * boxes do not meet in some grid have no byte in common. The box of a region that the grid was made for
 * has no more than the region's bytes, unless the region has strides that the grid lacks.
 *
 * Except for at[0], coordinates are cyclic: after the last byte of a row comes the first of the next
 * one. So it does not matter for what is found where in its row a matrix begins. But a tile that goes on in
 * the next row has a box of one row more, so rows should begin where those of the matrix do.
 */
#ifndef TG_ORCHESTRATE_GRID_H
#define TG_ORCHESTRATE_GRID_H

#include "device/target.h"
#include "orchestrate/region.h"

enum { TG_GRID_STRIDES = 3, TG_GRID_AXES = TG_GRID_STRIDES + 1, TG_GRID_PARTS = 16 };

struct tg_grid {
    uint32_t n; /* strides; there is one axis more */
    uint64_t stride[TG_GRID_STRIDES];
    uint64_t radix[TG_GRID_AXES];      /* of axis 0: 0, because it has no end */
    uint64_t inverse[TG_GRID_STRIDES]; /* of the strides, times 2^64 */
    uint64_t shift; /* added to addresses, so that the region it was made for begins a row */
};

/* On each axis, `length` coordinates from `at`; those from the radix on begin again at 0. */
struct tg_box {
    uint64_t at[TG_GRID_AXES], length[TG_GRID_AXES];
};

/* The coordinates of an address. */
TG_FN static inline void tg_grid_at(const struct tg_grid *grid, uint64_t address, uint64_t *at)
{
    uint32_t i;
    address += grid->shift;
    for (i = 0; i < grid->n; i++) {
        uint64_t whole = tg_target_high_product(address, grid->inverse[i]); /* or one too few */
        address -= whole * grid->stride[i];
        for (; address >= grid->stride[i]; whole++)
            address -= grid->stride[i];
        at[i] = whole;
    }
    at[i] = address;
}

/* True if `length_a` coordinates from `a` and `length_b` from `b` on one axis have one in common. */
TG_FN static inline bool tg_grid_meet(uint64_t radix, uint64_t a, uint64_t length_a, uint64_t b,
                                      uint64_t length_b)
{
    /* From a to b, and from b to a: on a circle both ways lead there, on a line one of them is huge. */
    uint64_t there = b >= a ? b - a : b - a + radix, back = a >= b ? a - b : a - b + radix;
    return there < length_a || back < length_b;
}

/* The grid for a region that has outer dimensions: its smallest strides, as far as each is a multiple of
 * the one before. */
TG_FN void tg_grid_of(const struct tg_region *region, struct tg_grid *grid);

/* Lets rows begin where the region begins. Boxes made before are void. */
TG_FN void tg_grid_set_shift(struct tg_grid *grid, const struct tg_region *region);

/* True if tg_grid_of gives this grid, but for its shift. */
TG_FN bool tg_grid_is_of(const struct tg_grid *grid, const struct tg_region *region);

TG_FN void tg_grid_box(const struct tg_grid *grid, const struct tg_region *region,
                       struct tg_box *box);

TG_FN bool tg_boxes_meet(const struct tg_grid *grid, const struct tg_box *a,
                         const struct tg_box *b);

/* A region with half the grid's stride has a box that is as wide as a row. But its even rows and its odd
 * rows have narrow boxes each. */
struct tg_grid_split {
    uint32_t dim, n; /* every n-th of the dimension, whose stride times n is a stride of the grid */
};

/* Returns into how many parts the region, which has this box, should be divided: 1 if not at all, at most
 * TG_GRID_PARTS. */
TG_FN uint32_t tg_grid_parts(const struct tg_grid *grid, const struct tg_region *region,
                             const struct tg_box *box, struct tg_grid_split *part);

/* Sets all of one part but `hi` and the order of its dimensions, which a box does not need. */
TG_FN void tg_grid_take_part(const struct tg_region *region, const struct tg_grid_split *part,
                             uint32_t which, struct tg_region *to);

#endif
