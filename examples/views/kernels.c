/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three kernels that accept views of any rank and any strides. Only the view makes one of them a
 * transpose or a reversal.
 */
#include "views.h"

/* The offset of element `i` of the view, counted in its logical row-major order. */
TG_INLINE int64_t offset_of(const struct tg_tensor *t, int64_t i)
{
    int64_t offset = 0;
    for (int d = t->ndim - 1; d >= 0; d--) {
        offset += i % t->shape[d] * t->strides[d];
        i /= t->shape[d];
    }
    return offset;
}

/* out = in; both have the same shape */
TG_KERNEL(views_copy)
{
    const struct tg_tensor *t = ctx->tensor;
    const int32_t *in = TG_ARG(ctx, 0, const int32_t);
    int32_t *out = TG_ARG(ctx, 1, int32_t);
    TG_FOR(i, tg_arg_numel(ctx, 1))
        out[offset_of(&t[1], i)] = in[offset_of(&t[0], i)];
}

/* out = a + b; all have the same shape */
TG_KERNEL(views_add)
{
    const struct tg_tensor *t = ctx->tensor;
    const int32_t *a = TG_ARG(ctx, 0, const int32_t);
    const int32_t *b = TG_ARG(ctx, 1, const int32_t);
    int32_t *out = TG_ARG(ctx, 2, int32_t);
    TG_FOR(i, tg_arg_numel(ctx, 2))
        out[offset_of(&t[2], i)] = a[offset_of(&t[0], i)] + b[offset_of(&t[1], i)];
}

/* The leading dimensions of `in` are those of `out`; the others are summed up. */
TG_KERNEL(views_sum)
{
    const struct tg_tensor *t = ctx->tensor;
    const int32_t *in = TG_ARG(ctx, 0, const int32_t);
    int32_t *out = TG_ARG(ctx, 1, int32_t);
    int64_t n = tg_arg_numel(ctx, 1), each = tg_arg_numel(ctx, 0) / n;
    TG_FOR(i, n) {
        int32_t sum = 0;
        for (int64_t k = 0; k < each; k++)
            sum += in[offset_of(&t[0], i * each + k)];
        out[offset_of(&t[1], i)] = sum;
    }
}
