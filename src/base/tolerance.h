/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When two values agree: |value - trusted| <= absolute + relative * |trusted|. Golden values,
 * references, `check --against` and `diff` all ask here, so that they cannot answer differently.
 *
 * Inline, and without branches where all values are finite: the loops of a comparison are made of it.
 */
#ifndef TG_BASE_TOLERANCE_H
#define TG_BASE_TOLERANCE_H

#include <math.h>
#include <stdbool.h>

/* Of finite values. The error is an argument because that of 64-bit integers is no double's. */
__attribute__((always_inline)) static inline bool tg_is_beyond(double error, double trusted,
                                                               double absolute, double relative)
{
    return error > absolute + relative * fabs(trusted);
}

/* Of any values. An infinity agrees with itself alone; NaN agrees with NaN where `equal_nan` says so,
 * and with nothing else. `error` counts only where both are finite. */
static inline bool tg_is_close(double value, double trusted, double error, double absolute,
                               double relative, bool equal_nan)
{
    if (isnan(value) || isnan(trusted))
        return equal_nan && isnan(value) && isnan(trusted);
    if (isinf(value) || isinf(trusted))
        return value == trusted;
    return !tg_is_beyond(error, trusted, absolute, relative);
}

/* How far apart they are for a person who reads numbers: 0 for NaN and NaN and for an infinity and
 * itself, infinite where the difference is no number. */
static inline double tg_distance(double value, double trusted)
{
    double difference = fabs(value - trusted);
    if (value == trusted || (isnan(value) && isnan(trusted)))
        return 0;
    return isnan(difference) ? (double)INFINITY : difference;
}

#endif
