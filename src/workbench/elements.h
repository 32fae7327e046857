/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of an array as numbers, a block at a time: those that lie one behind the other, or every n-th. */
#ifndef TG_WORKBENCH_ELEMENTS_H
#define TG_WORKBENCH_ELEMENTS_H

#include <taskglass/array.h>

#include "analysis/compare_decode.h"

enum { TG_ELEMENTS_PAGE = 4096 };

/* A reader of one array; some kilobytes. Used by one thread at a time. */
struct tg_elements {
    const unsigned char *bytes; /* packed */
    unsigned bits;              /* of one element */
    struct tg_decoder decoder;
    float narrow[TG_BLOCK];
    unsigned char gathered[TG_BLOCK * 8];
};

void tg_elements_init(struct tg_elements *elements, const struct tg_array *array);

/* The bytes of `count` elements from `first` on, packed from the beginning of a byte. They are those of the array
 * if that is possible, else a copy, which the next call overwrites. At most TG_BLOCK. */
const void *tg_elements_packed(struct tg_elements *elements, uint64_t first, uint64_t step,
                               int count);
/* The same elements as numbers, exact but for 64-bit integers beyond 2^53. `value` has room for TG_BLOCK. True if
 * one of them is NaN or infinite. */
bool tg_elements_read(struct tg_elements *elements, uint64_t first, uint64_t step, int count,
                      double *value);

/* Before and after reading `count` elements from `first` on: lets the disk begin, and lets memory go. */
void tg_elements_want(const struct tg_elements *elements, uint64_t first, uint64_t step,
                      uint64_t count);
void tg_elements_were_read(const struct tg_elements *elements, uint64_t first, uint64_t step,
                           uint64_t count);

#endif
