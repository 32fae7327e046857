/* SPDX-License-Identifier: Apache-2.0 */
/* The shelves of the tensor map (tensormap.h): which one a region belongs to, and in which cells of a
 * shelf a search has to look. */
#ifndef TG_ORCHESTRATE_SHELVES_H
#define TG_ORCHESTRATE_SHELVES_H

#include "device/target.h"
#include "orchestrate/tensormap.h"

#define TG_MAP_SPREAD UINT64_C(0x9e3779b97f4a7c15)

/* Where a new region goes. */
struct tg_map_place {
    uint32_t shelf, cell;
    uint64_t beyond; /* contiguous: how far it goes beyond the cell */
};

/* A box in the grid number `grid` - 1; 0: none was made yet. */
struct tg_map_box {
    uint32_t grid;
    struct tg_box box;
};

/* On axis i, `count` cells from `first`; after cell `last` comes cell 0. */
struct tg_cells {
    uint32_t n; /* axes but the last */
    uint64_t total;
    uint64_t first[TG_GRID_AXES], count[TG_GRID_AXES], last[TG_GRID_AXES];
};

/* The smallest level whose cells are at least that long. */
TG_FN static inline uint32_t tg_map_level(uint64_t length)
{
    return length <= 1 ? 0 : 64 - tg_target_leading_zeros(length - 1);
}

/* The number of a cell on a shelf for contiguous regions. Neighbouring places get neighbouring buckets,
 * because most graphs go through memory in order. Two cells may have one number. */
TG_FN static inline uint32_t tg_map_cell(uint32_t level, uint64_t place)
{
    return (uint32_t)(place + ((place >> 16) + level) * TG_MAP_SPREAD);
}

/* The same for a row of cells of boxes; the cell's coordinate on the last axis is added to it. */
TG_FN static inline uint32_t tg_map_row(uint32_t shelf, const uint64_t *at, uint32_t n)
{
    uint64_t row = shelf;
    for (uint32_t i = 0; i < n; i++) {
        row = (row + at[i]) * TG_MAP_SPREAD;
        row ^= row >> 32;
    }
    return (uint32_t)row;
}

TG_FN void tg_shelves_init(struct tg_tensormap *map);

/* The place for a region by all bytes from its first to its last. */
TG_FN static inline void tg_shelves_place_span(const struct tg_region *region,
                                               struct tg_map_place *place)
{
    uint64_t length = region->hi - region->lo, size, end;
    place->shelf = tg_map_level(length);
    place->cell = tg_map_cell(place->shelf, region->lo >> place->shelf);
    size = (uint64_t)1 << place->shelf;
    end = (region->lo & (size - 1)) + length;
    place->beyond = end > size ? end - size : 0;
}

/* The place for a region with outer dimensions. `box` may hold its box already. */
TG_FN void tg_shelves_place(struct tg_tensormap *map, const struct tg_region *region,
                            struct tg_map_box *box, struct tg_map_place *place);

/* The cells of a shelf of boxes where regions that meet the box may lie. Returns false if they are more
 * than the shelf has regions. */
TG_FN bool tg_shelves_cells(const struct tg_tensormap *map, uint32_t shelf,
                            const struct tg_box *box, struct tg_cells *cells);

#endif
