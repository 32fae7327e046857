/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/process/heap.h"
#include "base/grow.h"
#include <stdlib.h>
#include <string.h>

/* The index of the first extent that starts at or after offset. */
static size_t lower_bound(const struct tg_extents *list, uint64_t offset)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->at[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool make_room(struct tg_extents *list)
{
    return tg_grow(&list->at, &list->room, list->count + 1, sizeof *list->at);
}

/* The caller has made room. */
static void insert(struct tg_extents *list, size_t index, struct tg_extent extent)
{
    if (index < list->count)
        memmove(list->at + index + 1, list->at + index, (list->count - index) * sizeof extent);
    list->at[index] = extent;
    list->count++;
}

static void erase(struct tg_extents *list, size_t index)
{
    list->count--;
    memmove(list->at + index, list->at + index + 1, (list->count - index) * sizeof *list->at);
}

bool tg_heap_init(struct tg_heap *heap, uint64_t offset, uint64_t size)
{
    memset(heap, 0, sizeof *heap);
    if (!make_room(&heap->free))
        return false;
    insert(&heap->free, 0, (struct tg_extent){offset, size});
    heap->bytes_free = size;
    return true;
}

void tg_heap_destroy(struct tg_heap *heap)
{
    free(heap->free.at);
    free(heap->used.at);
    memset(heap, 0, sizeof *heap);
}

bool tg_heap_take(struct tg_heap *heap, uint64_t size, uint64_t *offset)
{
    if (size > UINT64_MAX - TG_HEAP_ALIGN || !make_room(&heap->used))
        return false;
    size = size ? (size + TG_HEAP_ALIGN - 1) / TG_HEAP_ALIGN * TG_HEAP_ALIGN : TG_HEAP_ALIGN;
    for (size_t i = 0; i < heap->free.count; i++) {
        struct tg_extent *extent = &heap->free.at[i];
        if (extent->size < size)
            continue;
        *offset = extent->offset;
        extent->offset += size;
        extent->size -= size;
        if (extent->size == 0)
            erase(&heap->free, i);
        insert(&heap->used, lower_bound(&heap->used, *offset), (struct tg_extent){*offset, size});
        heap->bytes_free -= size;
        return true;
    }
    return false;
}

/* Joins the extent to its free neighbours, or adds it as a new one. */
static bool set_free(struct tg_extents *list, struct tg_extent extent)
{
    size_t next = lower_bound(list, extent.offset);
    struct tg_extent *before = next > 0 ? &list->at[next - 1] : NULL;
    struct tg_extent *after = next < list->count ? &list->at[next] : NULL;
    bool joins_before = before && before->offset + before->size == extent.offset;
    bool joins_after = after && extent.offset + extent.size == after->offset;
    if (joins_before && joins_after) {
        before->size += extent.size + after->size;
        erase(list, next);
    } else if (joins_before) {
        before->size += extent.size;
    } else if (joins_after) {
        after->offset = extent.offset;
        after->size += extent.size;
    } else {
        if (!make_room(list))
            return false;
        insert(list, next, extent);
    }
    return true;
}

uint64_t tg_heap_size(const struct tg_heap *heap, uint64_t offset)
{
    size_t index = lower_bound(&heap->used, offset);
    bool found = index < heap->used.count && heap->used.at[index].offset == offset;
    return found ? heap->used.at[index].size : 0;
}

uint64_t tg_heap_give(struct tg_heap *heap, uint64_t offset)
{
    size_t index = lower_bound(&heap->used, offset);
    struct tg_extent extent;
    if (index == heap->used.count || heap->used.at[index].offset != offset)
        return 0;
    extent = heap->used.at[index];
    erase(&heap->used, index);
    if (set_free(&heap->free, extent)) /* if host memory is short, it is lost until close */
        heap->bytes_free += extent.size;
    return extent.size;
}

uint64_t tg_heap_largest(const struct tg_heap *heap)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < heap->free.count; i++)
        if (heap->free.at[i].size > largest)
            largest = heap->free.at[i].size;
    return largest;
}
