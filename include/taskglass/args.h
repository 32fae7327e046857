/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments of a task. The caller gathers them on its stack and passes them to a submit:
 *
 *     struct tg_args args;
 *     tg_args_init(&args);
 *     tg_args_in(&args, a);
 *     tg_args_out(&args, tg_tensor_slice(c, 0, 0, 64, 1));
 *     tg_args_f32(&args, 0.5f);
 *     tg_args_after(&args, producer);
 *
 * A task's argument numbers count tensors first, then scalars, whatever the order of the calls. If a
 * call exceeds a limit (16 tensors, 16 scalars), or tg_args_init was forgotten, the submit reports it,
 * so these calls need no checks. The submit copies what it needs: the same arguments can be submitted
 * again, and tg_args_init starts anew. All functions are inline, allocate nothing, and work on every
 * device.
 */
#ifndef TASKGLASS_ARGS_H
#define TASKGLASS_ARGS_H

#include <taskglass/numeric.h>
#include <taskglass/target.h>
#include <taskglass/tensor.h>
#include <taskglass/wire/task.h>
#include <taskglass/wire/tensor.h>

enum { TG_MAX_INLINE_AFTER = 16 };

/* What tg_args_init writes, so that a submit notices a struct that holds what lay on the stack. 0 is
 * valid too: it is in arguments that were initialised with = {0}. */
#define TG_ARGS_READY 0x73677261u /* "args", little-endian */

/* Arguments that are being gathered; use the functions below. */
struct tg_args {
    uint8_t n_tensors;
    uint8_t n_scalars;
    uint8_t n_after;
    uint8_t overflow;      /* a limit was exceeded; the submit reports it */
    uint16_t tensor_marks; /* bit i: levels `marked` and `hybrid` record tensor i with payload */
    uint16_t scalar_marks;
    uint32_t n_more_after;
    uint32_t ready;             /* TG_ARGS_READY, or 0 */
    const uint64_t *more_after; /* the caller's array, read during the submit */
    uint64_t after[TG_MAX_INLINE_AFTER];
    uint8_t role[TG_MAX_TENSORS]; /* enum tg_role */
    struct tg_tensor tensor[TG_MAX_TENSORS];
    struct tg_scalar scalar[TG_MAX_SCALARS];
};

/* Starts without arguments. It writes only the counts, which say how much of the arrays is valid. */
TG_INLINE void tg_args_init(struct tg_args *args)
{
    args->n_tensors = args->n_scalars = args->n_after = args->overflow = 0;
    args->tensor_marks = args->scalar_marks = 0;
    args->n_more_after = 0;
    args->ready = TG_ARGS_READY;
    args->more_after = 0;
}

/* Adds a tensor; the macros below call it. */
TG_INLINE void tg_args_put(struct tg_args *args, enum tg_role role, const struct tg_tensor *t)
{
    if (args->n_tensors >= TG_MAX_TENSORS) {
        args->overflow = 1;
        return;
    }
    args->role[args->n_tensors] = (uint8_t)role;
    tg_tensor_copy(&args->tensor[args->n_tensors++], t);
}

/* Add a tensor. These are macros, so that a view made in the call is not copied once more. */
#define tg_args_tensor(args, role, t)           \
    do {                                        \
        struct tg_tensor tg_view_ = (t);        \
        tg_args_put((args), (role), &tg_view_); \
    } while (0)
#define tg_args_in(args, t) tg_args_tensor(args, TG_IN, t)
#define tg_args_out(args, t) tg_args_tensor(args, TG_OUT, t)
#define tg_args_inout(args, t) tg_args_tensor(args, TG_INOUT, t)

/* Adds an output whose memory the submit allocates in the current scope; after the submit,
 * tg_output returns the tensor. */
TG_INLINE void tg_args_out_new(struct tg_args *args, unsigned dtype, int ndim, const int64_t *shape)
{
    struct tg_tensor t = tg_tensor_make(0, dtype, ndim, shape);
    t.owner_depth = TG_TENSOR_NEW;
    tg_args_tensor(args, TG_OUT, t);
}

/* Adds a scalar of any type of 8 bits or more, from its bit pattern. */
TG_INLINE void tg_args_bits(struct tg_args *args, unsigned dtype, uint64_t bits)
{
    struct tg_scalar *s;
    if (args->n_scalars >= TG_MAX_SCALARS) {
        args->overflow = 1;
        return;
    }
    s = &args->scalar[args->n_scalars++];
    s->bits = bits;
    s->dtype = (uint8_t)dtype;
    for (int i = 0; i < 7; i++)
        s->reserved[i] = 0;
}

/* The next functions add a scalar of the type in their name. */
TG_INLINE void tg_args_f32(struct tg_args *args, float value)
{
    union {
        float f;
        uint32_t bits;
    } u;
    u.f = value;
    tg_args_bits(args, TG_FLOAT32, u.bits);
}

/* Adds a float64. */
TG_INLINE void tg_args_f64(struct tg_args *args, double value)
{
    union {
        double f;
        uint64_t bits;
    } u;
    u.f = value;
    tg_args_bits(args, TG_FLOAT64, u.bits);
}

/* Adds an int64. */
TG_INLINE void tg_args_i64(struct tg_args *args, int64_t value)
{
    tg_args_bits(args, TG_INT64, (uint64_t)value);
}

/* Adds an int32. */
TG_INLINE void tg_args_i32(struct tg_args *args, int32_t value)
{
    tg_args_bits(args, TG_INT32, (uint32_t)value);
}

/* Adds a uint64. */
TG_INLINE void tg_args_u64(struct tg_args *args, uint64_t value)
{
    tg_args_bits(args, TG_UINT64, value);
}

/* Adds a bool. */
TG_INLINE void tg_args_bool(struct tg_args *args, bool value)
{
    tg_args_bits(args, TG_BOOL, value ? 1 : 0);
}

/* Mark tensor i, scalar i, or all arguments of the task, including those added later, for the
 * recorder's levels `marked` and `hybrid`. */
TG_INLINE void tg_args_mark_tensor(struct tg_args *args, uint32_t i)
{
    args->tensor_marks = (uint16_t)(args->tensor_marks | 1u << i);
}

/* Marks scalar `i`, counted among the scalars. */
TG_INLINE void tg_args_mark_scalar(struct tg_args *args, uint32_t i)
{
    args->scalar_marks = (uint16_t)(args->scalar_marks | 1u << i);
}

/* Marks all arguments. */
TG_INLINE void tg_args_mark_task(struct tg_args *args)
{
    args->tensor_marks = args->scalar_marks = 0xffff;
}

/* Scalar `i` (counted among the scalars), for an orchestration that reads its arguments. */
TG_INLINE int64_t tg_args_get_i64(const struct tg_args *args, uint32_t i)
{
    return (int64_t)args->scalar[i].bits;
}

/* The same as a double, for any type of the scalar. */
TG_INLINE double tg_args_get_real(const struct tg_args *args, uint32_t i)
{
    return tg_decode(args->scalar[i].dtype, args->scalar[i].bits);
}

/* The task waits for `task`. TG_TASK_NONE is allowed and adds nothing; a task may be named twice. */
TG_INLINE void tg_args_after(struct tg_args *args, uint64_t task)
{
    if (task == TG_TASK_NONE)
        return;
    if (args->n_after >= TG_MAX_INLINE_AFTER) {
        args->overflow = 1;
        return;
    }
    args->after[args->n_after++] = task;
}

/* The task also waits for these tasks, any number of them (TG_TASK_NONE is skipped); the array must
 * live until the submit returns. */
TG_INLINE void tg_args_after_all(struct tg_args *args, const uint64_t *tasks, uint32_t n)
{
    args->more_after = tasks;
    args->n_more_after = n;
}

#endif
