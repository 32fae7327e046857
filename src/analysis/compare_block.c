/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A comparison spends its time in these loops. They work on TG_BLOCK_LANES independent lanes, so
 * that a compiler can use vector instructions without reordering floating-point sums.
 */
#include "analysis/compare_block.h"

#include <math.h>
#include <string.h>

#include "analysis/compare_decode.h"
#include "analysis/compare_target.h"
#include "base/tolerance.h"

#define LANES TG_BLOCK_LANES

/* Floats and doubles share this body. The sums are local arrays, so that they stay in registers. */
/* clang-format off */
#define DEFINE_COMPARE(name, type)                                                                 \
    TG_LOOP struct tg_block_result name(const type *x, const type *y, int count, double absolute,  \
                                        double relative)                                           \
    {                                                                                              \
        struct tg_block_result result = {0};                                                       \
        double aa[LANES] = {0}, bb[LANES] = {0}, ab[LANES] = {0}, dd[LANES] = {0};                 \
        double max_abs[LANES] = {0}, max_rel[LANES] = {0};                                         \
        int64_t mismatches[LANES] = {0};                                                           \
        for (int i = 0; i < count; i += LANES) {                                                   \
            for (int l = 0; l < LANES; l++) {                                                      \
                double a = (double)x[i + l], b = (double)y[i + l];                                 \
                double error = fabs(a - b), size = fabs(b);                                        \
                double ratio = error / (size > 0 ? size : (double)INFINITY);                       \
                aa[l] += a * a;                                                                    \
                bb[l] += b * b;                                                                    \
                ab[l] += a * b;                                                                    \
                dd[l] += error * error;                                                            \
                max_abs[l] = error > max_abs[l] ? error : max_abs[l];                              \
                max_rel[l] = ratio > max_rel[l] ? ratio : max_rel[l];                              \
                mismatches[l] += tg_is_beyond(error, b, absolute, relative);                       \
            }                                                                                      \
        }                                                                                          \
        for (int l = 0; l < LANES; l++) {                                                          \
            result.aa += aa[l];                                                                    \
            result.bb += bb[l];                                                                    \
            result.ab += ab[l];                                                                    \
            result.dd += dd[l];                                                                    \
            result.max_abs = max_abs[l] > result.max_abs ? max_abs[l] : result.max_abs;            \
            result.max_rel = max_rel[l] > result.max_rel ? max_rel[l] : result.max_rel;            \
            result.mismatches += (uint64_t)mismatches[l];                                          \
        }                                                                                          \
        return result;                                                                             \
    }

#define DEFINE_SQUARES(name, type)                                                                 \
    TG_LOOP double name(const type *value, int count)                                              \
    {                                                                                              \
        double sum[LANES] = {0}, all = 0;                                                          \
        for (int i = 0; i < count; i += LANES)                                                     \
            for (int l = 0; l < LANES; l++)                                                        \
                sum[l] += (double)value[i + l] * (double)value[i + l];                             \
        for (int l = 0; l < LANES; l++)                                                            \
            all += sum[l];                                                                         \
        return all;                                                                                \
    }
/* clang-format on */

DEFINE_COMPARE(compare_loop, float)
DEFINE_COMPARE(compare_wide_loop, double)
DEFINE_SQUARES(squares_loop, float)
DEFINE_SQUARES(squares_wide_loop, double)

TG_LOOP uint32_t distance_loop(const int32_t *a, const int32_t *b, int count)
{
    uint32_t most = 0;
    for (int i = 0; i < count; i++) {
        uint32_t up = (uint32_t)a[i] - (uint32_t)b[i];
        uint32_t distance = a[i] > b[i] ? up : 0 - up;
        most = distance > most ? distance : most;
    }
    return most;
}

/* Maps the bits of a float to an ordered integer: two's complement, with both zeros at 0. */
TG_LOOP int32_t order_of(const float *value)
{
    int32_t bits, sign;
    memcpy(&bits, value, sizeof bits);
    sign = bits < 0 ? -1 : 0;
    return ((bits & INT32_MAX) ^ sign) - sign;
}

TG_LOOP int64_t order_of_wide(const double *value)
{
    int64_t bits, sign;
    memcpy(&bits, value, sizeof bits);
    sign = bits < 0 ? -1 : 0;
    return ((bits & INT64_MAX) ^ sign) - sign;
}

TG_LOOP uint32_t distance_floats_loop(const float *x, const float *y, int count)
{
    uint32_t most = 0;
    for (int i = 0; i < count; i++) {
        int32_t a = order_of(&x[i]), b = order_of(&y[i]);
        uint32_t up = (uint32_t)a - (uint32_t)b;
        uint32_t distance = a > b ? up : 0 - up;
        most = distance > most ? distance : most;
    }
    return most;
}

TG_LOOP uint64_t distance_wide_loop(const double *x, const double *y, int count)
{
    uint64_t lane[LANES] = {0}, most = 0;
    for (int i = 0; i < count; i += LANES)
        for (int l = 0; l < LANES; l++) {
            int64_t a = order_of_wide(&x[i + l]), b = order_of_wide(&y[i + l]);
            uint64_t up = (uint64_t)a - (uint64_t)b;
            uint64_t distance = a > b ? up : 0 - up;
            lane[l] = distance > lane[l] ? distance : lane[l];
        }
    for (int l = 0; l < LANES; l++)
        most = lane[l] > most ? lane[l] : most;
    return most;
}

TG_FOR_TARGETS(struct tg_block_result, compare,
               (const float *a, const float *b, int count, double absolute, double relative),
               (a, b, count, absolute, relative))
TG_FOR_TARGETS(struct tg_block_result, compare_wide,
               (const double *a, const double *b, int count, double absolute, double relative),
               (a, b, count, absolute, relative))
TG_FOR_TARGETS(double, squares, (const float *value, int count), (value, count))
TG_FOR_TARGETS(double, squares_wide, (const double *value, int count), (value, count))
TG_FOR_TARGETS(uint32_t, distance, (const int32_t *a, const int32_t *b, int count), (a, b, count))
TG_FOR_TARGETS(uint32_t, distance_floats, (const float *a, const float *b, int count),
               (a, b, count))
TG_FOR_TARGETS(uint64_t, distance_wide, (const double *a, const double *b, int count),
               (a, b, count))

void tg_block_compare(const float *a, const float *b, int count, double absolute, double relative,
                      struct tg_block_result *result)
{
    *result = TG_BEST(compare)(a, b, count, absolute, relative);
}

void tg_block_compare_wide(const double *a, const double *b, int count, double absolute,
                           double relative, struct tg_block_result *result)
{
    *result = TG_BEST(compare_wide)(a, b, count, absolute, relative);
}

uint32_t tg_block_distance(const int32_t *a, const int32_t *b, int count)
{
    return TG_BEST(distance)(a, b, count);
}

uint32_t tg_block_distance_floats(const float *a, const float *b, int count)
{
    return TG_BEST(distance_floats)(a, b, count);
}

uint64_t tg_block_distance_wide(const double *a, const double *b, int count)
{
    return TG_BEST(distance_wide)(a, b, count);
}

double tg_block_squares(const float *value, int count)
{
    return TG_BEST(squares)(value, count);
}

double tg_block_squares_wide(const double *value, int count)
{
    return TG_BEST(squares_wide)(value, count);
}
