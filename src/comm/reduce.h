/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes one value of two, for every element type and operation: to[i] = a[i] ∘ b[i], in this order.
 *
 *   float64, float32       in the type; a NaN that a sum or product gives is always the same one
 *   shorter floats         in float or double, rounded once to the nearest value
 *   integers               sum and product wrap around
 *   bool                   sum and max: or; product and min: and. Anything but 0 is true
 *   min and max            of floats: NaN if one of the two is NaN
 *
 * The same bits come out whatever the alignment and wherever the array is cut, so that all ranks have
 * the same result.
 */
#ifndef TG_COMM_REDUCE_H
#define TG_COMM_REDUCE_H

#include <stdint.h>
#include <taskglass/wire/comm.h>

/* `to` may be `a` or `b`, but not overlap them otherwise. Packed arrays of `count` elements. */
void tg_comm_reduce(uint32_t dtype, uint32_t operation, void *to, const void *a, const void *b,
                    int64_t count);

#endif
