/* SPDX-License-Identifier: Apache-2.0 */
/* A radix sort, by 11 bits at a time: times of one run differ only in their low bits, so three or four
 * passes do, whatever the order was before. */
#include "analysis/deps_sort.h"

#include <stdbool.h>
#include <string.h>

enum { DIGIT = 11, VALUES = 1 << DIGIT };

static bool is_in_order(const struct tg_sorted *item, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (item[i].key < item[i - 1].key)
            return false;
    return true;
}

/* Moves the items to `to` by one digit of their keys, which are counted from `least`. */
static void pass(const struct tg_sorted *from, struct tg_sorted *to, size_t count, uint64_t least,
                 unsigned shift)
{
    size_t place[VALUES] = {0}, at = 0;
    for (size_t i = 0; i < count; i++)
        place[(from[i].key - least) >> shift & (VALUES - 1)]++;
    for (int i = 0; i < VALUES; i++) {
        size_t here = place[i];
        place[i] = at;
        at += here;
    }
    for (size_t i = 0; i < count; i++)
        to[place[(from[i].key - least) >> shift & (VALUES - 1)]++] = from[i];
}

void tg_sort_by_key(struct tg_sorted *item, struct tg_sorted *room, size_t count)
{
    uint64_t least = UINT64_MAX, most = 0;
    struct tg_sorted *from = item, *to = room;
    if (is_in_order(item, count))
        return;
    for (size_t i = 0; i < count; i++) {
        least = item[i].key < least ? item[i].key : least;
        most = item[i].key > most ? item[i].key : most;
    }
    for (unsigned shift = 0; shift < 64 && (most - least) >> shift != 0; shift += DIGIT) {
        pass(from, to, count, least, shift);
        struct tg_sorted *other = from;
        from = to;
        to = other;
    }
    if (from != item)
        memcpy(item, from, count * sizeof *item);
}
