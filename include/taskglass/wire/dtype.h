/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Element types, by the numbers they have in device memory and in files. Never renumber, only
 * append. The names are those of NumPy and ml_dtypes; bits is the size of one element. Types
 * of 4 bits are packed two to a byte, low nibble first.
 */
#ifndef TASKGLASS_WIRE_DTYPE_H
#define TASKGLASS_WIRE_DTYPE_H

#include <stdint.h>

/* What kind of number an element is; <taskglass/numeric.h> has the arithmetic of each. */
enum tg_number {
    TG_NUMBER_NONE = 0,
    TG_NUMBER_DOUBLE,   /* the machine's double */
    TG_NUMBER_SINGLE,   /* the machine's float */
    TG_NUMBER_SHORT,    /* a float of at most 16 bits with a sign; numeric.h has its format */
    TG_NUMBER_POWER,    /* a power of two: no sign, no zero */
    TG_NUMBER_SIGNED,   /* two's complement */
    TG_NUMBER_UNSIGNED, /* an unsigned integer */
    TG_NUMBER_TRUTH     /* 0 is false, anything else true */
};

/*
 * The only table of types. A row gives a type everything else: the name in files, on screen and in
 * Python, packing, conversion, statistics, comparison with its default tolerance, and exports (as
 * bits if a format lacks the type). A new SHORT also needs a line in numeric.h.
 */
/* clang-format off */
/*    constant        number bits name             number it is */
#define TG_DTYPE_MAP(X)                                      \
    X(FLOAT64,           1, 64, "float64",         DOUBLE)   \
    X(FLOAT32,           2, 32, "float32",         SINGLE)   \
    X(FLOAT16,           3, 16, "float16",         SHORT)    \
    X(BFLOAT16,          4, 16, "bfloat16",        SHORT)    \
    X(FLOAT8_E4M3FN,     5,  8, "float8_e4m3fn",   SHORT)    \
    X(FLOAT8_E5M2,       6,  8, "float8_e5m2",     SHORT)    \
    X(FLOAT8_E8M0FNU,    7,  8, "float8_e8m0fnu",  POWER)    \
    X(FLOAT4_E2M1FN,     8,  4, "float4_e2m1fn",   SHORT)    \
    X(INT64,             9, 64, "int64",           SIGNED)   \
    X(INT32,            10, 32, "int32",           SIGNED)   \
    X(INT16,            11, 16, "int16",           SIGNED)   \
    X(INT8,             12,  8, "int8",            SIGNED)   \
    X(INT4,             13,  4, "int4",            SIGNED)   \
    X(UINT64,           14, 64, "uint64",          UNSIGNED) \
    X(UINT32,           15, 32, "uint32",          UNSIGNED) \
    X(UINT16,           16, 16, "uint16",          UNSIGNED) \
    X(UINT8,            17,  8, "uint8",           UNSIGNED) \
    X(BOOL,             18,  8, "bool",            TRUTH)
/* clang-format on */

#define TG_DTYPE_ENUM_(constant, number, bits, name, kind) TG_##constant = (number),
enum tg_dtype { TG_DTYPE_NONE = 0, TG_DTYPE_MAP(TG_DTYPE_ENUM_) TG_DTYPE_END };
#undef TG_DTYPE_ENUM_

#endif
