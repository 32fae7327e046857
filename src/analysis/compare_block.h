/* SPDX-License-Identifier: Apache-2.0 */
/* One block of two tensors with finite values: sums, extremes, and the elements beyond a
 * tolerance. */
#ifndef TG_ANALYSIS_COMPARE_BLOCK_H
#define TG_ANALYSIS_COMPARE_BLOCK_H

#include <stdint.h>

struct tg_block_result {
    double aa, bb, ab, dd; /* sums of a², b², ab, (a - b)² */
    double max_abs, max_rel;
    uint64_t mismatches;
};

/* `count` is a multiple of TG_BLOCK_LANES, here and below. */
void tg_block_compare(const float *a, const float *b, int count, double absolute, double relative,
                      struct tg_block_result *result);
void tg_block_compare_wide(const double *a, const double *b, int count, double absolute,
                           double relative, struct tg_block_result *result);

/* The largest distance between keys (tg_decode_keys). The other two take floats and doubles
 * directly. */
uint32_t tg_block_distance(const int32_t *a, const int32_t *b, int count);
uint32_t tg_block_distance_floats(const float *a, const float *b, int count);
uint64_t tg_block_distance_wide(const double *a, const double *b, int count);

/* The sum of the squares. */
double tg_block_squares(const float *value, int count);
double tg_block_squares_wide(const double *value, int count);

/* |a - b| / |b|, 0 where b is 0. */
static inline double tg_relative_error(double error, double b)
{
    double size = b < 0 ? -b : b;
    return error / (size > 0 ? size : __builtin_inf());
}

#endif
