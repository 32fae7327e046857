/* SPDX-License-Identifier: Apache-2.0 */
#include "race/region.h"

#include <stdlib.h>

/* Extents stay below this, so that differences of addresses fit in 63 bits. */
#define FAR ((int64_t)1 << 60)

/* --- the lattices of a view ------------------------------------------------------------------- */

/* A view in bits: a run, and the dimensions that repeat it, the smallest stride first. */
struct bits {
    int64_t start, run;
    int n;
    int64_t count[TG_MAX_DIMS], stride[TG_MAX_DIMS];
};

static void add_dim(struct bits *bits, int64_t count, int64_t stride)
{
    int at = bits->n;
    if (stride == 0 || count == 1)
        return;
    if (stride < 0) {
        bits->start += (count - 1) * stride;
        stride = -stride;
    }
    for (; at > 0 && bits->stride[at - 1] > stride; at--) {
        bits->count[at] = bits->count[at - 1];
        bits->stride[at] = bits->stride[at - 1];
    }
    bits->count[at] = count;
    bits->stride[at] = stride;
    bits->n++;
}

/* True if the dimension lies on the steps of the one before it and leaves out none: they become one. */
static bool continues(int64_t count, int64_t stride, int64_t next)
{
    return next % stride == 0 && next / stride <= count;
}

static void merge(struct bits *bits)
{
    int kept = 0;
    for (int i = 0; i < bits->n; i++) {
        int64_t count = bits->count[i], stride = bits->stride[i];
        if (kept == 0 && stride <= bits->run) {
            bits->run += (count - 1) * stride;
        } else if (kept > 0 && continues(bits->count[kept - 1], bits->stride[kept - 1], stride)) {
            bits->count[kept - 1] += (count - 1) * (stride / bits->stride[kept - 1]);
        } else {
            bits->count[kept] = count;
            bits->stride[kept++] = stride;
        }
    }
    bits->n = kept;
}

static int64_t extent(const struct bits *bits)
{
    int64_t reach = bits->run;
    for (int i = 0; i < bits->n; i++)
        reach += (bits->count[i] - 1) * bits->stride[i];
    return reach;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Adds a lattice whose strides are whole bytes. */
static bool add_lattice(struct tg_race_region *region, uint64_t addr, const struct bits *from)
{
    struct bits bytes = {.start = floor_div(from->start, 8)};
    struct tg_race_lattice *lattice = &region->lattice[region->n];
    if (region->n == TG_RACE_LATTICES)
        return false;
    bytes.run = (from->start - bytes.start * 8 + from->run + 7) / 8;
    for (int i = 0; i < from->n; i++)
        add_dim(&bytes, from->count[i], from->stride[i] / 8);
    merge(&bytes);
    lattice->lo = addr + (uint64_t)bytes.start;
    lattice->run = (uint64_t)bytes.run;
    lattice->reach = (uint64_t)extent(&bytes);
    lattice->n = (uint32_t)bytes.n;
    if (lattice->lo > UINT64_MAX - lattice->reach ||
        (bytes.start < 0 ? lattice->lo > addr : lattice->lo < addr))
        return false;
    for (int i = 0; i < bytes.n; i++) {
        lattice->count[i] = (uint64_t)bytes.count[bytes.n - 1 - i];
        lattice->stride[i] = (uint64_t)bytes.stride[bytes.n - 1 - i];
    }
    uint64_t hi = lattice->lo + lattice->reach;
    region->lo = region->n == 0 || lattice->lo < region->lo ? lattice->lo : region->lo;
    region->hi = region->n == 0 || hi > region->hi ? hi : region->hi;
    region->n++;
    return true;
}

/* Splits each dimension whose stride is no whole number of bytes into the places in a byte that it comes
 * by, from dimension `from` on. */
static bool split(struct tg_race_region *region, uint64_t addr, const struct bits *bits, int from)
{
    while (from < bits->n && (bits->stride[from] % 8 == 0 || bits->count[from] == 1))
        from++;
    if (from == bits->n)
        return add_lattice(region, addr, bits);
    int64_t period = 8;
    while (period > 1 && bits->stride[from] * (period / 2) % 8 == 0)
        period /= 2;
    for (int64_t k = 0; k < period && k < bits->count[from]; k++) {
        struct bits part = *bits;
        part.start += k * bits->stride[from];
        part.count[from] = (bits->count[from] - k + period - 1) / period;
        part.stride[from] *= period;
        if (!split(region, addr, &part, from + 1))
            return false;
    }
    return true;
}

bool tg_race_region_of(const struct tg_tensor *tensor, struct tg_race_region *region)
{
    const int64_t size = tg_bits_of(tensor->dtype), elements = tg_tensor_numel(tensor);
    int64_t lo, hi;
    struct bits bits = {.run = size};
    region->n = 0;
    region->lo = region->hi = 0;
    if (size == 0 || tensor->ndim > TG_MAX_DIMS || elements < 0)
        return false;
    for (int i = 0; i < tensor->ndim; i++)
        if (tensor->shape[i] < 0)
            return false;
    if (elements == 0)
        return true;
    if (!tg_tensor_footprint(tensor, &lo, &hi) || lo < -FAR / size || hi > FAR / size)
        return false;
    bits.start = tensor->start * size;
    for (int i = 0; i < tensor->ndim; i++)
        if (tensor->shape[i] > 1)
            add_dim(&bits, tensor->shape[i], tensor->strides[i] * size);
    merge(&bits);
    return split(region, tensor->addr, &bits, 0);
}

bool tg_race_region_is_run(const struct tg_race_region *region)
{
    return region->n == 1 && region->lattice[0].n == 0;
}
