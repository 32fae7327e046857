/* SPDX-License-Identifier: Apache-2.0 */
/* Element types: names, sizes, and conversion of one value to and from double. */
#ifndef TASKGLASS_DTYPE_H
#define TASKGLASS_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <taskglass/api.h>
#include <taskglass/wire/dtype.h>

#ifdef __cplusplus
extern "C" {
#endif

/* True for the numbers of the table in wire/dtype.h. The functions below need a valid type unless they
 * say otherwise. */
TG_API bool tg_dtype_valid(int dtype);
/* "float32" …; "invalid" for an invalid number. Never NULL. */
TG_API const char *tg_dtype_name(int dtype);
/* TG_DTYPE_NONE if no type has that name. */
TG_API enum tg_dtype tg_dtype_from_name(const char *name);
/* Bits of one element: 4, 8, 16, 32 or 64; 0 for an invalid number. */
TG_API unsigned tg_dtype_bits(int dtype);
TG_API bool tg_dtype_is_float(int dtype);
/* True if the type has negative values: every float but float8_e8m0fnu, and int4 to int64. */
TG_API bool tg_dtype_is_signed(int dtype);

/*
 * Element `index` of a packed array at `base` (4-bit types: nibble `index`, low nibble first),
 * as a double: exact for every type but int64 and uint64 beyond 2^53.
 */
TG_API double tg_dtype_load(int dtype, const void *base, size_t index);
/*
 * Stores the nearest value of the type, ties to even. Floats without infinity (float8_e4m3fn,
 * float4_e2m1fn) saturate, infinity included. NaN stays NaN, except that float4_e2m1fn has none and
 * gets 0. float8_e8m0fnu gets the nearest power of two, 2^-127 for zero, 2^127 for infinity, and
 * NaN for negatives. Integers truncate toward zero and saturate; NaN becomes 0. Bool gets whether
 * the value differs from 0. Storing a nibble keeps the other nibble of its byte. In kernels, use
 * numeric.h.
 */
TG_API void tg_dtype_store(int dtype, void *base, size_t index, double value);

#ifdef __cplusplus
}
#endif
#endif
