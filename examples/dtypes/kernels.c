/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels for every element type: tg_load turns one element into a double, tg_store turns it back.
 * A kernel for a single type would use that type's own arithmetic.
 *
 * All tensors are vectors without gaps; those of 4-bit types begin at a whole byte.
 */
#include "dtypes.h"

#include <taskglass/numeric.h>

/*
 * On a GPU the iterations of TG_FOR are threads, and two threads must not write the same byte. Each
 * iteration therefore owns a whole byte or more: two elements of a 4-bit type, one of any other.
 */
TG_INLINE int64_t owned_by_one(const struct tg_tensor *t)
{
    return tg_bits_of(t->dtype) < 8 ? 2 : 1;
}

/* out = in, from any type to any other */
TG_KERNEL(dtypes_cast)
{
    const struct tg_tensor *in = &ctx->tensor[0], *out = &ctx->tensor[1];
    int64_t n = out->shape[0], own = owned_by_one(out);
    TG_FOR(unit, (n + own - 1) / own) {
        for (int64_t i = unit * own; i < n && i < (unit + 1) * own; i++)
            tg_store(out->dtype, TG_DEVICE_PTR(void, out->addr), out->start + i,
                     tg_load(in->dtype, TG_DEVICE_PTR(void, in->addr), in->start + i));
    }
}

/* x = 2·x in place. Exact except at the end of the type's range, where integers, and floats without
 * infinity, stay at their largest value. */
TG_KERNEL(dtypes_twice)
{
    const struct tg_tensor *x = &ctx->tensor[0];
    int64_t n = x->shape[0], own = owned_by_one(x);
    TG_FOR(unit, (n + own - 1) / own) {
        for (int64_t i = unit * own; i < n && i < (unit + 1) * own; i++)
            tg_store(x->dtype, TG_DEVICE_PTR(void, x->addr), x->start + i,
                     2 * tg_load(x->dtype, TG_DEVICE_PTR(void, x->addr), x->start + i));
    }
}

/* A scalar has a type as well. Common types have a function each; for any other the kernel gets the
 * bits. */
TG_INLINE double scalar_value(const struct tg_ctx *ctx, uint32_t i)
{
    switch (ctx->scalar[i].dtype) {
    case TG_FLOAT64:
        return tg_arg_f64(ctx, i);
    case TG_FLOAT32:
        return (double)tg_arg_f32(ctx, i);
    case TG_INT64:
        return (double)tg_arg_i64(ctx, i);
    case TG_INT32:
        return (double)tg_arg_i32(ctx, i);
    default:
        return tg_decode(ctx->scalar[i].dtype, tg_arg_bits(ctx, i));
    }
}

TG_KERNEL(dtypes_scalars)
{
    uint64_t *bits = TG_ARG(ctx, 0, uint64_t);
    double *values = TG_ARG(ctx, 1, double);
    TG_FOR(i, ctx->n_scalars) {
        bits[i] = tg_arg_bits(ctx, (uint32_t)i);
        values[i] = scalar_value(ctx, (uint32_t)i);
    }
}
