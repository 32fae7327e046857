/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes that changed between the two records of a stomp. */
#include <stdlib.h>
#include <string.h>
#include <taskglass/numeric.h>
#include <taskglass/tensor.h>

#include "analysis/deps_memory.h"
#include "analysis/stomp.h"
#include "base/grow.h"

enum { MOST_RANGES = 1 << 16, BLOCK = 4096 };

static bool add(void *context, uint64_t lo, uint64_t hi)
{
    struct tg_stomp_bytes *bytes = context;
    struct tg_stomp_range *last = bytes->count > 0 ? &bytes->range[bytes->count - 1] : NULL;
    if (last && last->hi == lo) {
        last->hi = hi;
        return true;
    }
    if (bytes->count >= MOST_RANGES) { /* one range that has them all, and more */
        bytes->is_exact = false;
        last->lo = last->lo < lo ? last->lo : lo;
        last->hi = last->hi > hi ? last->hi : hi;
        return true;
    }
    if (!tg_grow(&bytes->range, &bytes->room, bytes->count + 1, sizeof *bytes->range))
        return false;
    bytes->range[bytes->count++] = (struct tg_stomp_range){lo, hi};
    return true;
}

static int by_lo(const void *a, const void *b)
{
    const struct tg_stomp_range *left = a, *right = b;
    return (left->lo > right->lo) - (left->lo < right->lo);
}

/* Views may have any order, so ranges may too, and those that touch are joined. */
static void tidy(struct tg_stomp_bytes *bytes)
{
    size_t kept = 0;
    if (bytes->count == 0)
        return;
    qsort(bytes->range, bytes->count, sizeof *bytes->range, by_lo);
    for (size_t i = 1; i < bytes->count; i++) {
        struct tg_stomp_range *last = &bytes->range[kept];
        if (bytes->range[i].lo > last->hi)
            bytes->range[++kept] = bytes->range[i];
        else if (bytes->range[i].hi > last->hi)
            last->hi = bytes->range[i].hi;
    }
    bytes->count = kept + 1;
}

bool tg_stomp_tensor_of(const struct tg_record *record, struct tg_tensor *tensor)
{
    int64_t lo, hi;
    tg_tensor_clear(tensor);
    tensor->addr = record->data_ptr;
    tensor->dtype = record->dtype;
    tensor->ndim = record->ndim;
    tensor->start = record->start;
    memcpy(tensor->shape, record->shape, sizeof tensor->shape);
    memcpy(tensor->strides, record->strides, sizeof tensor->strides);
    return record->data_ptr != 0 && tg_bits_of(tensor->dtype) > 0 && tensor->ndim <= TG_MAX_DIMS &&
           tg_tensor_numel(tensor) > 0 && tg_tensor_footprint(tensor, &lo, &hi);
}

/* The bytes of element `index`; of two elements that share a byte, that byte. */
static bool add_element(struct tg_stomp_bytes *bytes, const struct tg_tensor *tensor, int64_t index)
{
    int64_t bits = tg_bits_of(tensor->dtype), first = tg_tensor_offset(tensor, index) * bits;
    uint64_t lo = tensor->addr + (uint64_t)(first >= 0 ? first / 8 : -((7 - first) / 8));
    return add(bytes, lo, lo + (uint64_t)(bits + 7) / 8);
}

static bool add_changes(struct tg_stomp_bytes *bytes, const struct tg_tensor *tensor,
                        const struct tg_array *a, const struct tg_array *b)
{
    int64_t bits = tg_bits_of(a->dtype);
    for (int64_t block = 0; block < a->elements; block += BLOCK) {
        int64_t end = block + BLOCK < a->elements ? block + BLOCK : a->elements;
        size_t from = (size_t)(block * bits / 8), size = (size_t)((end - block) * bits + 7) / 8;
        if (memcmp((const char *)a->bytes + from, (const char *)b->bytes + from, size) == 0)
            continue;
        for (int64_t i = block; i < end; i++)
            if (tg_load_bits(a->dtype, a->bytes, i) != tg_load_bits(b->dtype, b->bytes, i) &&
                !add_element(bytes, tensor, i))
                return false;
    }
    return true;
}

bool tg_stomp_bytes_of(const struct tg_find *find, const struct tg_find_finding *finding,
                       struct tg_stomp_bytes *bytes)
{
    struct tg_entry now, before;
    struct tg_array a, b;
    struct tg_tensor tensor;
    bool good = true;
    *bytes = (struct tg_stomp_bytes){.is_exact = true};
    if (!tg_recording_get(find->recording, finding->record, &now))
        return true;
    if (tg_stomp_tensor_of(&now.record, &tensor) &&
        tg_recording_get(find->recording, finding->before, &before) &&
        tg_array_of(find->recording, &before, &a) && tg_array_of(find->recording, &now, &b) &&
        !a.cut && !b.cut && a.dtype == b.dtype && a.elements == b.elements &&
        a.elements == tg_tensor_numel(&tensor))
        good = add_changes(bytes, &tensor, &a, &b);
    if (good && bytes->count == 0) {
        bytes->is_exact = false;
        good = tg_view_runs(&now.record, add, bytes);
    }
    tidy(bytes);
    return good;
}

bool tg_stomp_bytes_whole(const struct tg_find *find, uint64_t record, struct tg_stomp_bytes *bytes)
{
    struct tg_entry entry;
    *bytes = (struct tg_stomp_bytes){.is_exact = true};
    bool good = !tg_recording_get(find->recording, record, &entry) ||
                tg_view_runs(&entry.record, add, bytes);
    tidy(bytes);
    return good;
}

void tg_stomp_bytes_free(struct tg_stomp_bytes *bytes)
{
    free(bytes->range);
    *bytes = (struct tg_stomp_bytes){0};
}

/* The first range that ends behind `address`; `count` if there is none. */
static size_t range_at(const struct tg_stomp_bytes *bytes, uint64_t address)
{
    size_t low = 0, high = bytes->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (bytes->range[middle].hi <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool tg_stomp_bytes_meet(const struct tg_stomp_bytes *bytes, uint64_t lo, uint64_t hi)
{
    size_t at = range_at(bytes, lo);
    return at < bytes->count && bytes->range[at].lo < hi;
}

uint64_t tg_stomp_bytes_distance(const struct tg_stomp_bytes *bytes, uint64_t lo, uint64_t hi,
                                 bool *is_behind)
{
    size_t at = range_at(bytes, lo);
    uint64_t behind = UINT64_MAX, before = UINT64_MAX;
    if (at < bytes->count)
        behind = bytes->range[at].lo > hi ? bytes->range[at].lo - hi : 0;
    if (at > 0)
        before = lo - bytes->range[at - 1].hi;
    *is_behind = behind <= before;
    return *is_behind ? behind : before;
}
