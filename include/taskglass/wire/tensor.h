/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tensor as tasks carry it, and a typed scalar.
 *
 *    storage:  addr ──► ┌───────────────────────────────┐
 *                       │   ▲ element 0 of the view     │  storage_bytes
 *                       └───┼───────────────────────────┘
 *                           start (elements)
 *
 * Element (i0, i1, …) of the view lies at  start + i0*strides[0] + i1*strides[1] + …  elements
 * after addr. A new, whole tensor has start 0 and row-major strides. A view differs from it only in
 * start, shape and strides, so a view of a view needs no reference to the first. Dimensions beyond
 * ndim mean nothing. Strides count elements and may be zero (broadcast, inputs only) or negative.
 * For 4-bit types an element is a nibble.
 */
#ifndef TASKGLASS_WIRE_TENSOR_H
#define TASKGLASS_WIRE_TENSOR_H

#include <stdint.h>
#include <taskglass/wire/assert.h>
#include <taskglass/wire/dtype.h>

enum { TG_MAX_DIMS = 8, TG_MAX_TENSORS = 16, TG_MAX_SCALARS = 16 };

/* Value of owner_depth for an output whose memory the submit allocates. */
enum { TG_TENSOR_NEW = 255 };

/* Values of `reserved` in a tensor whose dtype is TG_DTYPE_NONE: why it is none, so that the submit which
 * refuses it can say so. After TG_TENSOR_MISSING it has the shape of the tensor that the view was made of;
 * `owner` is the dimension. */
enum tg_tensor_fault {
    TG_TENSOR_MISSING =
        1,               /* an orchestration was not given it: `start` its number, `owner` how many
                              there are */
    TG_TENSOR_NO_DIM,    /* there is no such dimension */
    TG_TENSOR_OUTSIDE,   /* a slice from `start` to strides[0] */
    TG_TENSOR_NO_STEP,   /* a slice with step `start` */
    TG_TENSOR_NO_INDEX,  /* the index `start` */
    TG_TENSOR_NO_REPEAT, /* a broadcast to `start` elements of a dimension that has not one */
    TG_TENSOR_GAPS,      /* a reshape of a view that is not contiguous */
    TG_TENSOR_OTHER_SIZE /* a reshape to `start` elements */
};

/* A tensor, or a view of one: a value that owns nothing. */
struct tg_tensor {
    uint64_t addr;          /* device address of the storage */
    uint64_t storage_bytes; /* size of the storage; views must stay inside */
    int64_t start;          /* elements from addr to element (0, 0, …) */
    uint8_t dtype;          /* enum tg_dtype */
    uint8_t ndim;           /* 0 (one element) to TG_MAX_DIMS */
    uint8_t owner_depth;    /* 1 + depth of the scope that owns it; 0: no scope; TG_TENSOR_NEW */
    uint8_t reserved;       /* zero, or enum tg_tensor_fault */
    uint32_t owner;         /* which scope of that depth, counted by the runtime */
    int64_t shape[TG_MAX_DIMS];
    int64_t strides[TG_MAX_DIMS];
};
TG_WIRE_SIZE(struct tg_tensor, 160);
TG_WIRE_AT(struct tg_tensor, dtype, 24);
TG_WIRE_AT(struct tg_tensor, owner, 28);
TG_WIRE_AT(struct tg_tensor, shape, 32);
TG_WIRE_AT(struct tg_tensor, strides, 96);

/* The value in the low bits, as the device would store it; the bits above the type are zero. */
struct tg_scalar {
    uint64_t bits;
    uint8_t dtype; /* enum tg_dtype */
    uint8_t reserved[7];
};
TG_WIRE_SIZE(struct tg_scalar, 16);

/* What a task does with a tensor: the word in files, and that of signatures and options. */
/* clang-format off */
#define TG_ROLE_MAP(X)                \
    X(TG_IN,    1, "input",  "in")    \
    X(TG_OUT,   2, "output", "out")   \
    X(TG_INOUT, 3, "inout",  "inout")
/* clang-format on */
#define TG_ROLE_ENUM_(constant, number, word, option) constant = (number),
enum tg_role { TG_ROLE_MAP(TG_ROLE_ENUM_) TG_ROLES };
#undef TG_ROLE_ENUM_

#endif
