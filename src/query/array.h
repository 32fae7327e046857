/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record's values as an array: its elements one after the other in row-major order, as far as
 * they are stored. Views, exports and comparisons look at records through this.
 *
 * The functions are exported for the command line, and no part of the public interface.
 */
#ifndef TG_QUERY_ARRAY_H
#define TG_QUERY_ARRAY_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/recording.h>

struct tg_array {
    unsigned dtype; /* enum tg_dtype, valid */
    int ndim;
    int64_t shape[TG_MAX_DIMS]; /* its product is `elements` */
    int64_t elements;
    const void *bytes; /* packed; in the mapped recording, or in the entry for a scalar */
    uint64_t size;     /* of the bytes */
    bool cut;          /* less is stored than there was: the first elements, in one dimension */
};

/* False where nothing of the record is stored. The array points into the recording and, for
 * scalars, into the entry. */
TG_API bool tg_array_of(const struct tg_recording *recording, const struct tg_entry *entry,
                        struct tg_array *array);

/* The bits of an element: tg_load_bits of numeric.h. Smallest and largest compare as the type
 * does and leave NaN out; -0 counts as 0. */
struct tg_array_statistics {
    uint64_t nan, infinite, zero;
    uint64_t finite;      /* 0: no smallest, largest and mean */
    uint64_t least, most; /* bits of elements, infinities included where there are any */
    bool has_range;       /* least and most are set */
    double mean;          /* of the finite ones */
};
TG_API void tg_array_measure(const struct tg_array *array, struct tg_array_statistics *statistics);

#endif
