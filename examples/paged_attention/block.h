/* SPDX-License-Identifier: Apache-2.0 */
/* The data that kernels work on: a block of a cache, and the heads that ask it. */
#ifndef PAGED_ATTENTION_BLOCK_H
#define PAGED_ATTENTION_BLOCK_H

#include <taskglass/kernel.h>

/* Far below every score, but finite, so that the difference of two of them is a number. Its e^x is
 * 0. */
#define MASKED (-1e30f)

/* One block of a cache. Its tokens and their elements have strides, because it is a view of one
 * head of the cache; the case chooses its type. */
struct block {
    const void *cache;
    unsigned dtype;
    int64_t at, token, element;
};

/* This is the paging: the table, not the caller, says where the block lies. */
TG_INLINE struct block block_arg(const struct tg_ctx *ctx, uint32_t cache, uint32_t table)
{
    const struct tg_tensor *t = &ctx->tensor[cache]; /* blocks, tokens, head_dim */
    struct block b;
    b.cache = TG_DEVICE_PTR(const void, t->addr);
    b.dtype = t->dtype;
    b.at = t->start + *TG_ARG(ctx, table, const int32_t) * t->strides[0];
    b.token = t->strides[1];
    b.element = t->strides[2];
    return b;
}

struct sizes {
    int64_t heads, tokens, head_dim;
};

TG_INLINE float larger(float a, float b)
{
    return a > b ? a : b;
}

#endif
