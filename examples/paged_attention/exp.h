/* SPDX-License-Identifier: Apache-2.0 */
/*
 * e^x for the softmax: kernels have no libm. With x = n·ln 2 + r and |r| <= ln 2 / 2,
 *
 *     e^x = 2^n · (1 + r + r²/2! + … + r⁷/7!)
 *
 * Its errors, in units of 2^-24, relative to a sum of at least 0.7: the series ends before r⁸/8!,
 * 0.2; r is rounded, 0.4; the last step of Horner's rule rounds a sum and a product, 1.5; the steps
 * before it count |r|, |r|² … times as much, 0.9. That is 3, and EXP_ERROR allows 4. Measured on
 * every float32 from -87 to 0 the error is at most 1.8, with fused multiply-add 1.4.
 */
#ifndef PAGED_ATTENTION_EXP_H
#define PAGED_ATTENTION_EXP_H

#include <taskglass/numeric.h>
#include <taskglass/target.h>

/* Relative error of exp_below_zero if the result is not 0. */
#define EXP_ERROR 0x1p-22

/* Below this the result is set to 0; it would be less than 2^-125. */
#define EXP_LOWEST (-87.0f)

/* For x <= 0, and exactly 1 for x = 0. */
TG_INLINE float exp_below_zero(float x)
{
    /* ln 2 in two parts. The first has 9 bits, so that n times it is exact. */
    const float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f, log2_e = 1.44269504f;
    float r, sum;
    int n;
    if (!(x >= EXP_LOWEST))
        return 0;
    n = (int)(x * log2_e - 0.5f); /* truncation toward zero gives the nearest, since x <= 0 */
    r = (x - (float)n * ln2_high) - (float)n * ln2_low;
    sum = 1.0f / 5040;
    sum = sum * r + 1.0f / 720;
    sum = sum * r + 1.0f / 120;
    sum = sum * r + 1.0f / 24;
    sum = sum * r + 1.0f / 6;
    sum = sum * r + 0.5f;
    sum = sum * r + 1;
    sum = sum * r + 1;
    return sum * (float)tg_power_of_two(n);
}

#endif
