/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts millions of numbers, for the order of events. */
#ifndef TG_ANALYSIS_DEPS_SORT_H
#define TG_ANALYSIS_DEPS_SORT_H

#include <stddef.h>
#include <stdint.h>

struct tg_sorted {
    uint64_t key;
    uint32_t index;
};

/* Sorts by key; items with equal keys stay in their order. `room` has as many items. */
void tg_sort_by_key(struct tg_sorted *item, struct tg_sorted *room, size_t count);

#endif
