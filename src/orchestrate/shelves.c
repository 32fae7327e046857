/* SPDX-License-Identifier: Apache-2.0 */
#include "orchestrate/shelves.h"

TG_FN void tg_shelves_init(struct tg_tensormap *map)
{
    map->levels = map->boxed = 0;
    map->grids = map->n_grids = 0;
    for (uint32_t i = 0; i < TG_MAP_SHELVES; i++) {
        struct tg_map_shelf *shelf = &map->shelf[i];
        shelf->first = shelf->last = shelf->count = 0;
        shelf->grid = 0;
        for (uint32_t axis = 0; axis < TG_GRID_AXES; axis++)
            shelf->level[axis] = (uint8_t)(i < TG_MAP_LEVELS ? i : 0);
    }
}

/* ── choosing a shelf ──────────────────────────────────────────────────────────────────── */

/* Returns a shelf without regions for the grid, or TG_MAP_BOXED. */
TG_FN static uint32_t take_shelf(struct tg_tensormap *map, struct tg_map_grid *grid)
{
    uint32_t at;
    if (~map->boxed != 0) {
        at = tg_target_lowest_bit(~map->boxed);
    } else {
        struct tg_map_grid *owner = map->grid;
        while (owner < map->grid + map->n_grids && owner->owns == owner->used)
            owner++;
        if (owner == map->grid + map->n_grids)
            return TG_MAP_BOXED;
        at = tg_target_lowest_bit(owner->owns & ~owner->used);
        owner->owns &= ~((uint64_t)1 << at);
    }
    map->boxed |= (uint64_t)1 << at;
    grid->owns |= (uint64_t)1 << at;
    return at;
}

TG_FN static bool is_for(const struct tg_map_shelf *shelf, const uint8_t *level)
{
    bool same = true;
    for (uint32_t i = 0; i < TG_GRID_AXES; i++)
        same &= shelf->level[i] == level[i];
    return same;
}

/* Returns the grid's shelf for boxes of that size, or TG_MAP_SHELVES. */
TG_FN static uint32_t choose_shelf(struct tg_tensormap *map, uint32_t number, const uint8_t *level)
{
    struct tg_map_grid *grid = &map->grid[number];
    uint32_t at;
    for (uint64_t owns = grid->owns; owns; owns &= owns - 1) {
        at = TG_MAP_LEVELS + tg_target_lowest_bit(owns);
        if (is_for(&map->shelf[at], level))
            return at;
    }
    at = TG_MAP_LEVELS + take_shelf(map, grid);
    if (at == TG_MAP_SHELVES)
        return at;
    map->shelf[at].grid = (uint8_t)number;
    for (uint32_t i = 0; i < TG_GRID_AXES; i++)
        map->shelf[at].level[i] = level[i];
    return at;
}

/* ── cells of boxes ────────────────────────────────────────────────────────────────────── */

/* The cell of a coordinate that has been shifted. What matters is only that a larger coordinate never has
 * a smaller cell. */
TG_FN static inline uint64_t cell_of(const struct tg_map_axis *axis, uint64_t at)
{
    return tg_target_high_product(at, axis->inverse);
}

/* Coordinates are cyclic but on axis 0, which has the radix 0. */
TG_FN static inline uint64_t shifted(const struct tg_map_axis *axis, uint64_t radix, uint64_t at)
{
    at += axis->shift;
    return radix != 0 && at >= radix ? at - radix : at;
}

/* True if some of `length` coordinates from `at` are not in the cell of the first. */
TG_FN static inline bool crosses(const struct tg_map_axis *axis, uint64_t radix, uint64_t at,
                                 uint64_t length)
{
    at = shifted(axis, radix, at);
    return cell_of(axis, at + length - 1) != cell_of(axis, at) ||
           (radix != 0 && at + length > radix);
}

/* The first region of a shelf decides how an axis is divided. */
TG_FN static void divide(struct tg_map_axis *axis, uint64_t radix, uint64_t at, uint64_t size)
{
    axis->inverse = size == 1 ? UINT64_MAX : UINT64_MAX / size + 1;
    axis->back = axis->longest = 0;
    axis->last = radix != 0 ? cell_of(axis, radix - 1) : UINT64_MAX;
    if (radix != 0)
        axis->shift = at == 0 ? 0 : radix - at;
    else
        axis->shift = at % size == 0 ? 0 : size - at % size;
}

/* Returns the cell for a region's box, and sees to it that searches find it there. */
TG_FN static uint32_t enter_box(struct tg_map_shelf *shelf, uint32_t number,
                                const struct tg_grid *grid, const struct tg_box *box)
{
    uint64_t cell[TG_GRID_AXES];
    for (uint32_t i = 0; i <= grid->n; i++) {
        struct tg_map_axis *axis = &shelf->axis[i];
        uint64_t length = box->length[i], at;
        if (shelf->count == 0)
            divide(axis, grid->radix[i], box->at[i], length);
        at = shifted(axis, grid->radix[i], box->at[i]);
        cell[i] = cell_of(axis, at);
        if (axis->longest < length)
            axis->longest = length;
        if (axis->back < length - 1 && crosses(axis, grid->radix[i], box->at[i], length))
            axis->back = length - 1;
    }
    return tg_map_row(number, cell, grid->n) + (uint32_t)cell[grid->n];
}

/* ── choosing a grid ───────────────────────────────────────────────────────────────────── */

TG_FN static void level_of(const struct tg_grid *grid, const struct tg_box *box, uint8_t *level)
{
    for (uint32_t i = 0; i < TG_GRID_AXES; i++)
        level[i] = i <= grid->n ? (uint8_t)tg_map_level(box->length[i]) : 0;
}

/* True if the region lies in memory of the grid's regions, or its box lies in one cell like theirs. So
 * each matrix gets a grid of its own, unless its rows begin where those of another one do. */
TG_FN static bool suits(const struct tg_tensormap *map, const struct tg_map_grid *grid,
                        const struct tg_region *region, const struct tg_box *box)
{
    uint8_t level[TG_GRID_AXES];
    if (region->lo < grid->hi && grid->lo < region->hi)
        return true;
    level_of(&grid->grid, box, level);
    for (uint64_t used = grid->used; used; used &= used - 1) {
        const struct tg_map_shelf *shelf = &map->shelf[TG_MAP_LEVELS + tg_target_lowest_bit(used)];
        bool fits = is_for(shelf, level);
        for (uint32_t i = 0; fits && i <= grid->grid.n; i++)
            fits = !crosses(&shelf->axis[i], grid->grid.radix[i], box->at[i], box->length[i]);
        if (fits)
            return true;
    }
    return false;
}

/* Makes a grid, in place of one without regions if need be: at best of `idle`, which has the same
 * strides. Returns TG_MAP_GRIDS if there is no room. */
TG_FN static uint32_t make_grid(struct tg_tensormap *map, const struct tg_region *region,
                                uint32_t idle)
{
    uint32_t at = idle;
    if (idle != TG_MAP_GRIDS) {
        tg_grid_set_shift(&map->grid[at].grid, region);
        return at;
    }
    for (at = 0; at < map->n_grids && (map->grids >> at & 1) != 0;)
        at++;
    if (at == TG_MAP_GRIDS)
        return at;
    if (at == map->n_grids)
        map->n_grids++;
    else
        map->boxed &= ~map->grid[at].owns;
    tg_grid_of(region, &map->grid[at].grid);
    map->grid[at].owns = map->grid[at].used = 0;
    map->grid[at].lo = map->grid[at].hi = 0;
    return at;
}

/* Returns the grid for the region, or TG_MAP_GRIDS, and the region's box in it. */
TG_FN static uint32_t choose_grid(struct tg_tensormap *map, const struct tg_region *region,
                                  struct tg_map_box *box)
{
    uint32_t alike = 0, first = TG_MAP_GRIDS, idle = TG_MAP_GRIDS, chosen;
    for (uint32_t at = 0; at < map->n_grids; at++) {
        const struct tg_map_grid *grid = &map->grid[at];
        if (!tg_grid_is_of(&grid->grid, region))
            continue;
        if (grid->used == 0) {
            idle = at;
            continue;
        }
        if (box->grid != at + 1)
            tg_grid_box(&grid->grid, region, &box->box);
        box->grid = at + 1;
        if (suits(map, grid, region, &box->box))
            return at;
        if (alike++ == 0)
            first = at;
    }
    chosen = alike < TG_MAP_ALIKE ? make_grid(map, region, idle) : TG_MAP_GRIDS;
    if (chosen == TG_MAP_GRIDS)
        chosen = first;
    if (chosen != TG_MAP_GRIDS)
        tg_grid_box(&map->grid[chosen].grid, region, &box->box);
    return chosen;
}

TG_FN void tg_shelves_place(struct tg_tensormap *map, const struct tg_region *region,
                            struct tg_map_box *box, struct tg_map_place *place)
{
    uint32_t number = choose_grid(map, region, box);
    uint8_t level[TG_GRID_AXES];
    const struct tg_grid *grid;
    tg_shelves_place_span(region, place);
    if (number == TG_MAP_GRIDS)
        return;
    grid = &map->grid[number].grid;
    level_of(grid, &box->box, level);
    place->shelf = choose_shelf(map, number, level);
    if (place->shelf == TG_MAP_SHELVES) {
        tg_shelves_place_span(region, place);
        return;
    }
    place->cell = enter_box(&map->shelf[place->shelf], place->shelf, grid, &box->box);
}

/* ── choosing cells ────────────────────────────────────────────────────────────────────── */

/* The cells of regions that can meet `length` coordinates from `at`. */
TG_FN static inline void cells_in_line(const struct tg_map_axis *axis, uint64_t at, uint64_t length,
                                       struct tg_cells *cells)
{
    at += axis->shift;
    cells->first[0] = cell_of(axis, at > axis->back ? at - axis->back : 0);
    cells->count[0] = cell_of(axis, at + length - 1) - cells->first[0] + 1;
    cells->last[0] = axis->last;
}

/* The same where coordinates are cyclic. */
TG_FN static inline void cells_in_circle(const struct tg_map_axis *axis, uint64_t radix,
                                         uint64_t at, uint64_t length, uint32_t i,
                                         struct tg_cells *cells)
{
    uint64_t from, to, last = axis->last;
    cells->last[i] = last;
    cells->first[i] = 0;
    cells->count[i] = last + 1;
    if (length + axis->back >= radix)
        return;
    at = shifted(axis, radix, at);
    from = at >= axis->back ? at - axis->back : at + radix - axis->back;
    to = at + length - 1;
    if (to < radix && from <= to) {
        cells->first[i] = cell_of(axis, from);
        cells->count[i] = cell_of(axis, to) - cells->first[i] + 1;
        return;
    }
    from = cell_of(axis, from);
    to = cell_of(axis, to < radix ? to : to - radix);
    if (to >= from)
        return;
    cells->first[i] = from;
    cells->count[i] = last - from + 1 + to + 1;
}

TG_FN bool tg_shelves_cells(const struct tg_tensormap *map, uint32_t number,
                            const struct tg_box *box, struct tg_cells *cells)
{
    const struct tg_map_shelf *shelf = &map->shelf[number];
    const struct tg_grid *grid = &map->grid[shelf->grid].grid;
    uint64_t total = 1;
    cells->n = grid->n;
    for (uint32_t i = 0; i <= grid->n; i++) {
        if (i == 0)
            cells_in_line(&shelf->axis[i], box->at[i], box->length[i], cells);
        else
            cells_in_circle(&shelf->axis[i], grid->radix[i], box->at[i], box->length[i], i, cells);
        if (cells->count[i] > shelf->count)
            return false;
        total *= cells->count[i]; /* both were below 2^32 */
        if (total > shelf->count)
            return false;
    }
    cells->total = total;
    return true;
}
