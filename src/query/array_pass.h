/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For loops that load the elements of an array one by one. An array may be larger than the memory, so the
 * pages that a loop has read must not stay in memory.
 */
#ifndef TG_QUERY_ARRAY_PASS_H
#define TG_QUERY_ARRAY_PASS_H

#include <taskglass/array.h>

enum { TG_PASS = 1 << 17 };

/* Counts TG_PASS elements, or all of a smaller array, as read: tg_bytes_were_read. */
void tg_array_count_read(const struct tg_array *array);

/* A loop calls this with each index, in ascending or descending order. */
static inline void tg_array_pass(const struct tg_array *array, int64_t index)
{
    if (index % TG_PASS == 0)
        tg_array_count_read(array);
}

#endif
