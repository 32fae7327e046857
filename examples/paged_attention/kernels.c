/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each kernel works for one group of heads of one sequence: those that share a head of the cache.
 * Rows are the group's heads. All tensors but the caches are contiguous.
 */
#include "exp.h"
#include "paged_attention.h"

/* Far below every score, and finite: the difference of two of them is a number. Its e^x is 0. */
#define MASKED (-1e30f)

/* One block of a cache. Its tokens and their elements lie apart by strides, since the cache is
 * cut to one of its heads; its type is the case's choice. */
struct block {
    const void *cache;
    unsigned dtype;
    int64_t at, token, element;
};

/* This is the paging: the caller does not know where the block lies, the table does. */
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

TG_INLINE float load(const struct block *b, int64_t token, int64_t element)
{
    return (float)tg_load(b->dtype, b->cache, b->at + token * b->token + element * b->element);
}

TG_INLINE float larger(float a, float b)
{
    return a > b ? a : b;
}

/* Nothing seen yet. Arguments: running maximum, running sum, accumulator. */
TG_KERNEL(paged_start)
{
    float *maximum = TG_ARG(ctx, 0, float);
    float *sum = TG_ARG(ctx, 1, float);
    float *total = TG_ARG(ctx, 2, float);
    TG_FOR(i, tg_arg_numel(ctx, 0)) {
        maximum[i] = MASKED;
        sum[i] = 0;
    }
    TG_FOR(i, tg_arg_numel(ctx, 2))
        total[i] = 0;
}

/*
 * scores = scale · q·kᵀ for one block of keys. Arguments: q, key cache, entry of the block table,
 * length of the context, scores; position of the block's first token, scale.
 * The last block is seldom full: what it holds behind the context is masked.
 */
TG_KERNEL(paged_qk)
{
    const float *q = TG_ARG(ctx, 0, const float);
    struct block keys = block_arg(ctx, 1, 2);
    int64_t tokens_left = *TG_ARG(ctx, 3, const int32_t) - tg_arg_i64(ctx, 0);
    float *scores = TG_ARG(ctx, 4, float);
    float scale = tg_arg_f32(ctx, 1);
    int64_t head_dim = ctx->tensor[0].shape[1], tokens = ctx->tensor[4].shape[1];

    TG_FOR(i, tg_arg_numel(ctx, 4)) {
        int64_t head = i / tokens, token = i % tokens;
        float sum = 0;
        if (token < tokens_left)
            for (int64_t e = 0; e < head_dim; e++)
                sum += q[head * head_dim + e] * load(&keys, token, e);
        scores[i] = token < tokens_left ? scale * sum : MASKED;
    }
}

/*
 * Softmax, as far as it can be known: weights relative to the largest score so far. Where this
 * block raises the maximum, everything before was weighted too high, by what `correction` says.
 * Arguments: scores, running maximum, running sum, weights, correction.
 */
TG_KERNEL(paged_softmax)
{
    const float *scores = TG_ARG(ctx, 0, const float);
    float *maximum = TG_ARG(ctx, 1, float);
    float *sum = TG_ARG(ctx, 2, float);
    float *weights = TG_ARG(ctx, 3, float);
    float *correction = TG_ARG(ctx, 4, float);
    int64_t tokens = ctx->tensor[0].shape[1];

    TG_FOR(head, tg_arg_numel(ctx, 1)) {
        const float *from = scores + head * tokens;
        float largest = maximum[head], here = 0;
        for (int64_t token = 0; token < tokens; token++)
            largest = larger(largest, from[token]);
        for (int64_t token = 0; token < tokens; token++) {
            float weight = exp_below_zero(from[token] - largest);
            weights[head * tokens + token] = weight;
            here += weight;
        }
        correction[head] = exp_below_zero(maximum[head] - largest);
        sum[head] = sum[head] * correction[head] + here;
        maximum[head] = largest;
    }
}

/* partial = weights·v for one block of values. Arguments: weights, value cache, entry of the block
 * table, partial. Behind the context the weights are 0 and the values are what lay there. */
TG_KERNEL(paged_pv)
{
    const float *weights = TG_ARG(ctx, 0, const float);
    struct block values = block_arg(ctx, 1, 2);
    float *partial = TG_ARG(ctx, 3, float);
    int64_t tokens = ctx->tensor[0].shape[1], head_dim = ctx->tensor[3].shape[1];

    TG_FOR(i, tg_arg_numel(ctx, 3)) {
        int64_t head = i / head_dim, element = i % head_dim;
        float sum = 0;
        for (int64_t token = 0; token < tokens; token++)
            sum += weights[head * tokens + token] * load(&values, token, element);
        partial[i] = sum;
    }
}

/* total = correction · total + partial. Arguments: partial, correction, total. */
TG_KERNEL(paged_update)
{
    const float *partial = TG_ARG(ctx, 0, const float);
    const float *correction = TG_ARG(ctx, 1, const float);
    float *total = TG_ARG(ctx, 2, float);
    int64_t head_dim = ctx->tensor[2].shape[1];
    TG_FOR(i, tg_arg_numel(ctx, 2))
        total[i] = total[i] * correction[i / head_dim] + partial[i];
}

/* out = total / sum. Arguments: total, running sum, out. */
TG_KERNEL(paged_finish)
{
    const float *total = TG_ARG(ctx, 0, const float);
    const float *sum = TG_ARG(ctx, 1, const float);
    float *out = TG_ARG(ctx, 2, float);
    int64_t head_dim = ctx->tensor[2].shape[1];
    TG_FOR(i, tg_arg_numel(ctx, 2))
        out[i] = total[i] / sum[i / head_dim];
}
