/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each kernel works on one group of heads of one sequence: the heads that share a head of the
 * cache. Rows are the group's heads. All tensors but the caches are contiguous.
 */
#include "block.h"
#include "gpu.h"
#include "paged_attention.h"
#include <taskglass/math.h>

TG_INLINE float load(const struct block *b, int64_t token, int64_t element)
{
    return (float)tg_load(b->dtype, b->cache, b->at + token * b->token + element * b->element);
}

/* Takes the sizes from two matrices with a row for each head: one of tokens, one of elements. */
TG_INLINE struct sizes sizes_of(const struct tg_tensor *scores, const struct tg_tensor *vectors)
{
    struct sizes n;
    n.heads = scores->shape[0];
    n.tokens = scores->shape[1];
    n.head_dim = vectors->shape[1];
    return n;
}

/* Initial values, before any block. Arguments: running maximum, running sum, accumulator. */
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
 * length of the context, scores; position of the block's first token, scale. The last block is
 * seldom full: tokens past the end of the context are masked.
 */
TG_KERNEL(paged_qk)
{
    const float *q = TG_ARG(ctx, 0, const float);
    struct block keys = block_arg(ctx, 1, 2);
    int64_t tokens_left = *TG_ARG(ctx, 3, const int32_t) - tg_arg_i64(ctx, 0);
    float *scores = TG_ARG(ctx, 4, float);
    float scale = tg_arg_f32(ctx, 1);
    struct sizes n = sizes_of(&ctx->tensor[4], &ctx->tensor[0]);

    if (gpu_qk(n, q, &keys, tokens_left, scale, scores))
        return;
    TG_FOR(i, n.heads * n.tokens) {
        int64_t head = i / n.tokens, token = i % n.tokens;
        float sum = 0;
        if (token < tokens_left)
            for (int64_t e = 0; e < n.head_dim; e++)
                sum += q[head * n.head_dim + e] * load(&keys, token, e);
        scores[i] = token < tokens_left ? scale * sum : MASKED;
    }
}

/*
 * Softmax of the blocks so far: weights relative to the largest score so far. If this block raises
 * the maximum, all earlier blocks were weighted too high, and `correction` is the factor that puts
 * them right. Arguments: scores, running maximum, running sum, weights, correction.
 */
TG_KERNEL(paged_softmax)
{
    const float *scores = TG_ARG(ctx, 0, const float);
    float *maximum = TG_ARG(ctx, 1, float);
    float *sum = TG_ARG(ctx, 2, float);
    float *weights = TG_ARG(ctx, 3, float);
    float *correction = TG_ARG(ctx, 4, float);
    int64_t heads = tg_arg_numel(ctx, 1), tokens = ctx->tensor[0].shape[1];

    if (gpu_softmax(heads, tokens, scores, maximum, sum, weights, correction))
        return;
    TG_FOR(head, heads) {
        const float *from = scores + head * tokens;
        float largest = maximum[head], here = 0;
        for (int64_t token = 0; token < tokens; token++)
            largest = larger(largest, from[token]);
        for (int64_t token = 0; token < tokens; token++) {
            float weight = tg_exp_f32(from[token] - largest);
            weights[head * tokens + token] = weight;
            here += weight;
        }
        correction[head] = tg_exp_f32(maximum[head] - largest);
        sum[head] = sum[head] * correction[head] + here;
        maximum[head] = largest;
    }
}

/* partial = weights·v for one block of values. Arguments: weights, value cache, entry of the block
 * table, partial. Past the end of the context the weights are 0 and the values arbitrary. */
TG_KERNEL(paged_pv)
{
    const float *weights = TG_ARG(ctx, 0, const float);
    struct block values = block_arg(ctx, 1, 2);
    float *partial = TG_ARG(ctx, 3, float);
    struct sizes n = sizes_of(&ctx->tensor[0], &ctx->tensor[3]);

    if (gpu_pv(n, weights, &values, partial))
        return;
    TG_FOR(i, n.heads * n.head_dim) {
        int64_t head = i / n.head_dim, element = i % n.head_dim;
        float sum = 0;
        for (int64_t token = 0; token < n.tokens; token++)
            sum += weights[head * n.tokens + token] * load(&values, token, element);
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
