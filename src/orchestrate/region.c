/* SPDX-License-Identifier: Apache-2.0 */
#include "orchestrate/region.h"
#include "common/stored_args.h"
#include "orchestrate/grid.h"

/* A view being analysed: contiguous bits, and the dimensions that repeat them, the smallest stride
 * first. */
struct dims {
    int64_t start; /* bits */
    int64_t run;
    int n;
    int64_t count[TG_MAX_DIMS], stride[TG_MAX_DIMS];
};

/* If shapes, steps and the products of shapes are below these, nothing in nested() overflows. */
#define SMALL ((int64_t)1 << 27)
#define SMALL_STEP ((int64_t)1 << 31)

/* The commonest views of one or two dimensions, in a few instructions: a vector, a matrix, or a tile of
 * one, by row. Returns false if it is none of them. */
TG_FN static inline bool is_tile(const struct tg_tensor *t, struct tg_region *region)
{
    const int last = t->ndim - 1;
    const int64_t run = t->shape[last], rows = last == 0 ? 1 : t->shape[0];
    const int64_t step = last == 0 ? run : t->strides[0];
    uint64_t bytes = tg_bits_of(t->dtype) / 8;
    uint64_t all = (uint64_t)run | (uint64_t)rows | (uint64_t)step | (uint64_t)t->start;
    int64_t reach;
    /* A negative number is a very large one here. */
    if (all >= (uint64_t)SMALL || t->strides[last] != 1 || rows == 0 || run == 0 || step < run)
        return false;
    reach = run + (rows - 1) * step;
    if (bytes == 0 || (uint64_t)(t->start + reach) * bytes > t->storage_bytes)
        return false;
    region->lo = t->addr + (uint64_t)t->start * bytes;
    region->hi = region->lo + (uint64_t)reach * bytes;
    region->n_outer = step != run && rows != 1;
    region->run = (uint64_t)(region->n_outer ? run : reach) * bytes;
    region->form = step == run ? TG_STORED_NARROW | TG_STORED_ROW_MAJOR : TG_STORED_NARROW;
    region->count[0] = (uint64_t)rows;
    region->stride[0] = (uint64_t)step * bytes;
    return true;
}

/* A view whose dimensions lie inside each other, counted in elements: the innermost first. */
struct nest {
    int64_t run, reach; /* elements of a run, and from the first to the last of all */
    uint32_t n;
    int64_t count[TG_MAX_OUTER], step[TG_MAX_OUTER];
};

TG_FN static inline bool add_outer(struct nest *nest, int64_t count, int64_t step)
{
    uint32_t n = nest->n;
    if (n == 0 && step == nest->run) {
        nest->run *= count;
        nest->reach = nest->run;
        return true;
    }
    if (step < nest->reach || step >= SMALL_STEP)
        return false;
    nest->reach += (count - 1) * step;
    if (n > 0 && step == nest->count[n - 1] * nest->step[n - 1]) {
        nest->count[n - 1] *= count;
        return true;
    }
    if (n == TG_MAX_OUTER || nest->reach >= (int64_t)1 << 50)
        return false;
    nest->count[n] = count;
    nest->step[n] = step;
    nest->n = n + 1;
    return true;
}

/* For a view that is contiguous, or a tile of a tensor whose dimensions are in the usual order, as most
 * are: needs no sorting and no division. Returns false if it is not one. */
TG_FN static bool nested(const struct tg_tensor *t, struct tg_region *region)
{
    uint64_t bytes = tg_bits_of(t->dtype) / 8, odd = 0;
    int64_t n = 1;
    bool plain = true;
    struct nest nest;
    nest.run = nest.reach = 1;
    nest.n = 0;
    if (t->ndim > TG_MAX_DIMS)
        return false;
    for (int i = t->ndim - 1; i >= 0; i--) {
        int64_t count = t->shape[i], step = t->strides[i];
        plain &= step == n;
        odd |= tg_stored_excess(step);
        if (count == 1)
            continue;
        if (count <= 0 || count >= SMALL || !add_outer(&nest, count, step))
            return false;
        n *= count;
        if (n >= SMALL)
            return false;
    }
    if (bytes == 0 || t->start < 0 || t->start >= SMALL ||
        (uint64_t)(t->start + nest.reach) * bytes > t->storage_bytes)
        return false;
    region->lo = t->addr + (uint64_t)t->start * bytes;
    region->hi = region->lo + (uint64_t)nest.reach * bytes;
    region->run = (uint64_t)nest.run * bytes;
    region->n_outer = nest.n;
    region->form = plain ? TG_STORED_NARROW | TG_STORED_ROW_MAJOR : odd ? 0 : TG_STORED_NARROW;
    for (uint32_t i = 0; i < nest.n; i++) {
        region->count[i] = (uint64_t)nest.count[nest.n - 1 - i];
        region->stride[i] = (uint64_t)nest.step[nest.n - 1 - i] * bytes;
    }
    return true;
}

/* Inserts the dimension in order of its stride; leaves it out if the stride is 0. */
TG_FN static void add_dim(struct dims *d, int64_t count, int64_t stride)
{
    int at = d->n;
    if (stride == 0)
        return;
    if (stride < 0) {
        d->start += (count - 1) * stride;
        stride = -stride;
    }
    for (; at > 0 && d->stride[at - 1] > stride; at--) {
        d->count[at] = d->count[at - 1];
        d->stride[at] = d->stride[at - 1];
    }
    d->count[at] = count;
    d->stride[at] = stride;
    d->n++;
}

/* Joins dimensions that continue the run, or one another. */
TG_FN static void merge(struct dims *d)
{
    int kept = 0;
    for (int i = 0; i < d->n; i++) {
        if (kept == 0 && d->stride[i] <= d->run) {
            d->run += (d->count[i] - 1) * d->stride[i];
        } else if (kept > 0 && d->stride[i] == d->count[kept - 1] * d->stride[kept - 1]) {
            d->count[kept - 1] *= d->count[i];
        } else {
            d->count[kept] = d->count[i];
            d->stride[kept++] = d->stride[i];
        }
    }
    d->n = kept;
}

TG_FN static int64_t extent(const struct dims *d)
{
    int64_t bits = d->run;
    for (int i = 0; i < d->n; i++)
        bits += (d->count[i] - 1) * d->stride[i];
    return bits;
}

/* Rounds bits to whole bytes: two views that share a byte count as meeting. */
TG_FN static void to_bytes(struct dims *d, uint64_t addr, struct tg_region *region)
{
    int64_t first = d->start / 8, last = (d->start + extent(d) + 7) / 8;
    bool odd = false;
    for (int i = 0; i < d->n; i++)
        odd |= d->stride[i] % 8 != 0;
    region->lo = addr + (uint64_t)first;
    region->hi = addr + (uint64_t)last;
    region->run = (uint64_t)((d->start % 8 + d->run + 7) / 8);
    region->n_outer = (uint32_t)d->n;
    if (odd) {
        region->run = region->hi - region->lo;
        region->n_outer = 0;
    }
    for (uint32_t i = 0; i < region->n_outer; i++) {
        region->count[i] = (uint64_t)d->count[d->n - 1 - (int)i];
        region->stride[i] = (uint64_t)d->stride[d->n - 1 - (int)i] / 8;
    }
}

/* Apart, so that the common case does not save registers and make room for what it does not use. */
TG_FN TG_APART static bool region_of_any(const struct tg_tensor *t, struct tg_region *region)
{
    int64_t bits;
    struct dims d;
    if (nested(t, region))
        return true;
    region->lo = region->hi = region->run = 0;
    region->n_outer = region->form = 0;
    if (!tg_tensor_valid(t))
        return false;
    if (tg_tensor_numel(t) == 0)
        return true;
    bits = (int64_t)tg_bits_of(t->dtype);
    d.start = t->start * bits;
    d.run = bits;
    d.n = 0;
    for (int i = 0; i < t->ndim; i++)
        if (t->shape[i] > 1) /* otherwise the stride is never used and may be anything */
            add_dim(&d, t->shape[i], t->strides[i] * bits);
    merge(&d);
    if (d.n > TG_MAX_OUTER) { /* eight dimensions, each with gaps */
        d.run = extent(&d);
        d.n = 0;
    }
    to_bytes(&d, t->addr, region);
    return true;
}

TG_FN bool tg_region_of(const struct tg_tensor *t, struct tg_region *region)
{
    if ((t->ndim == 1 || t->ndim == 2) && is_tile(t, region))
        return true;
    return region_of_any(t, region);
}

/* ── do two meet? ──────────────────────────────────────────────────────────────────────── */

/* The number of places to try before a pair counts as meeting. */
enum { MOST_TRIES = 512 };

/* The bytes from the first to the last of the region, with the dimensions before `from` fixed. */
TG_FN static int64_t reach(const struct tg_region *r, uint32_t from)
{
    int64_t bytes = (int64_t)r->run;
    for (uint32_t i = from; i < r->n_outer; i++)
        bytes += (int64_t)((r->count[i] - 1) * r->stride[i]);
    return bytes;
}

TG_FN static int64_t floor_div(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

TG_FN static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

TG_FN static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/*
 * a's dimensions from `ia` and b's from `ib` are not fixed yet, and b's part begins `delta` bytes
 * after a's. Fixes the widest dimension next, and tries only the places where the two still reach
 * each other. With i repeats of a's and j of b's, delta changes by stride · (j - i).
 */
TG_FN static bool meet(const struct tg_region *a, uint32_t ia, const struct tg_region *b,
                       uint32_t ib, int64_t delta, int *tries)
{
    int64_t stride_a = ia < a->n_outer ? (int64_t)a->stride[ia] : 0;
    int64_t stride_b = ib < b->n_outer ? (int64_t)b->stride[ib] : 0;
    int64_t stride = larger(stride_a, stride_b), from, to;
    if (delta >= reach(a, ia) || -delta >= reach(b, ib))
        return false;
    if (stride == 0 || --*tries < 0)
        return true;
    from = stride_b == stride ? -((int64_t)b->count[ib] - 1) : 0;
    to = stride_a == stride ? (int64_t)a->count[ia] - 1 : 0;
    ia += stride_a == stride;
    ib += stride_b == stride;
    /* d = i - j must leave delta - d · stride in (-reach b, reach a). */
    from = larger(from, floor_div(delta - reach(a, ia), stride) + 1);
    to = smaller(to, floor_div(delta + reach(b, ib) - 1, stride));
    for (int64_t d = from; d <= to; d++)
        if (meet(a, ia, b, ib, delta - d * stride, tries))
            return true;
    return false;
}

/* False if their boxes in one of their grids show that they do not meet. */
TG_FN static bool boxes_meet(const struct tg_region *a, const struct tg_region *b)
{
    for (int i = 0; i < 2; i++) {
        const struct tg_region *of = i == 0 ? a : b;
        struct tg_grid grid;
        struct tg_box box_a, box_b;
        if (of->n_outer == 0)
            continue;
        tg_grid_of(of, &grid);
        tg_grid_box(&grid, a, &box_a);
        tg_grid_box(&grid, b, &box_b);
        if (!tg_boxes_meet(&grid, &box_a, &box_b))
            return false;
    }
    return true;
}

/* The tensor map compares few regions whose boxes lie apart, if it has their grid. If an answer was not
 * computed to the end, boxes decide here too, so that it hardly ever depends on the map. */
TG_FN bool tg_regions_meet(const struct tg_region *a, const struct tg_region *b)
{
    int tries = MOST_TRIES;
    if (a->lo >= b->hi || b->lo >= a->hi)
        return false;
    if (a->n_outer == 0 && b->n_outer == 0)
        return true;
    return meet(a, 0, b, 0, (int64_t)(b->lo - a->lo), &tries) && (tries >= 0 || boxes_meet(a, b));
}
