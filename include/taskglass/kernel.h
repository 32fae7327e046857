/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For people who write kernels. A kernel is a C function that a core runs with the arguments
 * of one task. The same source compiles to a plain function for a simulated core and to the code of
 * a thread block on a GPU.
 *
 *     TG_KERNEL(scale)
 *     {
 *         const float *x = TG_ARG(ctx, 0, const float);
 *         float *y = TG_ARG(ctx, 1, float);
 *         float k = tg_arg_f32(ctx, 0);
 *         TG_FOR(i, tg_arg_numel(ctx, 0))
 *             y[i] = k * x[i];
 *     }
 *
 * Rules: no libc, no allocation, no global that changes; use only what C11 and C++17 share. The GPU's
 * platform finds a kernel by its name, so `TG_KERNEL(name)` begins a line and is not static. A
 * kernel writes only to tensors that its task names `out` or `inout`; other writes are bugs that the
 * recorder helps to find. A task sees everything written by the tasks that it waits for.
 */
#ifndef TASKGLASS_KERNEL_H
#define TASKGLASS_KERNEL_H

#include <stdint.h>
#include <taskglass/numeric.h>
#include <taskglass/target.h>
#include <taskglass/tensor.h>
#include <taskglass/wire/task.h>

/* What a kernel is called with: the arguments of its task, and where it runs. Read-only. */
struct tg_ctx {
    const struct tg_tensor *tensor;
    const struct tg_scalar *scalar;
    uint32_t n_tensors;
    uint32_t n_scalars;
    uint32_t part;  /* enum tg_part: which kernel of a mix this is */
    uint32_t parts; /* kernels in the mix, 1 for a plain task */
    uint32_t core;  /* index of the core that runs it */
    uint32_t reserved;
    void (*mix_barrier)(const struct tg_ctx *ctx); /* use tg_mix_barrier */
    void *engine;                                  /* belongs to the device program */
    volatile uint64_t *missing; /* where to note an argument that the task does not have, or NULL */
};

/* A kernel. */
typedef void (*tg_kernel_fn)(const struct tg_ctx *ctx);

/* Begins the definition, or the declaration, of a kernel. */
#define TG_KERNEL(name) TG_NAMED TG_FN void name(const struct tg_ctx *ctx)

/* The kinds of tg_ctx.missing, which is kind << 48 | how many there are << 32 | which is wanted. */
enum { TG_MISSING_TENSOR = 1, TG_MISSING_SCALAR = 2 };

/* The kernel wants an argument that the task does not have. This ends the run with KERNEL_FAULT, and
 * the error says which argument of which task it is. */
TG_OUT_OF_LINE void tg_arg_missing(const struct tg_ctx *ctx, uint64_t kind, uint32_t n, uint32_t i)
{
    if (ctx->missing)
        *ctx->missing = kind << 48 | (uint64_t)n << 32 | i;
    TG_TRAP();
}

/* Tensor `i`; a task that lacks it ends the run, see above. */
TG_INLINE const struct tg_tensor *tg_arg_tensor(const struct tg_ctx *ctx, uint32_t i)
{
    if (i >= ctx->n_tensors)
        tg_arg_missing(ctx, TG_MISSING_TENSOR, ctx->n_tensors, i);
    return &ctx->tensor[i];
}

/* The same for scalar `i`, counted among the scalars. */
TG_INLINE const struct tg_scalar *tg_arg_scalar(const struct tg_ctx *ctx, uint32_t i)
{
    if (i >= ctx->n_scalars)
        tg_arg_missing(ctx, TG_MISSING_SCALAR, ctx->n_scalars, i);
    return &ctx->scalar[i];
}

/* The first element of tensor `i`; strides are counted from there. Not for 4-bit types. */
#define TG_ARG(ctx, i, type) ((type *)tg_arg_ptr((ctx), (i)))

/* As TG_ARG, without a type. */
TG_INLINE void *tg_arg_ptr(const struct tg_ctx *ctx, uint32_t i)
{
    const struct tg_tensor *t = tg_arg_tensor(ctx, i);
    return TG_DEVICE_PTR(char, t->addr) + t->start * (int64_t)(tg_bits_of(t->dtype) / 8);
}

/* How many elements tensor `i` has. */
TG_INLINE int64_t tg_arg_numel(const struct tg_ctx *ctx, uint32_t i)
{
    return tg_tensor_numel(tg_arg_tensor(ctx, i));
}

/* Element `index` of tensor `i` in row-major order of the view, for any type and strides: simple, but
 * not fast. Two threads must not store into the same byte of a 4-bit tensor at the same time: let one
 * iteration write both halves. */
TG_INLINE double tg_arg_load(const struct tg_ctx *ctx, uint32_t i, int64_t index)
{
    const struct tg_tensor *t = tg_arg_tensor(ctx, i);
    return tg_load(t->dtype, TG_DEVICE_PTR(const char, t->addr), tg_tensor_offset(t, index));
}

/* Stores such an element; the value is converted to the type of the tensor. */
TG_INLINE void tg_arg_store(const struct tg_ctx *ctx, uint32_t i, int64_t index, double value)
{
    const struct tg_tensor *t = tg_arg_tensor(ctx, i);
    tg_store(t->dtype, TG_DEVICE_PTR(char, t->addr), tg_tensor_offset(t, index), value);
}

/* Scalar `i` (counted among the scalars) as the type it was given with. */
TG_INLINE uint64_t tg_arg_bits(const struct tg_ctx *ctx, uint32_t i)
{
    return tg_arg_scalar(ctx, i)->bits;
}

/* Scalar `i`, which was given as an int64. */
TG_INLINE int64_t tg_arg_i64(const struct tg_ctx *ctx, uint32_t i)
{
    return (int64_t)tg_arg_scalar(ctx, i)->bits;
}

/* Scalar `i`, which was given as an int32. */
TG_INLINE int32_t tg_arg_i32(const struct tg_ctx *ctx, uint32_t i)
{
    return (int32_t)(uint32_t)tg_arg_scalar(ctx, i)->bits;
}

/* Scalar `i`, which was given as a float32. */
TG_INLINE float tg_arg_f32(const struct tg_ctx *ctx, uint32_t i)
{
    union {
        uint32_t bits;
        float f;
    } u;
    u.bits = (uint32_t)tg_arg_scalar(ctx, i)->bits;
    return u.f;
}

/* Scalar `i`, which was given as a float64. */
TG_INLINE double tg_arg_f64(const struct tg_ctx *ctx, uint32_t i)
{
    union {
        uint64_t bits;
        double f;
    } u;
    u.bits = tg_arg_scalar(ctx, i)->bits;
    return u.f;
}

/*
 * Waits until all kernels of the mix have called it; then each sees what the others wrote before.
 * Every kernel of the mix must call it the same number of times. In a plain task it does nothing.
 */
TG_INLINE void tg_mix_barrier(const struct tg_ctx *ctx)
{
    if (ctx->parts > 1)
        ctx->mix_barrier(ctx);
}

#endif
