/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

TG_FN static unsigned dtype_of(struct program *p, unsigned bits)
{
    uint64_t which = roll(p, 3);
    switch (bits) {
    case 4:
        return which ? TG_INT4 : TG_FLOAT4_E2M1FN;
    case 8:
        return which == 0 ? TG_INT8 : which == 1 ? TG_UINT8 : TG_FLOAT8_E5M2;
    case 16:
        return which == 0 ? TG_INT16 : which == 1 ? TG_BFLOAT16 : TG_UINT16;
    case 32:
        return which == 0 ? TG_INT32 : which == 1 ? TG_FLOAT32 : TG_UINT32;
    default:
        return which == 0 ? TG_INT64 : which == 1 ? TG_FLOAT64 : TG_UINT64;
    }
}

TG_FN static unsigned any_dtype(struct program *p, uint64_t bytes)
{
    unsigned bits = 4u << roll(p, 5);
    while (bits > 8 && bits / 8 > bytes)
        bits /= 2;
    return dtype_of(p, bits);
}

/* A random shape of up to four dimensions and at most n elements; returns the rank. */
TG_FN static int any_shape(struct program *p, int64_t n, int64_t shape[TG_MAX_DIMS])
{
    int ndim = (int)roll(p, 5);
    for (int i = 0; i < ndim; i++) {
        int64_t most = i + 1 < ndim && n > 8 ? 8 : n;
        shape[i] = i + 1 < ndim ? 1 + (int64_t)roll(p, (uint64_t)most) : n;
        n /= shape[i];
    }
    return ndim;
}

TG_FN int oracle_shape(struct program *p, unsigned *dtype, int64_t shape[TG_MAX_DIMS])
{
    uint64_t bytes = 8 + roll(p, chance(p, 20) ? 500 : 100);
    int ndim;
    *dtype = any_dtype(p, bytes);
    ndim = any_shape(p, (int64_t)(bytes * 8 / tg_bits_of(*dtype)), shape);
    if (tg_bits_of(*dtype) >= 8)
        return ndim;
    if (ndim == 0)
        shape[ndim++] = 1;
    shape[ndim - 1] += shape[ndim - 1] % 2; /* whole bytes: half of one would never be written */
    return ndim;
}

TG_FN struct tg_tensor oracle_buffer(struct program *p, uint32_t buffer)
{
    const struct buffer *b = &p->buffer[buffer];
    bool asks = buffer >= SHARED && b->task != TG_TASK_NONE && chance(p, 50);
    /* with a single ring another task may reuse the slot before the scope has ended */
    return asks && p->is.rings > 1 ? tg_output(p->rt, b->task, b->argument) : b->whole;
}

/* A tensor that begins `from` bytes into a buffer: as a tensor with its own storage, or as a view
 * of the whole. */
TG_FN static struct tg_tensor place(struct program *p, uint32_t buffer, unsigned dtype,
                                    uint64_t from, int ndim, const int64_t *shape)
{
    struct tg_tensor whole = oracle_buffer(p, buffer);
    struct tg_tensor t = tg_tensor_make(whole.addr + from, dtype, ndim, shape);
    unsigned bits = tg_bits_of(dtype);
    if (chance(p, 50)) {
        int64_t all = (int64_t)(whole.storage_bytes * 8 / bits), first = (int64_t)(from * 8 / bits);
        int64_t n = tg_tensor_numel(&t);
        t = tg_tensor_make(whole.addr, dtype, 1, &all);
        t = tg_tensor_reshape(tg_tensor_slice(t, 0, first, first + n, 1), ndim, shape);
    }
    t.owner_depth = whole.owner_depth;
    t.owner = whole.owner;
    return t;
}

TG_FN static struct tg_tensor slice(struct program *p, struct tg_tensor t, int dim)
{
    int64_t from = (int64_t)roll(p, (uint64_t)t.shape[dim]);
    int64_t length = 1 + (int64_t)roll(p, (uint64_t)(t.shape[dim] - from));
    int64_t step = 1 + (int64_t)roll(p, 3);
    if (chance(p, 2))
        length = 0;
    return tg_tensor_slice(t, dim, from, from + length, step);
}

TG_FN static struct tg_tensor tile(struct program *p, struct tg_tensor t)
{
    int64_t rows = t.shape[t.ndim - 2], cols = t.shape[t.ndim - 1];
    int64_t row = (int64_t)roll(p, (uint64_t)rows);
    int64_t col = (int64_t)roll(p, (uint64_t)cols);
    int64_t height = 1 + (int64_t)roll(p, (uint64_t)(rows - row));
    int64_t width = 1 + (int64_t)roll(p, (uint64_t)(cols - col));
    return tg_tensor_tile(t, row, height, col, width);
}

TG_FN static struct tg_tensor broadcast(struct program *p, struct tg_tensor t, int dim)
{
    int64_t at = (int64_t)roll(p, (uint64_t)t.shape[dim]);
    t = tg_tensor_slice(t, dim, at, at + 1, 1);
    return tg_tensor_broadcast(t, dim, 1 + (int64_t)roll(p, 3));
}

TG_FN static struct tg_tensor change(struct program *p, struct tg_tensor t, bool is_input)
{
    int dim, other;
    if (t.ndim == 0 || tg_tensor_numel(&t) == 0)
        return t;
    dim = (int)roll(p, t.ndim);
    other = (int)roll(p, t.ndim);
    switch (roll(p, 8)) {
    case 0:
    case 1:
        return slice(p, t, dim);
    case 2:
    case 3:
        return t.ndim > 1 ? tile(p, t) : t;
    case 4:
        return tg_tensor_transpose(t, dim, other);
    case 5:
        return tg_tensor_flip(t, dim);
    case 6:
        return tg_tensor_index(t, dim, (int64_t)roll(p, (uint64_t)t.shape[dim]));
    default:
        return is_input ? broadcast(p, t, dim) : t;
    }
}

/* Halves the longest dimension until there are few enough elements. */
TG_FN static struct tg_tensor limit(struct program *p, struct tg_tensor t)
{
    while (tg_tensor_numel(&t) > (int64_t)p->elements) {
        int longest = 0;
        for (int i = 1; i < t.ndim; i++)
            if (t.shape[i] > t.shape[longest])
                longest = i;
        t = tg_tensor_slice(t, longest, 0, (t.shape[longest] + 1) / 2, 1);
    }
    return t;
}

TG_FN struct tg_tensor oracle_view(struct program *p, uint32_t buffer, bool is_input)
{
    uint64_t bytes = p->buffer[buffer].whole.storage_bytes, unit, length, from;
    int64_t shape[TG_MAX_DIMS];
    struct tg_tensor t;
    unsigned dtype;
    int ndim;

    length = 1 + roll(p, p->reach < bytes ? p->reach : bytes);
    length = length < bytes ? length : bytes;
    dtype = any_dtype(p, length);
    unit = (tg_bits_of(dtype) + 7) / 8;
    length = length / unit * unit;
    from = roll(p, (bytes - length) / unit + 1) * unit;
    ndim = any_shape(p, (int64_t)(length * 8 / tg_bits_of(dtype)), shape);
    t = place(p, buffer, dtype, from, ndim, shape);
    for (uint64_t changes = roll(p, 4); changes > 0; changes--)
        t = change(p, t, is_input);
    return limit(p, t);
}

TG_FN struct tg_tensor oracle_element(struct program *p, uint32_t buffer)
{
    uint64_t bytes = p->buffer[buffer].whole.storage_bytes, unit, from;
    int64_t one = 1;
    unsigned dtype;
    do {
        dtype = any_dtype(p, bytes);
        /* the first types are floats, and not all of their values are integers */
    } while (dtype < TG_INT64 || tg_bits_of(dtype) < 8);
    if (buffer == ORACLE_hidden)
        dtype = TG_UINT64;
    unit = (tg_bits_of(dtype) + 7) / 8;
    from = roll(p, bytes / unit) * unit;
    return place(p, buffer, dtype, from, (int)roll(p, 2), &one);
}

TG_FN struct tg_tensor oracle_cover(struct program *p, struct tg_tensor t)
{
    for (uint64_t changes = roll(p, 3); changes > 0 && t.ndim > 0; changes--) {
        int dim = (int)roll(p, t.ndim), other = (int)roll(p, t.ndim);
        t = chance(p, 50) ? tg_tensor_flip(t, dim) : tg_tensor_transpose(t, dim, other);
    }
    return t;
}

TG_FN bool oracle_access(const struct program *p, uint32_t buffer, uint32_t role,
                         const struct tg_tensor *view, struct access *access)
{
    uint64_t bits = tg_bits_of(view->dtype), from;
    int64_t lo, hi;
    if (tg_tensor_numel(view) < 1 || !tg_tensor_footprint(view, &lo, &hi))
        return false;
    from = view->addr - p->buffer[buffer].whole.addr;
    access->buffer = buffer;
    access->role = role;
    access->lo = from + (uint64_t)lo * bits / 8;
    access->hi = from + ((uint64_t)hi * bits + bits - 1) / 8;
    /* after an error tensors are empty, and their addresses are arbitrary */
    return access->lo <= access->hi && access->hi < p->buffer[buffer].whole.storage_bytes;
}
