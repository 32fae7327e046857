/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has which part of device memory. The bookkeeping is the host's own memory: nothing the
 * device does can confuse it. First fit over extents sorted by offset.
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
    struct tg_extent *at; /* sorted by offset, none touching another */
    size_t count;
    size_t room;
};

struct tg_heap {
    struct tg_extents free;
    struct tg_extents used;
    uint64_t bytes_free;
};

/* Everything in [offset, offset + size) is free. False where there is no host memory. */
bool tg_heap_init(struct tg_heap *heap, uint64_t offset, uint64_t size);
void tg_heap_destroy(struct tg_heap *heap);
/* False where no free extent is large enough (or the host has no memory for the books). A size
 * of 0 gets an extent of its own too. */
bool tg_heap_take(struct tg_heap *heap, uint64_t size, uint64_t *offset);
/* The size that was taken there; 0, and nothing happens, where nothing was. */
uint64_t tg_heap_give(struct tg_heap *heap, uint64_t offset);
uint64_t tg_heap_largest(const struct tg_heap *heap);

#endif
