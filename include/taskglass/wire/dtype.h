/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Element types, by the numbers they have in device memory and in files. Never renumber, only
 * append. The names are those of NumPy and ml_dtypes; bits is the size of one element. Types
 * of 4 bits are packed two to a byte, low nibble first.
 */
#ifndef TASKGLASS_WIRE_DTYPE_H
#define TASKGLASS_WIRE_DTYPE_H

#include <stdint.h>

/* clang-format off */
/*      constant         number bits name */
#define TG_DTYPE_MAP(X)                      \
    X(FLOAT64,           1, 64, "float64")         \
    X(FLOAT32,           2, 32, "float32")         \
    X(FLOAT16,           3, 16, "float16")         \
    X(BFLOAT16,          4, 16, "bfloat16")        \
    X(FLOAT8_E4M3FN,     5,  8, "float8_e4m3fn")   \
    X(FLOAT8_E5M2,       6,  8, "float8_e5m2")     \
    X(FLOAT8_E8M0FNU,    7,  8, "float8_e8m0fnu")  \
    X(FLOAT4_E2M1FN,     8,  4, "float4_e2m1fn")   \
    X(INT64,             9, 64, "int64")           \
    X(INT32,            10, 32, "int32")           \
    X(INT16,            11, 16, "int16")           \
    X(INT8,             12,  8, "int8")            \
    X(INT4,             13,  4, "int4")            \
    X(UINT64,           14, 64, "uint64")          \
    X(UINT32,           15, 32, "uint32")          \
    X(UINT16,           16, 16, "uint16")          \
    X(UINT8,            17,  8, "uint8")           \
    X(BOOL,             18,  8, "bool")
/* clang-format on */

#define TG_DTYPE_ENUM_(constant, number, bits, name) TG_##constant = (number),
enum tg_dtype { TG_DTYPE_NONE = 0, TG_DTYPE_MAP(TG_DTYPE_ENUM_) TG_DTYPE_END };
#undef TG_DTYPE_ENUM_

#endif
