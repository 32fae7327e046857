/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making tensors and views of them. A tensor is a value (wire/tensor.h): copy it, keep it, pass
 * it by value; it owns nothing. All functions here are inline, allocate nothing, and work in
 * kernels and orchestration code on every device as well as on the host.
 *
 * A view that would leave its storage, or invalid parameters, give a tensor whose dtype is
 * TG_DTYPE_NONE. Submitting it is an error that names the source line and the first view of a chain that
 * was wrong, so a chain of views needs only one check, at its end (tg_tensor_valid).
 */
#ifndef TASKGLASS_TENSOR_H
#define TASKGLASS_TENSOR_H

#include <stdbool.h>
#include <taskglass/target.h>
#include <taskglass/wire/tensor.h>

/* No tensor has more elements than this, and no view reaches further, so that offsets can be added
 * and converted to bytes without overflow. */
#define TG_MAX_ELEMENTS ((int64_t)1 << 58)

/* Bits of one element; 0 for an invalid number. */
TG_INLINE unsigned tg_bits_of(unsigned dtype)
{
    switch (dtype) {
#define TG_BITS_CASE_(constant, number, bits, name, kind) \
    case TG_##constant:                                   \
        return bits;
        TG_DTYPE_MAP(TG_BITS_CASE_)
#undef TG_BITS_CASE_
    default:
        return 0;
    }
}

/* Bytes that n packed elements take; n must not be negative. */
TG_INLINE uint64_t tg_bytes_of(unsigned dtype, int64_t n)
{
    unsigned bits = tg_bits_of(dtype);
    return bits < 8 ? ((uint64_t)n * bits + 7) / 8 : (uint64_t)n * (bits / 8);
}

/* Makes `t` the invalid tensor. */
TG_INLINE void tg_tensor_clear(struct tg_tensor *t)
{
    t->addr = 0;
    t->storage_bytes = 0;
    t->start = 0;
    t->dtype = TG_DTYPE_NONE;
    t->ndim = 0;
    t->owner_depth = t->reserved = 0;
    t->owner = 0;
    for (int i = 0; i < TG_MAX_DIMS; i++)
        t->shape[i] = t->strides[i] = 0;
}

/* The invalid tensor, whose dtype is TG_DTYPE_NONE. */
TG_INLINE struct tg_tensor tg_tensor_none(void)
{
    struct tg_tensor none;
    tg_tensor_clear(&none);
    return none;
}

/* Copies all but the dimensions beyond ndim, which mean nothing. It copies word by word, because a
 * view was just made by storing single words, and wider loads right after such stores stall. */
TG_INLINE void tg_tensor_copy(struct tg_tensor *to, const struct tg_tensor *from)
{
    to->addr = from->addr;
    to->storage_bytes = from->storage_bytes;
    to->start = from->start;
    to->dtype = from->dtype;
    to->ndim = from->ndim;
    to->owner_depth = from->owner_depth;
    to->reserved = from->reserved;
    to->owner = from->owner;
    for (int i = 0; i < from->ndim && i < TG_MAX_DIMS; i++) {
        to->shape[i] = from->shape[i];
        to->strides[i] = from->strides[i];
        TG_ONE_BY_ONE();
    }
}

/* Elements of the view; 1 for ndim 0. Overflow of 2^62 gives -1. */
TG_INLINE int64_t tg_tensor_numel(const struct tg_tensor *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->ndim && i < TG_MAX_DIMS; i++) {
        /* Divides only if the product may be too large: a division costs more than all the rest. */
        if (((uint64_t)t->shape[i] | (uint64_t)n) >> 31 != 0 &&
            (t->shape[i] < 0 || (t->shape[i] > 0 && n > ((int64_t)1 << 62) / t->shape[i])))
            return -1;
        n *= t->shape[i];
    }
    return n;
}

/*
 * The smallest and largest element offset that the view touches, counted from addr. False, with
 * *lo > *hi, if the view is empty or the arithmetic would overflow.
 */
TG_INLINE bool tg_tensor_footprint(const struct tg_tensor *t, int64_t *lo, int64_t *hi)
{
    const int64_t limit = TG_MAX_ELEMENTS;
    int64_t low = t->start, high = t->start;
    *lo = 0;
    *hi = -1;
    if (t->start < -limit || t->start > limit)
        return false;
    for (int i = 0; i < t->ndim && i < TG_MAX_DIMS; i++) {
        int64_t stride = t->strides[i], magnitude, reach;
        if (t->shape[i] < 1)
            return false;
        if (t->shape[i] == 1 || stride == 0)
            continue;
        if (stride < -limit || stride > limit)
            return false;
        magnitude = stride < 0 ? -stride : stride;
        if ((uint64_t)(magnitude | (t->shape[i] - 1)) >> 29 != 0 &&
            t->shape[i] - 1 > limit / magnitude)
            return false;
        reach = (t->shape[i] - 1) * magnitude;
        if (stride < 0)
            low -= reach;
        else
            high += reach;
        if (low < -limit || high >= limit)
            return false;
    }
    *lo = low;
    *hi = high;
    return true;
}

/* True if dtype and rank are valid, no dimension is negative, and the view lies in its storage. */
TG_INLINE bool tg_tensor_valid(const struct tg_tensor *t)
{
    int64_t lo, hi, n;
    if (tg_bits_of(t->dtype) == 0 || t->ndim > TG_MAX_DIMS)
        return false;
    n = tg_tensor_numel(t);
    if (n <= 0)
        return n == 0;
    if (!tg_tensor_footprint(t, &lo, &hi))
        return false;
    return lo >= 0 && tg_bytes_of(t->dtype, hi + 1) <= t->storage_bytes;
}

/* True if the view is row-major without gaps: its bytes are one run from `start`. */
TG_INLINE bool tg_tensor_contiguous(const struct tg_tensor *t)
{
    int64_t expect = 1, n = tg_tensor_numel(t);
    if (n <= 0 || t->ndim > TG_MAX_DIMS)
        return n == 0;
    for (int i = t->ndim - 1; i >= 0; i--) {
        if (t->shape[i] != 1 && t->strides[i] != expect)
            return false;
        expect *= t->shape[i];
    }
    return true;
}

/* A whole row-major tensor at device address `addr`. */
TG_INLINE struct tg_tensor tg_tensor_make(uint64_t addr, unsigned dtype, int ndim,
                                          const int64_t *shape)
{
    struct tg_tensor t = tg_tensor_none();
    int64_t n = 1;
    if (tg_bits_of(dtype) == 0 || ndim < 0 || ndim > TG_MAX_DIMS)
        return t;
    t.ndim = (uint8_t)ndim;
    for (int i = ndim - 1; i >= 0; i--) {
        if (shape[i] < 0 || shape[i] > TG_MAX_ELEMENTS / n)
            return tg_tensor_none();
        t.shape[i] = shape[i];
        t.strides[i] = n;
        n *= shape[i] > 0 ? shape[i] : 1;
    }
    t.addr = addr;
    t.dtype = (uint8_t)dtype;
    t.storage_bytes = tg_bytes_of(dtype, tg_tensor_numel(&t));
    return t;
}

/*
 * Views. These functions are not inlined, because orchestrations make views for every task: a
 * compiler that inlines them keeps single words of the 160 bytes in registers, stores them and loads
 * them wide, and each time the processor stalls for as long as the call would take.
 */

/* Turns a view into none, and keeps what was wrong with it. What was wrong first stays. */
TG_INLINE void tg_tensor_refuse(struct tg_tensor *view, enum tg_tensor_fault fault, int dim,
                                int64_t first, int64_t second)
{
    if (view->dtype == TG_DTYPE_NONE)
        return;
    view->dtype = TG_DTYPE_NONE;
    view->reserved = (uint8_t)fault;
    view->owner = (uint32_t)dim;
    view->owner_depth = 0;
    view->addr = view->storage_bytes = 0;
    view->start = first;
    view->strides[0] = second;
}

/* Elements [from, to) of one dimension, every `step`-th of them; the rank stays. */
TG_OUT_OF_LINE struct tg_tensor tg_tensor_slice(struct tg_tensor t, int dim, int64_t from,
                                                int64_t to, int64_t step)
{
    struct tg_tensor view = t;
    int64_t extent = (int64_t)((uint64_t)to - (uint64_t)from); /* may overflow if it is refused */
    TG_IN_MEMORY(view);
    if (t.dtype == TG_DTYPE_NONE || dim < 0 || dim >= t.ndim || step < 1 || from < 0 || to < from ||
        to > t.shape[dim]) {
        if (dim < 0 || dim >= t.ndim)
            tg_tensor_refuse(&view, TG_TENSOR_NO_DIM, dim, 0, 0);
        else if (step < 1)
            tg_tensor_refuse(&view, TG_TENSOR_NO_STEP, dim, step, 0);
        else
            tg_tensor_refuse(&view, TG_TENSOR_OUTSIDE, dim, from, to);
    } else {
        if (step > 1 && extent > 0)
            extent = (extent - 1) / step + 1;
        view.start = t.start + from * t.strides[dim];
        view.shape[dim] = extent;
        if (step > 1 && extent > 1) /* otherwise the stride is not used, and could overflow */
            view.strides[dim] = t.strides[dim] * step;
    }
    return view;
}

/* One index of one dimension; the rank goes down by one. */
TG_OUT_OF_LINE struct tg_tensor tg_tensor_index(struct tg_tensor t, int dim, int64_t at)
{
    struct tg_tensor view = t;
    TG_IN_MEMORY(view);
    if (t.dtype == TG_DTYPE_NONE || dim < 0 || dim >= t.ndim || at < 0 || at >= t.shape[dim]) {
        tg_tensor_refuse(&view, dim < 0 || dim >= t.ndim ? TG_TENSOR_NO_DIM : TG_TENSOR_NO_INDEX,
                         dim, at, 0);
    } else {
        view.start = t.start + at * t.strides[dim];
        for (int i = dim; i + 1 < t.ndim; i++) {
            view.shape[i] = t.shape[i + 1];
            view.strides[i] = t.strides[i + 1];
        }
        view.ndim--;
        view.shape[view.ndim] = view.strides[view.ndim] = 0;
    }
    return view;
}

/* Swaps two dimensions; nothing moves in memory. */
TG_OUT_OF_LINE struct tg_tensor tg_tensor_transpose(struct tg_tensor t, int a, int b)
{
    struct tg_tensor view = t;
    TG_IN_MEMORY(view);
    if (t.dtype == TG_DTYPE_NONE || a < 0 || b < 0 || a >= t.ndim || b >= t.ndim) {
        tg_tensor_refuse(&view, TG_TENSOR_NO_DIM, a < 0 || a >= t.ndim ? a : b, 0, 0);
    } else {
        view.shape[a] = t.shape[b];
        view.strides[a] = t.strides[b];
        view.shape[b] = t.shape[a];
        view.strides[b] = t.strides[a];
    }
    return view;
}

/* The same elements in row-major order with another shape; the tensor must be contiguous. */
TG_INLINE struct tg_tensor tg_tensor_reshape(struct tg_tensor t, int ndim, const int64_t *shape)
{
    struct tg_tensor whole = tg_tensor_make(t.addr, t.dtype, ndim, shape);
    bool is_made = tg_bits_of(whole.dtype) != 0;
    if (!is_made || !tg_tensor_contiguous(&t) || tg_tensor_numel(&whole) != tg_tensor_numel(&t)) {
        tg_tensor_refuse(
            &t, is_made && !tg_tensor_contiguous(&t) ? TG_TENSOR_GAPS : TG_TENSOR_OTHER_SIZE, 0,
            is_made ? tg_tensor_numel(&whole) : -1, 0);
        return t;
    }
    whole.start = t.start;
    whole.storage_bytes = t.storage_bytes;
    whole.owner_depth = t.owner_depth;
    whole.owner = t.owner;
    return whole;
}

/* Reverses one dimension. */
TG_INLINE struct tg_tensor tg_tensor_flip(struct tg_tensor t, int dim)
{
    if (t.dtype == TG_DTYPE_NONE || dim < 0 || dim >= t.ndim) {
        tg_tensor_refuse(&t, TG_TENSOR_NO_DIM, dim, 0, 0);
        return t;
    }
    if (t.shape[dim] > 0)
        t.start += (t.shape[dim] - 1) * t.strides[dim];
    t.strides[dim] = -t.strides[dim];
    return t;
}

/* A dimension of extent 1 repeated `extent` times without copying; for inputs only. */
TG_INLINE struct tg_tensor tg_tensor_broadcast(struct tg_tensor t, int dim, int64_t extent)
{
    if (t.dtype == TG_DTYPE_NONE || dim < 0 || dim >= t.ndim || t.shape[dim] != 1 || extent < 0) {
        tg_tensor_refuse(&t, dim < 0 || dim >= t.ndim ? TG_TENSOR_NO_DIM : TG_TENSOR_NO_REPEAT, dim,
                         extent, 0);
        return t;
    }
    t.shape[dim] = extent;
    t.strides[dim] = 0;
    return t;
}

/* Elements from addr to element number `index` of the view, counted in row-major order. */
TG_INLINE int64_t tg_tensor_offset(const struct tg_tensor *t, int64_t index)
{
    int64_t offset = t->start;
    for (int i = t->ndim - 1; i >= 0; i--) {
        offset += index % t->shape[i] * t->strides[i];
        index /= t->shape[i];
    }
    return offset;
}

/* True if several elements of the view share memory, as in a broadcast. */
TG_INLINE bool tg_tensor_repeats(const struct tg_tensor *t)
{
    for (int i = 0; i < t->ndim && i < TG_MAX_DIMS; i++)
        if (t->strides[i] == 0 && t->shape[i] > 1)
            return true;
    return false;
}

/* A tile: [row, row + rows) × [col, col + cols) of the last two dimensions. */
TG_INLINE struct tg_tensor tg_tensor_tile(struct tg_tensor t, int64_t row, int64_t rows,
                                          int64_t col, int64_t cols)
{
    int64_t row_end = row > 0 && rows > INT64_MAX - row ? INT64_MAX : row + rows;
    int64_t col_end = col > 0 && cols > INT64_MAX - col ? INT64_MAX : col + cols;
    if (t.ndim >= 2 &&
        (col < 0 || col_end > t.shape[t.ndim - 1])) /* so that it names the whole shape */
        return tg_tensor_slice(t, t.ndim - 1, col, col_end, 1);
    t = tg_tensor_slice(t, t.ndim - 2, row, row_end, 1);
    return tg_tensor_slice(t, t.ndim - 1, col, col_end, 1);
}

#endif
