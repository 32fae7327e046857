/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tensors of a call as packed bytes. A contiguous view in memory that can be mapped is used in place;
 * any other is packed into a copy, segment by segment, and written back without touching what lies between
 * the elements of the view.
 *
 * Where memory can only be copied, each copy has its price, so elements are taken in the order of their
 * addresses, in as few copies as possible. If that is not the order of the view (a transposed one, say), all
 * of it is read with its first segment, and written with its last one. A step does a bounded number of copies:
 * the progress thread has other things to do in between, such as telling other ranks that this one moves.
 */
#include <stdlib.h>
#include <string.h>
#include <taskglass/numeric.h>

#include "base/error.h"
#include "base/files.h"
#include "common/gather.h"
#include "comm/engine.h"

enum {
    WINDOW = 4 << 20, /* bytes of the storage that are copied at once, at most */
    GAP = 64 << 10,   /* bytes that are cheaper to read than to leave out */
    COPIES_AT_ONCE = 64,
    BYTES_AT_ONCE = 4 * WINDOW
};

/* The tensor is valid, so it has a type; 8 only spares the divisions below a doubt. */
static unsigned bits_of(const struct tg_span *span)
{
    const unsigned bits = tg_bits_of(span->tensor.dtype);
    return bits ? bits : 8;
}

/* Nibbles share bytes with their neighbours; in place they must not. */
static bool is_whole_bytes(const struct tg_span *span)
{
    return bits_of(span) >= 8 || (span->tensor.start % 2 == 0 && span->elements % 2 == 0);
}

static void *map(const struct tg_comm_port *port, uint64_t address, uint64_t size)
{
    return port->map && size > 0 ? port->map(port->context, address, size) : NULL;
}

static uint64_t byte_at(const struct tg_span *span, int64_t element)
{
    return (uint64_t)element * bits_of(span) / 8;
}

tg_status tg_span_open(const struct tg_comm_port *port, const struct tg_tensor *tensor,
                       struct tg_span *span, struct tg_error *error)
{
    *span = (struct tg_span){.tensor = *tensor};
    if (!tg_tensor_valid(tensor))
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "a call's tensor does not lie in its storage; the device gave it");
    span->elements = (uint64_t)tg_tensor_numel(tensor);
    span->size = tg_bytes_of(tensor->dtype, (int64_t)span->elements);
    if (span->size == 0)
        return TG_OK;
    if (tg_tensor_contiguous(tensor) && is_whole_bytes(span)) {
        span->bytes = map(port, tensor->addr + byte_at(span, tensor->start), span->size);
        if (span->bytes)
            return TG_OK;
    } else {
        span->mapped = map(port, tensor->addr, tensor->storage_bytes);
    }
    span->is_copy = true;
    span->bytes = malloc(span->size);
    return span->bytes ? TG_OK : tg_file_no_memory(error);
}

void tg_span_close(struct tg_span *span)
{
    if (span->is_copy)
        free(span->bytes);
    free(span->window);
    span->bytes = span->window = NULL;
    span->is_copy = false;
}

/* --- runs of a view ------------------------------------------------------------------------- */

/* Elements that lie one stride after the other. */
struct run {
    int64_t at, count, stride; /* at: of the storage */
};

struct runs {
    struct tg_gather_plan plan;
    int64_t index[TG_MAX_DIMS], offset, left;
};

static struct runs runs_of(const struct tg_tensor *t, int64_t first, int64_t count)
{
    struct runs runs = {.plan = tg_gather_plan(t), .offset = t->start, .left = count};
    for (int i = runs.plan.ndim - 1; i >= 0; i--) {
        const int64_t extent = runs.plan.shape[i] > 0 ? runs.plan.shape[i] : 1;
        runs.index[i] = first % extent;
        first /= extent;
        runs.offset += runs.index[i] * runs.plan.strides[i];
    }
    return runs;
}

static bool next_run(struct runs *runs, struct run *run)
{
    const struct tg_gather_plan *p = &runs->plan;
    const int inner = p->ndim - 1;
    if (runs->left <= 0)
        return false;
    run->at = runs->offset;
    run->stride = p->strides[inner];
    run->count = p->shape[inner] - runs->index[inner];
    if (run->count > runs->left)
        run->count = runs->left;
    runs->left -= run->count;
    runs->index[inner] += run->count;
    runs->offset += run->count * run->stride;
    for (int i = inner; i > 0 && runs->index[i] == p->shape[i]; i--) {
        runs->offset += p->strides[i - 1] - runs->index[i] * p->strides[i];
        runs->index[i] = 0;
        runs->index[i - 1]++;
    }
    return true;
}

/* --- the order of elements ------------------------------------------------------------------ */

/* The same elements twice, in one order: where they lie in the storage, and where in the packed bytes. */
struct order {
    struct tg_tensor storage, packed;
    bool is_permuted; /* not the order of the view */
};

/* Without dimensions of one element: their strides mean nothing. */
static struct order order_of_view(const struct tg_span *span)
{
    struct order order = {.storage = span->tensor, .packed = span->tensor};
    int64_t step = (int64_t)span->elements;
    int ndim = 0;
    order.packed.start = 0;
    for (int i = 0; i < span->tensor.ndim; i++) {
        const int64_t extent = span->tensor.shape[i];
        if (extent == 1)
            continue;
        step /= extent;
        order.storage.shape[ndim] = order.packed.shape[ndim] = extent;
        order.storage.strides[ndim] = span->tensor.strides[i];
        order.packed.strides[ndim++] = step;
    }
    order.storage.ndim = order.packed.ndim = (uint8_t)ndim;
    return order;
}

static void turn_around(struct tg_tensor *t, int i)
{
    t->start += (t->shape[i] - 1) * t->strides[i];
    t->strides[i] = -t->strides[i];
}

static void swap_dimensions(struct tg_tensor *t, int i, int k)
{
    const int64_t shape = t->shape[i], stride = t->strides[i];
    t->shape[i] = t->shape[k];
    t->strides[i] = t->strides[k];
    t->shape[k] = shape;
    t->strides[k] = stride;
}

/* Addresses ascend, unless elements of the view share bytes. */
static struct order order_of_addresses(const struct tg_span *span)
{
    struct order order = order_of_view(span);
    for (int i = 0; i < order.storage.ndim; i++) {
        if (order.storage.strides[i] < 0) {
            turn_around(&order.storage, i);
            turn_around(&order.packed, i);
            order.is_permuted = true;
        }
        for (int k = i; k > 0 && order.storage.strides[k - 1] < order.storage.strides[k]; k--) {
            swap_dimensions(&order.storage, k - 1, k);
            swap_dimensions(&order.packed, k - 1, k);
            order.is_permuted = true;
        }
    }
    return order;
}

/* True if no two elements of the view, whose addresses ascend, can be the same. */
static bool is_apart(const struct tg_tensor *t)
{
    int64_t extent = 1;
    for (int i = t->ndim - 1; i >= 0; i--) {
        if (t->strides[i] < extent)
            return false;
        extent += (t->shape[i] - 1) * t->strides[i];
    }
    return true;
}

/* Of elements that share bytes the last one of the view stays. */
static struct order order_of_stores(const struct tg_span *span)
{
    const struct order order = order_of_addresses(span);
    return is_apart(&order.storage) ? order : order_of_view(span);
}

/* --- from view to view ---------------------------------------------------------------------- */

static void move_run(unsigned dtype, unsigned char *to, struct run there, const unsigned char *from,
                     struct run here, int64_t count)
{
    const int64_t size = (int64_t)(tg_bits_of(dtype) / 8);
    if (size == 0) {
        for (int64_t i = 0; i < count; i++)
            tg_store_bits(dtype, to, there.at + i * there.stride,
                          tg_load_bits(dtype, from, here.at + i * here.stride));
        return;
    }
    to += there.at * size;
    from += here.at * size;
    if (there.stride == 1) {
        tg_gather_row((char *)to, (const char *)from, count, here.stride, (unsigned)size);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        tg_gather_row((char *)to + i * there.stride * size,
                      (const char *)from + i * here.stride * size, 1, 0, (unsigned)size);
}

/* Elements [first, first + count) of both views, which have the same number of elements. */
static void move(unsigned char *to, const struct tg_tensor *there, const unsigned char *from,
                 const struct tg_tensor *here, int64_t first, int64_t count)
{
    struct runs to_runs = runs_of(there, first, count), from_runs = runs_of(here, first, count);
    struct run a = {0, 0, 0}, b = {0, 0, 0};
    for (int64_t n; count > 0; count -= n) {
        if ((a.count == 0 && !next_run(&to_runs, &a)) ||
            (b.count == 0 && !next_run(&from_runs, &b)))
            return;
        n = a.count < b.count ? a.count : b.count;
        move_run(there->dtype, to, a, from, b, n);
        a = (struct run){a.at + n * a.stride, a.count - n, a.stride};
        b = (struct run){b.at + n * b.stride, b.count - n, b.stride};
    }
}

/* --- a step --------------------------------------------------------------------------------- */

struct budget {
    int copies;
    uint64_t bytes;
};

/* Of 4-bit elements a step does an even number: a byte is done or not. */
static bool may_go_on(const struct budget *budget, const struct tg_span *span, int64_t did)
{
    return (budget->copies < COPIES_AT_ONCE && budget->bytes < BYTES_AT_ONCE) ||
           (bits_of(span) < 8 && did % 2 != 0);
}

static int64_t elements_in(const struct tg_span *span, int64_t first, uint64_t size)
{
    const int64_t count = (int64_t)(size * 8 / bits_of(span));
    const int64_t left = (int64_t)span->elements - first;
    return count < left ? count : left;
}

/* --- out of device memory ------------------------------------------------------------------- */

/* How many of the elements, from the first on, are in the window. */
static int64_t count_in_window(const struct tg_span *span, const struct order *order, int64_t first,
                               int64_t count)
{
    const int64_t begin = (int64_t)(span->window_begin * 8 / bits_of(span));
    const int64_t end = begin + (int64_t)(span->window_size * 8 / bits_of(span));
    struct runs runs = runs_of(&order->storage, first, count);
    struct run run;
    int64_t found = 0;
    while (span->window && next_run(&runs, &run) && run.at >= begin && run.at < end) {
        const int64_t room = run.stride > 0 ? (end - 1 - run.at) / run.stride + 1 : run.count;
        found += room < run.count ? room : run.count;
        if (room < run.count)
            break;
    }
    return found;
}

/* Reads the storage from an element on, up to a gap that is worth another copy. */
static tg_status read_window(const struct tg_comm_port *port, struct tg_span *span,
                             const struct order *order, int64_t first, struct tg_error *error)
{
    const struct runs runs = runs_of(&order->storage, first, 1);
    const struct tg_gather_plan *p = &runs.plan;
    int64_t base = runs.offset, extent = 1;
    for (int i = p->ndim - 1; i >= 0; i--) {
        if (p->strides[i] > extent && byte_at(span, p->strides[i] - extent) > GAP)
            break;
        base -= runs.index[i] * p->strides[i];
        extent += (p->shape[i] - 1) * p->strides[i];
    }
    const uint64_t begin = byte_at(span, runs.offset);
    const uint64_t size = tg_bytes_of(span->tensor.dtype, base + extent) - begin;
    span->window_begin = begin;
    span->window_size = size < WINDOW ? size : WINDOW;
    free(span->window);
    span->window = malloc(span->window_size);
    if (!span->window)
        return tg_file_no_memory(error);
    return port->copy_out(port->context, span->window, span->tensor.addr + begin, span->window_size,
                          error);
}

/* A step of loading elements [first, first + count); *did: how many it did. */
static tg_status load_some(const struct tg_comm_port *port, struct tg_span *span,
                           const struct order *order, int64_t first, int64_t count, int64_t *did,
                           struct tg_error *error)
{
    struct budget budget = {0, 0};
    tg_status status = TG_OK;
    for (*did = 0; *did < count && status == TG_OK;) {
        const int64_t here = count_in_window(span, order, first + *did, count - *did);
        if (here > 0) {
            struct tg_tensor moved = order->storage;
            moved.start -= (int64_t)(span->window_begin * 8 / bits_of(span));
            move(span->bytes, &order->packed, span->window, &moved, first + *did, here);
            *did += here;
        } else if (may_go_on(&budget, span, *did)) {
            status = read_window(port, span, order, first + *did, error);
            budget.copies++;
            budget.bytes += span->window_size;
        } else {
            break;
        }
    }
    span->loaded += (uint64_t)*did;
    if (span->loaded >= span->elements) { /* else calls that wait would keep much memory */
        free(span->window);
        span->window = NULL;
    }
    return status;
}

tg_status tg_span_load(const struct tg_comm_port *port, struct tg_span *span, uint64_t offset,
                       uint64_t size, uint64_t *did, struct tg_error *error)
{
    const int64_t first = (int64_t)(offset * 8 / bits_of(span));
    const int64_t count = elements_in(span, first, size);
    int64_t done = 0;
    *did = size;
    if (span->mapped) {
        tg_gather(span->bytes + offset, span->mapped, &span->tensor, first, count);
        return TG_OK;
    }
    if (tg_tensor_contiguous(&span->tensor) && is_whole_bytes(span))
        return port->copy_out(port->context, span->bytes + offset,
                              span->tensor.addr + byte_at(span, span->tensor.start) + offset, size,
                              error);
    const struct order order = order_of_addresses(span);
    tg_status status;
    if (order.is_permuted) {
        status = load_some(port, span, &order, (int64_t)span->loaded,
                           (int64_t)(span->elements - span->loaded), &done, error);
        *did = span->loaded == span->elements ? size : 0;
    } else {
        status = load_some(port, span, &order, first, count, &done, error);
        *did = done == count ? size : byte_at(span, done);
    }
    return status;
}

/* --- into device memory --------------------------------------------------------------------- */

static tg_status store_nibble(const struct tg_comm_port *port, const struct tg_span *span,
                              int64_t to, int64_t from, struct tg_error *error)
{
    const uint64_t address = span->tensor.addr + (uint64_t)to / 2;
    unsigned char byte;
    tg_status status = port->copy_out(port->context, &byte, address, 1, error);
    if (status != TG_OK)
        return status;
    const int shift = (int)(to % 2) * 4;
    const unsigned nibble = (unsigned)span->bytes[from / 2] >> (from % 2 * 4) & 15u;
    byte = (unsigned char)((byte & (0xf0 >> shift)) | nibble << shift);
    return port->copy_in(port->context, address, &byte, 1, error);
}

/* How many elements of a run, which is not empty, one copy can write. */
static int64_t count_in_copy(const struct tg_span *span, const struct run *run)
{
    const int64_t most = (int64_t)WINDOW * 8 / bits_of(span);
    const int64_t count = run->count < most ? run->count : most;
    if (run->stride != 1 || (bits_of(span) < 8 && (run->at % 2 != 0 || count < 2)))
        return 1;
    return bits_of(span) < 8 ? count / 2 * 2 : count;
}

/* Writes `count` elements that lie side by side at `to`; the first one is element `from` of the order. */
static tg_status store_side_by_side(const struct tg_comm_port *port, const struct tg_span *span,
                                    const struct order *order, int64_t to, int64_t from,
                                    int64_t count, struct tg_error *error)
{
    const int64_t packed = runs_of(&order->packed, from, 1).offset;
    const uint64_t address = span->tensor.addr + byte_at(span, to), size = byte_at(span, count);
    if (bits_of(span) < 8 && count == 1)
        return store_nibble(port, span, to, packed, error);
    if (bits_of(span) >= 8 && (count == 1 || !order->is_permuted))
        return port->copy_in(port->context, address, span->bytes + byte_at(span, packed), size,
                             error);
    unsigned char *bytes = malloc(size);
    if (!bytes)
        return tg_file_no_memory(error);
    tg_gather(bytes, span->bytes, &order->packed, from, count);
    const tg_status status = port->copy_in(port->context, address, bytes, size, error);
    free(bytes);
    return status;
}

/* A step of storing elements [first, first + count); *did: how many it did. */
static tg_status store_some(const struct tg_comm_port *port, const struct tg_span *span,
                            const struct order *order, int64_t first, int64_t count, int64_t *did,
                            struct tg_error *error)
{
    struct runs runs = runs_of(&order->storage, first, count);
    struct run run = {0, 0, 0};
    struct budget budget = {0, 0};
    tg_status status = TG_OK;
    *did = 0;
    while (status == TG_OK && may_go_on(&budget, span, *did) &&
           (run.count > 0 || next_run(&runs, &run))) {
        const int64_t n = count_in_copy(span, &run);
        status = store_side_by_side(port, span, order, run.at, first + *did, n, error);
        run = (struct run){run.at + n * run.stride, run.count - n, run.stride};
        *did += n;
        budget.copies++;
        budget.bytes += byte_at(span, n);
    }
    return status;
}

tg_status tg_span_store(const struct tg_comm_port *port, struct tg_span *span, uint64_t offset,
                        uint64_t size, uint64_t *did, struct tg_error *error)
{
    const int64_t first = (int64_t)(offset * 8 / bits_of(span));
    const int64_t count = elements_in(span, first, size);
    int64_t done = 0;
    tg_status status;
    *did = size;
    if (span->mapped) {
        const struct order order = order_of_view(span);
        move(span->mapped, &order.storage, span->bytes, &order.packed, first, count);
        return TG_OK;
    }
    const struct order order = order_of_stores(span);
    if (!order.is_permuted) {
        status = store_some(port, span, &order, first, count, &done, error);
        *did = done == count ? size : byte_at(span, done);
    } else if (span->stored + (uint64_t)count < span->elements) {
        span->stored += (uint64_t)count; /* others are still to come */
        status = TG_OK;
    } else {
        status = store_some(port, span, &order, (int64_t)span->written,
                            (int64_t)(span->elements - span->written), &done, error);
        span->written += (uint64_t)done;
        *did = span->written == span->elements ? size : 0;
    }
    return status;
}
