/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays that grow by doubling, so that adding n elements copies fewer than 2n:
 *
 *     if (!tg_grow(&list->item, &list->room, list->count + 1, sizeof *list->item))
 *         return no_memory(error);
 *     list->item[list->count++] = item;
 *
 * The caller owns the array and frees it with free(). An array starts as NULL with room 0.
 */
#ifndef TG_BASE_GROW_H
#define TG_BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TG_GROW_FIRST = 64 };

/* The new room for `wanted` elements; 0 if their size in bytes does not fit a size_t. */
static inline size_t tg_grow_room(size_t room, size_t wanted, size_t size)
{
    if (wanted > SIZE_MAX / 2 / size)
        return 0;
    if (room < TG_GROW_FIRST)
        room = TG_GROW_FIRST;
    while (room < wanted)
        room *= 2;
    return room > SIZE_MAX / size ? 0 : room;
}

/* `array` points to the caller's pointer of any type, so memcpy reads and writes that pointer. False
 * if memory ran out or the size does not fit a size_t; array and room then keep their values. */
static inline bool tg_grow_more(void *array, size_t *room, size_t wanted, size_t size)
{
    size_t larger = tg_grow_room(*room, wanted, size);
    void *old, *moved;
    memcpy(&old, array, sizeof old);
    moved = larger ? realloc(old, larger * size) : NULL;
    if (!moved)
        return false;
    memcpy(array, &moved, sizeof moved);
    *room = larger;
    return true;
}

/* Makes room for `wanted` elements of `size` bytes each. New elements are not initialised. */
static inline bool tg_grow(void *array, size_t *room, size_t wanted, size_t size)
{
    return wanted <= *room || tg_grow_more(array, room, wanted, size);
}

#endif
