/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When two values agree: |value - trusted| <= absolute + relative * |trusted|. Golden values,
 * references, `check --against` and `diff` all use these functions, so that they always agree.
 *
 * They are inline and have no branches for finite values, because comparisons call them in their
 * loops.
 */
#ifndef TG_BASE_TOLERANCE_H
#define TG_BASE_TOLERANCE_H

#include <math.h>
#include <stdbool.h>

/* For finite values. The caller computes the error, because a difference of doubles would be wrong for
 * 64-bit integers. */
__attribute__((always_inline)) static inline bool tg_is_beyond(double error, double trusted,
                                                               double absolute, double relative)
{
    return error > absolute + relative * fabs(trusted);
}

/* For any values. An infinity agrees only with itself; NaN agrees only with NaN, and only if
 * `equal_nan` is set. `error` counts only if both values are finite. */
static inline bool tg_is_close(double value, double trusted, double error, double absolute,
                               double relative, bool equal_nan)
{
    if (isnan(value) || isnan(trusted))
        return equal_nan && isnan(value) && isnan(trusted);
    if (isinf(value) || isinf(trusted))
        return value == trusted;
    return !tg_is_beyond(error, trusted, absolute, relative);
}

/* The distance to show in reports: 0 for two NaN and for equal infinities; infinite if the difference
 * is NaN. */
static inline double tg_distance(double value, double trusted)
{
    double difference = fabs(value - trusted);
    if (value == trusted || (isnan(value) && isnan(trusted)))
        return 0;
    return isnan(difference) ? (double)INFINITY : difference;
}

#endif
