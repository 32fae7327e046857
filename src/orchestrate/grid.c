/* SPDX-License-Identifier: Apache-2.0 */
#include "orchestrate/grid.h"

/* The strides of the region's grid, the smallest first. Returns how many there are. */
TG_FN static uint32_t chain_of(const struct tg_region *region, uint64_t *chain)
{
    uint32_t n = 0;
    for (uint32_t i = region->n_outer; i-- > 0 && n < TG_GRID_STRIDES;) {
        uint64_t stride = region->stride[i];
        if (n == 0 || (stride > chain[n - 1] && stride % chain[n - 1] == 0))
            chain[n++] = stride;
    }
    return n;
}

TG_FN void tg_grid_set_shift(struct tg_grid *grid, const struct tg_region *region)
{
    uint64_t in_row = region->lo % grid->stride[0];
    grid->shift = in_row == 0 ? 0 : grid->stride[0] - in_row;
}

TG_FN void tg_grid_of(const struct tg_region *region, struct tg_grid *grid)
{
    uint64_t chain[TG_GRID_STRIDES];
    uint32_t n = chain_of(region, chain);
    grid->n = n;
    grid->radix[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        grid->stride[i] = chain[n - 1 - i];
        grid->inverse[i] = UINT64_MAX / grid->stride[i];
        if (i > 0)
            grid->radix[i] = grid->stride[i - 1] / grid->stride[i];
    }
    grid->radix[n] = grid->stride[n - 1];
    tg_grid_set_shift(grid, region);
}

TG_FN bool tg_grid_is_of(const struct tg_grid *grid, const struct tg_region *region)
{
    uint64_t chain[TG_GRID_STRIDES];
    bool same = grid->n == region->n_outer;
    for (uint32_t i = 0; same && i < grid->n; i++)
        same = grid->stride[i] == region->stride[i];
    /* Otherwise the region may have strides that do not fit into a grid. */
    if (same || region->n_outer == 1 ||
        grid->stride[grid->n - 1] != region->stride[region->n_outer - 1])
        return same;
    same = chain_of(region, chain) == grid->n;
    for (uint32_t i = 0; same && i < grid->n; i++)
        same = grid->stride[i] == chain[grid->n - 1 - i];
    return same;
}

/* Adds `times` times the coordinates of a distance to the box's lengths. */
TG_FN static inline void lengthen(const struct tg_grid *grid, uint64_t distance, uint64_t times,
                                  struct tg_box *box)
{
    for (uint32_t i = 0; i < grid->n; i++) {
        uint64_t stride = grid->stride[i];
        if (distance == stride) { /* the usual case needs no division */
            box->length[i] += times;
            return;
        }
        if (distance > stride) {
            box->length[i] += distance / stride * times;
            distance %= stride;
        }
    }
    box->length[grid->n] += distance * times;
}

TG_FN void tg_grid_box(const struct tg_grid *grid, const struct tg_region *region,
                       struct tg_box *box)
{
    tg_grid_at(grid, region->lo, box->at);
    for (uint32_t i = 0; i < grid->n; i++)
        box->length[i] = 1;
    box->length[grid->n] = region->run;
    for (uint32_t i = 0; i < region->n_outer; i++)
        lengthen(grid, region->stride[i], region->count[i] - 1, box);
    for (uint32_t i = grid->n; i > 0; i--) {
        uint64_t radix = grid->radix[i], last = box->at[i] + box->length[i] - 1;
        if (last >= radix)
            box->length[i - 1] += last / radix;
        if (box->length[i] >= radix) {
            box->at[i] = 0;
            box->length[i] = radix;
        }
    }
}

TG_FN bool tg_boxes_meet(const struct tg_grid *grid, const struct tg_box *a, const struct tg_box *b)
{
    bool meet = true;
    for (uint32_t i = 0; i <= grid->n; i++)
        meet &= tg_grid_meet(grid->radix[i], a->at[i], a->length[i], b->at[i], b->length[i]);
    return meet;
}

TG_FN uint32_t tg_grid_parts(const struct tg_grid *grid, const struct tg_region *region,
                             const struct tg_box *box, struct tg_grid_split *part)
{
    bool wide = false;
    for (uint32_t i = 1; i <= grid->n; i++)
        wide |= box->length[i] == grid->radix[i];
    for (uint32_t dim = 0; wide && dim < region->n_outer; dim++)
        for (uint32_t i = grid->n; i-- > 0;) {
            uint64_t stride = region->stride[dim], of = grid->stride[i];
            if (of > stride && of <= stride * TG_GRID_PARTS && of % stride == 0) {
                uint64_t n = of / stride, count = region->count[dim];
                part->dim = dim;
                part->n = (uint32_t)n;
                return (uint32_t)(n < count ? n : count);
            }
        }
    return 1;
}

TG_FN void tg_grid_take_part(const struct tg_region *region, const struct tg_grid_split *part,
                             uint32_t which, struct tg_region *to)
{
    uint64_t count = region->count[part->dim];
    *to = *region;
    to->lo = region->lo + which * region->stride[part->dim];
    to->count[part->dim] = (count - which + part->n - 1) / part->n;
    to->stride[part->dim] = region->stride[part->dim] * part->n;
}
