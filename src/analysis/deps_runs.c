/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <taskglass/recording.h>
#include <taskglass/tensor.h>

#include "analysis/deps_memory.h"

struct dim {
    int64_t count, stride; /* elements */
};

/* A view in as few dimensions as possible, each longer than 1. */
struct layout {
    int64_t start; /* elements */
    int ndim;
    struct dim dim[TG_MAX_DIMS];
};

/* False for a tensor that takes no memory. The shape is asked too, because `bytes` of a record that no
 * writer made need not follow from it. */
static bool is_somewhere(const struct tg_record *record)
{
    for (int i = 0; i < record->ndim && i < TG_MAX_DIMS; i++)
        if (record->shape[i] <= 0)
            return false;
    return record->kind == TG_KIND_TENSOR && record->data_ptr != 0 && record->bytes > 0 &&
           tg_bits_of(record->dtype) > 0;
}

/* Joins dimensions that are contiguous in memory. */
static void simplify(const struct tg_record *record, struct layout *layout)
{
    *layout = (struct layout){.start = record->start};
    for (int i = 0; i < record->ndim && i < TG_MAX_DIMS; i++) {
        struct dim dim = {record->shape[i], record->strides[i]};
        struct dim *last = layout->ndim > 0 ? &layout->dim[layout->ndim - 1] : NULL;
        int64_t reach, count;
        if (dim.count == 1)
            continue;
        if (last && !__builtin_mul_overflow(dim.count, dim.stride, &reach) &&
            reach == last->stride && !__builtin_mul_overflow(last->count, dim.count, &count)) {
            *last = (struct dim){count, dim.stride};
            continue;
        }
        layout->dim[layout->ndim++] = dim;
    }
}

bool tg_view_is_run(const struct tg_record *record, uint64_t *lo, uint64_t *hi)
{
    int64_t elements = 1, bits = tg_bits_of(record->dtype), size = bits / 8;
    const int64_t far = INT64_MAX / 64;
    if (!is_somewhere(record) || bits < 8 || record->start < 0 || record->start > far / size)
        return false;
    for (int i = record->ndim - 1; i >= 0; i--) {
        if (i >= TG_MAX_DIMS || record->shape[i] <= 0 ||
            (record->shape[i] != 1 && record->strides[i] != elements) ||
            __builtin_mul_overflow(elements, record->shape[i], &elements) || elements > far / size)
            return false;
    }
    *lo = record->data_ptr + (uint64_t)(record->start * size);
    *hi = *lo + (uint64_t)(elements * size);
    return *lo < *hi;
}

/* Spreads the bits of a number over all bits. */
static uint64_t mix(uint64_t number)
{
    number = (number ^ number >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    number = (number ^ number >> 27) * UINT64_C(0x94D049BB133111EB);
    return number ^ number >> 31;
}

/* Views of one run have the same key if they have the same bytes and the same size of element. */
static uint64_t key_of_run(const struct tg_record *record, uint64_t lo, uint64_t hi)
{
    uint64_t key = mix(mix(mix(lo) + (hi - lo)) + tg_bits_of(record->dtype));
    return key ? key : 1;
}

uint64_t tg_view_key(const struct tg_record *record)
{
    uint64_t lo, hi;
    struct {
        uint64_t address;
        int64_t bits, ndim;
        struct layout layout;
    } view;
    if (!is_somewhere(record))
        return 0;
    if (tg_view_is_run(record, &lo, &hi))
        return key_of_run(record, lo, hi);
    memset(&view, 0, sizeof view); /* clears the padding too */
    simplify(record, &view.layout);
    view.address = record->data_ptr;
    view.bits = tg_bits_of(record->dtype);
    view.ndim = view.layout.ndim;
    uint64_t key = tg_content_hash(&view, sizeof view);
    return key ? key : 1;
}

static int by_stride(const void *a, const void *b)
{
    const struct dim *left = a, *right = b;
    return (left->stride > right->stride) - (left->stride < right->stride);
}

/* Makes all strides positive, sorts the smallest first, and drops strides of 0: the same bytes in
 * another order. */
static bool straighten(struct layout *layout)
{
    int kept = 0;
    for (int i = 0; i < layout->ndim; i++) {
        struct dim dim = layout->dim[i];
        int64_t reach;
        if (dim.stride == INT64_MIN || __builtin_mul_overflow(dim.count - 1, dim.stride, &reach))
            return false;
        if (dim.stride < 0) {
            if (__builtin_add_overflow(layout->start, reach, &layout->start))
                return false;
            dim.stride = -dim.stride;
        }
        if (dim.stride != 0)
            layout->dim[kept++] = dim;
    }
    layout->ndim = kept;
    qsort(layout->dim, (size_t)kept, sizeof layout->dim[0], by_stride);
    return true;
}

/* Joins the dimensions that leave no gaps into one run of elements; the others stay. */
static bool take_run(struct layout *layout, int64_t *run)
{
    int inner = 0;
    *run = 1;
    for (; inner < layout->ndim && layout->dim[inner].stride <= *run; inner++) {
        const struct dim *dim = &layout->dim[inner];
        int64_t reach;
        if (__builtin_mul_overflow(dim->count - 1, dim->stride, &reach) ||
            __builtin_add_overflow(reach, *run, run))
            return false;
    }
    layout->ndim -= inner;
    memmove(layout->dim, layout->dim + inner, (size_t)layout->ndim * sizeof layout->dim[0]);
    return true;
}

/* Joins all runs into one if there are too many. Returns false if the view leaves 64 bits. */
static bool limit_runs(struct layout *layout, int64_t *run)
{
    int64_t runs = 1;
    bool many = false;
    for (int i = 0; i < layout->ndim; i++)
        many = many || __builtin_mul_overflow(runs, layout->dim[i].count, &runs) ||
               runs > TG_MOST_RUNS;
    if (!many)
        return true;
    for (int i = 0; i < layout->ndim; i++) {
        int64_t reach;
        if (__builtin_mul_overflow(layout->dim[i].count - 1, layout->dim[i].stride, &reach) ||
            __builtin_add_overflow(*run, reach, run))
            return false;
    }
    layout->ndim = 0;
    return true;
}

/* Converts elements to bytes, with half-used bytes included. Returns false if the result leaves 64
 * bits. */
static bool bytes_of(const struct tg_record *record, int64_t first, int64_t count, uint64_t *lo,
                     uint64_t *hi)
{
    const int64_t far = INT64_MAX / 2;
    int64_t bits = tg_bits_of(record->dtype), begin, end, from, to;
    if (__builtin_mul_overflow(first, bits, &begin) || __builtin_add_overflow(first, count, &end) ||
        __builtin_mul_overflow(end, bits, &end) || begin < -far || end > far)
        return false;
    from = begin >= 0 ? begin / 8 : -((-begin + 7) / 8);
    to = end >= 0 ? (end + 7) / 8 : -(-end / 8);
    *lo = record->data_ptr + (uint64_t)from;
    *hi = record->data_ptr + (uint64_t)to;
    return *lo < *hi;
}

static bool take_runs(const struct tg_record *record, const struct layout *layout, int64_t run,
                      tg_run_fn take, void *context)
{
    int64_t at[TG_MAX_DIMS] = {0}, first = layout->start;
    uint64_t lo, hi;
    for (;;) {
        if (bytes_of(record, first, run, &lo, &hi) && !take(context, lo, hi))
            return false;
        int i = 0;
        for (; i < layout->ndim; i++) {
            const struct dim *dim = &layout->dim[i];
            if (++at[i] < dim->count) {
                first += dim->stride;
                break;
            }
            first -= (dim->count - 1) * dim->stride;
            at[i] = 0;
        }
        if (i == layout->ndim)
            return true;
    }
}

/* The index of the furthest element must fit into 64 bits, so that every step to it does. */
static bool fits(const struct layout *layout, int64_t run)
{
    int64_t end, reach;
    if (__builtin_add_overflow(layout->start, run, &end))
        return false;
    for (int i = 0; i < layout->ndim; i++)
        if (__builtin_mul_overflow(layout->dim[i].count - 1, layout->dim[i].stride, &reach) ||
            __builtin_add_overflow(end, reach, &end))
            return false;
    return true;
}

bool tg_view_runs(const struct tg_record *record, tg_run_fn take, void *context)
{
    struct layout layout;
    int64_t run;
    if (!is_somewhere(record))
        return true;
    simplify(record, &layout);
    if (!straighten(&layout) || !take_run(&layout, &run) || !limit_runs(&layout, &run) ||
        !fits(&layout, run))
        return true;
    return take_runs(record, &layout, run, take, context);
}
