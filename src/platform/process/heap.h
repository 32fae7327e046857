/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocator of device memory. Its bookkeeping is in host memory, so the device cannot damage
 * it. First fit over extents sorted by offset.
 */
#ifndef TG_PROCESS_HEAP_H
#define TG_PROCESS_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TG_HEAP_ALIGN = 256 };

struct tg_extent {
    uint64_t offset;
    uint64_t size;
};

struct tg_extents {
    struct tg_extent *at; /* sorted by offset, never overlapping */
    size_t count;
    size_t room;
};

struct tg_heap {
    struct tg_extents free;
    struct tg_extents used;
    uint64_t bytes_free;
};

/* Starts with [offset, offset + size) free. False if host memory runs out. */
bool tg_heap_init(struct tg_heap *heap, uint64_t offset, uint64_t size);
void tg_heap_destroy(struct tg_heap *heap);
/* False if no free extent is large enough or host memory runs out. A size of 0 also gets an extent
 * of its own. */
bool tg_heap_take(struct tg_heap *heap, uint64_t size, uint64_t *offset);
/* The size of the extent that was taken at offset; 0 if there is none. */
uint64_t tg_heap_size(const struct tg_heap *heap, uint64_t offset);
/* Frees the extent that was taken at offset and returns its size; 0 if there is none. */
uint64_t tg_heap_give(struct tg_heap *heap, uint64_t offset);
uint64_t tg_heap_largest(const struct tg_heap *heap);

#endif
