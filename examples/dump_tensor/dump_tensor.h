/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of this workload share. */
#ifndef DUMP_TENSOR_H
#define DUMP_TENSOR_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum {
    DUMP_ADD,
    DUMP_ADD_SCALAR,
    DUMP_ACCUMULATE,
    DUMP_COPY,
    DUMP_TRANSPOSE,
    DUMP_SCALARS,
    DUMP_SCALE,
    DUMP_FOLD,
    DUMP_KERNELS
};

/* The orchestration's tensors, in the order in which `prepare` declares them. */
enum {
    ARG_A,
    ARG_B,
    ARG_TOTAL,
    ARG_MATRIX,
    ARG_NIBBLES,
    ARG_CODES,
    ARG_CUBE,
    ARG_EMPTY,
    ARG_POINT,
    ARG_PAIRS,
    ARG_TURNED,
    ARG_WIDE,
    ARG_MIXED,
    ARG_BITS,
    ARG_TURNED_CUBE,
    ARG_COUNT
};

/* A scalar of each type of 8 bits and up, with an ordinary and a special value. */
enum { TYPED_SCALARS = 16, ORDINARY = 0, SPECIAL = 1, SCALAR_SETS = 2 };

TG_INLINE struct tg_scalar typed_scalar(int set, int i)
{
    /* clang-format off */
    const struct { unsigned dtype; uint64_t bits[SCALAR_SETS]; } table[TYPED_SCALARS] = {
        /* 0.1, or as near as the type gets     NaN, or infinity where it has both */
        {TG_FLOAT64,        {0x3fb999999999999a, 0x7ff8000000000000}},
        {TG_FLOAT32,        {0x3dcccccd,         0xff800000}},
        {TG_FLOAT16,        {0x2e66,             0x7c00}},
        {TG_BFLOAT16,       {0x3dcd,             0xffc0}},
        {TG_FLOAT8_E4M3FN,  {0x1d,               0x7f}},
        {TG_FLOAT8_E5M2,    {0x2e,               0xfc}},
        {TG_FLOAT8_E8M0FNU, {0x7c,               0xff}},
        /* the smallest, -(2^53 + 1) first      the largest */
        {TG_INT64,          {0xffdfffffffffffff, INT64_MAX}},
        {TG_INT32,          {0x80000000,         0x7fffffff}},
        {TG_INT16,          {0x8000,             0x7fff}},
        {TG_INT8,           {0x80,               0x7f}},
        /* the largest                          2^53 + 1, and the smallest */
        {TG_UINT64,         {UINT64_MAX,         0x20000000000001}},
        {TG_UINT32,         {0xffffffff,         0}},
        {TG_UINT16,         {0xffff,             0}},
        {TG_UINT8,          {0xff,               0}},
        {TG_BOOL,           {1,                  0}},
    };
    /* clang-format on */
    struct tg_scalar scalar;
    scalar.dtype = (uint8_t)table[i].dtype;
    scalar.bits = table[i].bits[set];
    return scalar;
}

TG_KERNEL(dump_add);
TG_KERNEL(dump_add_scalar);
TG_KERNEL(dump_accumulate);
TG_KERNEL(dump_copy);
TG_KERNEL(dump_transpose);
TG_KERNEL(dump_scalars);
TG_KERNEL(dump_scale);
TG_KERNEL(dump_fold);
TG_ORCHESTRATION(dump_tensor);

#endif
