/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often the finite elements of an array have which size. Every one of them is in exactly one bin.
 *
 *   floats     bins of equal width from the least to the most; the most is in the last bin
 *   integers   every bin has the same count of whole numbers, so that none looks higher only because it is wider; there
 *              may be fewer bins than asked for, and the last may end behind the most
 *   one value  one bin
 */
#ifndef TG_WORKBENCH_HISTOGRAM_H
#define TG_WORKBENCH_HISTOGRAM_H

#include <taskglass/array.h>
#include <taskglass/status.h>

#include "query/array_print.h"

enum { TG_HISTOGRAM_LEAST = 8, TG_HISTOGRAM_USUAL = 64, TG_HISTOGRAM_MOST = 256 };

struct tg_histogram {
    double from, to; /* edges: of the first bin, and behind the last; equal for one float value */
    unsigned bins;   /* 0: no element is finite */
    uint64_t count[TG_HISTOGRAM_MOST];
    uint64_t looked_at; /* elements, from the first on */
};

/* `bins` are within the limits above. Each pass asks the caller whether to go on, a single pass the second one; if not,
 * the histogram is of the elements before, and its range at least theirs. NO_MEMORY. */
tg_status tg_histogram_make(const struct tg_array *array, unsigned bins,
                            const struct tg_array_asked asked[2], struct tg_histogram *histogram,
                            struct tg_error *error);

#endif
