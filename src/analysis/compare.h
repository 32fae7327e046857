/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares two arrays of one type, a window at a time, so that the caller can show progress and
 * release memory in between:
 *
 *     tg_comparer_init(&comparer, dtype, a, b, elements, tolerance, equal_nan, &comparison);
 *     while (tg_comparer_step(&comparer))
 *         …
 *
 * As long as the two are equal byte for byte, only their bytes are compared. At the first
 * difference the comparison begins again, because its sums cover all elements; equal blocks stay
 * cheap.
 *
 *   compare.c          the windows, and the result of each block
 *   compare_rule.c     the rule for one element, and the default tolerances of the types
 *   compare_block.c    the loops over a block of finite values
 *   compare_decode.c   elements as numbers
 */
#ifndef TG_ANALYSIS_COMPARE_H
#define TG_ANALYSIS_COMPARE_H

#include <taskglass/analysis.h>

#include "analysis/compare_decode.h"

/* Sums over all blocks, wide enough for the squares of any double. */
struct tg_compare_sums {
    long double aa, bb, ab, dd;
};

struct tg_comparer {
    struct tg_decoder decoder;
    struct tg_tolerance tolerance;
    bool equal_nan;
    const unsigned char *a, *b;
    uint64_t elements;
    uint64_t at;   /* number of elements done */
    bool is_equal; /* all bytes were equal so far, and nothing has been counted */
    struct tg_compare_sums sums;
    struct tg_comparison *result;
    /* one block of each side, as numbers */
    union {
        float narrow[TG_BLOCK];
        double wide[TG_BLOCK];
    } x, y;
    int32_t key_x[TG_BLOCK], key_y[TG_BLOCK];
};

/* `dtype` must be valid. Everything the pointers refer to must live until the comparison ends. */
void tg_comparer_init(struct tg_comparer *comparer, unsigned dtype, const void *a, const void *b,
                      uint64_t elements, const struct tg_tolerance *tolerance, bool equal_nan,
                      struct tg_comparison *result);
/* Returns false when all elements are done and the result is complete. */
bool tg_comparer_step(struct tg_comparer *comparer);

/* Elements of one window. */
enum { TG_COMPARE_WINDOW = 1 << 20 };

/* --- one element ------------------------------------------------------------------------------ */

bool tg_element_is_nan(unsigned dtype, uint64_t bits);
bool tg_element_is_infinite(unsigned dtype, uint64_t bits);
/* The exact rule for one element. */
bool tg_elements_agree(unsigned dtype, uint64_t a, uint64_t b, const struct tg_tolerance *tolerance,
                       bool equal_nan);
/* |a - b| of two 64-bit integers. */
uint64_t tg_integer_distance(unsigned dtype, uint64_t a, uint64_t b);
/* The position of a float in the order of all values of its type: sign and magnitude as one number,
 * 0 for both zeros. */
int64_t tg_element_key(unsigned dtype, uint64_t bits);
/* The number of steps from one value of a float type to the other; 0 if one is NaN. */
uint64_t tg_ulp_distance(unsigned dtype, uint64_t a, uint64_t b);

#endif
