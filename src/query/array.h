/* SPDX-License-Identifier: Apache-2.0 */
/* What the library computes of an array for itself; the rest is public. */
#ifndef TG_QUERY_ARRAY_H
#define TG_QUERY_ARRAY_H

#include <taskglass/array.h>

/* The bits of an element: tg_load_bits of numeric.h. Smallest and largest compare as the type
 * does and leave NaN out; -0 counts as 0. */
struct tg_array_statistics {
    uint64_t nan, infinite, zero;
    uint64_t finite;      /* 0: no smallest, largest and mean */
    uint64_t least, most; /* bits of elements, infinities included where there are any */
    bool has_range;       /* least and most are set */
    double mean;          /* of the finite ones */
};
void tg_array_measure(const struct tg_array *array, struct tg_array_statistics *statistics);

#endif
