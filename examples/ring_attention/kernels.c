/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each kernel works on one tile of queries of one head, a row for each query. Keys and values are
 * tiles of a block: a row for each token. All tensors are contiguous.
 */
#include "ring_attention.h"
#include <taskglass/math.h>

/* Far below every score, but finite, so that the difference of two of them is a number. Its e^x is
 * 0. */
#define MASKED (-1e30f)

/* Nothing has been seen yet. Arguments: running maximum, running sum, total. */
TG_KERNEL(ring_start)
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
 * scores = scale · q·kᵀ. Arguments: q, k, scores; by how many tokens the first key comes after the
 * first query, scale. A query does not see keys that come after it.
 */
TG_KERNEL(ring_scores)
{
    const float *q = TG_ARG(ctx, 0, const float);
    const float *k = TG_ARG(ctx, 1, const float);
    float *scores = TG_ARG(ctx, 2, float);
    int64_t keys = ctx->tensor[1].shape[0], head_dim = ctx->tensor[1].shape[1];
    int64_t ahead = tg_arg_i64(ctx, 0);
    float scale = tg_arg_f32(ctx, 1);
    TG_FOR(i, tg_arg_numel(ctx, 2)) {
        int64_t query = i / keys, key = i % keys;
        float sum = 0;
        for (int64_t e = 0; e < head_dim; e++)
            sum += q[query * head_dim + e] * k[key * head_dim + e];
        scores[i] = ahead + key <= query ? scale * sum : MASKED;
    }
}

/*
 * Softmax of the keys so far: weights relative to the largest score so far. If this tile raises the
 * maximum, all earlier ones were weighted too high, and `correction` is the factor that puts them
 * right. Arguments: scores, running maximum, running sum, weights, correction.
 */
TG_KERNEL(ring_softmax)
{
    const float *scores = TG_ARG(ctx, 0, const float);
    float *maximum = TG_ARG(ctx, 1, float);
    float *sum = TG_ARG(ctx, 2, float);
    float *weights = TG_ARG(ctx, 3, float);
    float *correction = TG_ARG(ctx, 4, float);
    int64_t keys = ctx->tensor[0].shape[1];
    TG_FOR(query, ctx->tensor[0].shape[0]) {
        const float *from = scores + query * keys;
        float largest = maximum[query], here = 0;
        for (int64_t key = 0; key < keys; key++)
            largest = from[key] > largest ? from[key] : largest;
        for (int64_t key = 0; key < keys; key++) {
            float weight = tg_exp_f32(from[key] - largest);
            weights[query * keys + key] = weight;
            here += weight;
        }
        correction[query] = tg_exp_f32(maximum[query] - largest);
        sum[query] = sum[query] * correction[query] + here;
        maximum[query] = largest;
    }
}

/* total = correction · total + weights·v. Arguments: weights, v, correction, total. */
TG_KERNEL(ring_values)
{
    const float *weights = TG_ARG(ctx, 0, const float);
    const float *v = TG_ARG(ctx, 1, const float);
    const float *correction = TG_ARG(ctx, 2, const float);
    float *total = TG_ARG(ctx, 3, float);
    int64_t keys = ctx->tensor[1].shape[0], head_dim = ctx->tensor[1].shape[1];
    TG_FOR(i, tg_arg_numel(ctx, 3)) {
        int64_t query = i / head_dim, element = i % head_dim;
        float sum = 0;
        for (int64_t key = 0; key < keys; key++)
            sum += weights[query * keys + key] * v[key * head_dim + element];
        total[i] = total[i] * correction[query] + sum;
    }
}

/* out = total / sum. Arguments: total, running sum, out. */
TG_KERNEL(ring_finish)
{
    const float *total = TG_ARG(ctx, 0, const float);
    const float *sum = TG_ARG(ctx, 1, const float);
    float *out = TG_ARG(ctx, 2, float);
    int64_t head_dim = ctx->tensor[2].shape[1];
    TG_FOR(i, tg_arg_numel(ctx, 2))
        out[i] = total[i] / sum[i / head_dim];
}
