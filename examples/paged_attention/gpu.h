/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread block does better than spreading the plain loops over its threads. Each function
 * either does its kernel's work or returns false, and then the kernel runs its plain loop.
 *
 * There is little to compute for each element of a cache, a multiply-add for each head of the
 * group. So the main thing is to read a block only once, in words of four elements, many at a time;
 * registers hold eight heads at a time, while the other factor of the product is in block memory.
 *
 *   qk       eight lanes for each token: together they read its vector, four elements each, and
 *            add up their parts of eight scores so that each lane ends up with one
 *   softmax  a warp for each head
 *   pv       a thread for each four elements of the output, and as many slices of the tokens as
 *            there are threads; the slices' sums are added up in block memory
 *
 * No sum has more roundings than terms, and the order depends only on the sizes.
 */
#ifndef PAGED_ATTENTION_GPU_H
#define PAGED_ATTENTION_GPU_H

#include "block.h"

#if !defined(__CUDACC__)

TG_INLINE bool gpu_qk(struct sizes n, const float *q, const struct block *keys, int64_t tokens_left,
                      float scale, float *scores)
{
    (void)n, (void)q, (void)keys, (void)tokens_left, (void)scale, (void)scores;
    return false;
}

TG_INLINE bool gpu_softmax(int64_t heads, int64_t tokens, const float *scores, float *maximum,
                           float *sum, float *weights, float *correction)
{
    (void)heads, (void)tokens, (void)scores, (void)maximum;
    (void)sum, (void)weights, (void)correction;
    return false;
}

TG_INLINE bool gpu_pv(struct sizes n, const float *weights, const struct block *values,
                      float *partial)
{
    (void)n, (void)weights, (void)values, (void)partial;
    return false;
}

#else

#include <taskglass/math.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum {
    THREADS = TG_BLOCK_THREADS,
    WARP = 32,
    HEADS = 8,       /* heads at a time */
    TOKEN_LANES = 8, /* lanes per token in qk; one for each head in the end */
    MOST = 256,      /* tokens of a block, elements of a vector: the most that fit */
};

__device__ __forceinline__ int thread(void)
{
    return (int)TG_THREAD_ID;
}

/* ── reading a cache ───────────────────────────────────────────────────────────────────────── */

__device__ __forceinline__ float to_float(float x)
{
    return x;
}

__device__ __forceinline__ float to_float(__half x)
{
    return __half2float(x);
}

__device__ __forceinline__ float to_float(__nv_bfloat16 x)
{
    return __bfloat162float(x);
}

template <typename T> struct alignas(4 * sizeof(T)) four {
    T x[4];
};

/* A block of known type. `is_whole`: every four elements are one aligned word. */
template <typename T, bool is_whole> struct typed_block {
    const T *at;
    int64_t token, element;
    int head_dim;

    __device__ __forceinline__ typed_block(const struct block &b, int64_t head_dim)
        : at((const T *)b.cache + b.at), token(b.token), element(b.element), head_dim((int)head_dim)
    {
    }

    /* Elements e to e + 3 of a token's vector; zeros past its end. */
    __device__ __forceinline__ float4 load(int of_token, int e) const
    {
        const T *from = at + of_token * token + e * element;
        four<T> word;
        if constexpr (is_whole) {
            word = *(const four<T> *)from;
        } else {
#pragma unroll
            for (int i = 0; i < 4; i++)
                word.x[i] = e + i < head_dim ? from[i * element] : T(0.0f);
        }
        return make_float4(to_float(word.x[0]), to_float(word.x[1]), to_float(word.x[2]),
                           to_float(word.x[3]));
    }
};

template <typename T>
__device__ __forceinline__ bool is_whole(const struct block &b, int64_t head_dim)
{
    return (uintptr_t)((const T *)b.cache + b.at) % sizeof(four<T>) == 0 && b.element == 1 &&
           b.token % 4 == 0 && head_dim % 4 == 0;
}

/* Calls work(block) with the block as its actual type. */
template <typename T, typename Work>
__device__ __forceinline__ void with_type(const struct block &b, int64_t head_dim, Work work)
{
    if (is_whole<T>(b, head_dim))
        work(typed_block<T, true>(b, head_dim));
    else
        work(typed_block<T, false>(b, head_dim));
}

/* False if the type or size is not one that this file handles. */
template <typename Work>
__device__ __forceinline__ bool with_block(const struct block &b, struct sizes n, Work work)
{
    if (n.tokens > MOST || n.head_dim > MOST)
        return false;
    switch (b.dtype) {
    case TG_FLOAT32:
        with_type<float>(b, n.head_dim, work);
        return true;
    case TG_FLOAT16:
        with_type<__half>(b, n.head_dim, work);
        return true;
    case TG_BFLOAT16:
        with_type<__nv_bfloat16>(b, n.head_dim, work);
        return true;
    default:
        return false;
    }
}

/* ── qk ────────────────────────────────────────────────────────────────────────────────────── */

/* Each of eight lanes has a part of eight sums; lane i gets all of sum i. At each step a lane
 * passes on the half of its sums that other lanes collect: 4, 2, 1. */
__device__ __forceinline__ float sum_for_lane(float (&sum)[HEADS], int lane)
{
#pragma unroll
    for (int side = HEADS / 2; side > 0; side /= 2)
#pragma unroll
        for (int i = 0; i < side; i++) {
            bool upper = lane & side;
            float mine = upper ? sum[i + side] : sum[i], other = upper ? sum[i] : sum[i + side];
            sum[i] = mine + __shfl_xor_sync(0xffffffff, other, side);
        }
    return sum[0];
}

/* Copies rows of q to block memory, with zeros for missing heads and past the end of each
 * vector. */
__device__ __forceinline__ void load_q(float *to, int pitch, const float *q, int heads,
                                       int head_dim)
{
    for (int i = thread(); i < HEADS * pitch; i += THREADS) {
        int head = i / pitch, e = i % pitch;
        to[i] = head < heads && e < head_dim ? q[head * head_dim + e] : 0;
    }
}

/* This lane's part of one token's scores with HEADS heads. */
template <typename Keys>
__device__ __forceinline__ void multiply_token(const Keys &keys, int token, int lane,
                                               const float *q, int pitch, float (&sum)[HEADS])
{
#pragma unroll 4
    for (int e = 4 * lane; e < keys.head_dim; e += 4 * TOKEN_LANES) {
        float4 k = keys.load(token, e);
#pragma unroll
        for (int head = 0; head < HEADS; head++) {
            float4 x = *(const float4 *)(q + head * pitch + e);
            sum[head] = fmaf(x.x, k.x, sum[head]);
            sum[head] = fmaf(x.y, k.y, sum[head]);
            sum[head] = fmaf(x.z, k.z, sum[head]);
            sum[head] = fmaf(x.w, k.w, sum[head]);
        }
    }
}

template <typename Keys>
__device__ __noinline__ void qk_heads(const Keys &keys, int heads, int tokens, int tokens_left,
                                      const float *q, float scale, float *scores)
{
    float *rows = (float *)TG_BLOCK_MEMORY;
    const int pitch = (keys.head_dim + 3) / 4 * 4, lane = thread() % TOKEN_LANES;

    load_q(rows, pitch, q, heads, keys.head_dim);
    TG_BARRIER();
    for (int first = 0; first < tokens; first += THREADS / TOKEN_LANES) {
        int token = first + thread() / TOKEN_LANES;
        float sum[HEADS] = {};
        if (token < tokens && token < tokens_left)
            multiply_token(keys, token, lane, rows, pitch, sum);
        float mine = sum_for_lane(sum, lane);
        if (token < tokens && lane < heads)
            scores[lane * tokens + token] = token < tokens_left ? scale * mine : MASKED;
    }
    TG_BARRIER(); /* rows may be overwritten now */
}

TG_FN inline bool gpu_qk(struct sizes n, const float *q, const struct block *keys,
                         int64_t tokens_left, float scale, float *scores)
{
    return with_block(*keys, n, [=](const auto &typed) {
        for (int64_t head = 0; head < n.heads; head += HEADS)
            qk_heads(typed, (int)(n.heads - head), (int)n.tokens,
                     (int)max((int64_t)0, min(tokens_left, n.tokens)), q + head * n.head_dim, scale,
                     scores + head * n.tokens);
    });
}

/* ── softmax ───────────────────────────────────────────────────────────────────────────────── */

__device__ __forceinline__ float largest_of_warp(float x)
{
    for (int apart = WARP / 2; apart > 0; apart /= 2)
        x = larger(x, __shfl_xor_sync(0xffffffff, x, apart));
    return x;
}

__device__ __forceinline__ float sum_of_warp(float x)
{
    for (int apart = WARP / 2; apart > 0; apart /= 2)
        x += __shfl_xor_sync(0xffffffff, x, apart);
    return x;
}

TG_FN inline bool gpu_softmax(int64_t heads, int64_t tokens, const float *scores, float *maximum,
                              float *sum, float *weights, float *correction)
{
    const int lane = thread() % WARP;
    for (int64_t head = thread() / WARP; head < heads; head += THREADS / WARP) {
        const float *from = scores + head * tokens;
        const float before = maximum[head];
        float largest = before, here = 0;
        for (int64_t token = lane; token < tokens; token += WARP)
            largest = larger(largest, from[token]);
        largest = largest_of_warp(largest);
        for (int64_t token = lane; token < tokens; token += WARP) {
            float weight = tg_exp_f32(from[token] - largest);
            weights[head * tokens + token] = weight;
            here += weight;
        }
        here = sum_of_warp(here);
        if (lane == 0) { /* no lane reads maximum any more: all have reached the sum */
            float factor = tg_exp_f32(before - largest);
            correction[head] = factor;
            sum[head] = sum[head] * factor + here;
            maximum[head] = largest;
        }
    }
    return true;
}

/* ── pv ────────────────────────────────────────────────────────────────────────────────────── */

/* Stores the weights of a token side by side, with zeros for missing heads. */
__device__ __forceinline__ void load_weights(float *to, const float *weights, int heads, int tokens)
{
    for (int i = thread(); i < HEADS * tokens; i += THREADS) {
        int token = i / HEADS, head = i % HEADS;
        to[i] = head < heads ? weights[head * tokens + token] : 0;
    }
}

__device__ __forceinline__ void multiply_add(float4 &sum, float weight, float4 value)
{
    sum.x = fmaf(weight, value.x, sum.x);
    sum.y = fmaf(weight, value.y, sum.y);
    sum.z = fmaf(weight, value.z, sum.z);
    sum.w = fmaf(weight, value.w, sum.w);
}

/* Sums over every `apart`-th token, for four elements of HEADS heads. */
template <typename Values>
__device__ __forceinline__ void weigh_slice(const Values &values, int slice, int apart, int tokens,
                                            int e, const float *weights, float4 (&sum)[HEADS])
{
#pragma unroll 4
    for (int token = slice; token < tokens; token += apart) {
        const float4 *weight = (const float4 *)(weights + token * HEADS);
        float4 value = values.load(token, e), low = weight[0], high = weight[1];
        multiply_add(sum[0], low.x, value);
        multiply_add(sum[1], low.y, value);
        multiply_add(sum[2], low.z, value);
        multiply_add(sum[3], low.w, value);
        multiply_add(sum[4], high.x, value);
        multiply_add(sum[5], high.y, value);
        multiply_add(sum[6], high.z, value);
        multiply_add(sum[7], high.w, value);
    }
}

template <typename Values>
__device__ __noinline__ void pv_heads(const Values &values, int heads, int tokens,
                                      const float *weights, float *partial)
{
    float *side_by_side = (float *)TG_BLOCK_MEMORY; /* tokens by HEADS */
    float *sums = side_by_side + MOST * HEADS;      /* slices by HEADS by width */
    int width = 4;                                  /* elements, a power of two */
    while (width < values.head_dim)
        width *= 2;
    const int slices = THREADS / (width / 4), slice = thread() / (width / 4);
    const int e = thread() % (width / 4) * 4;
    static_assert((MOST * HEADS + THREADS * HEADS * 4) * sizeof(float) <= TG_BLOCK_MEMORY_BYTES,
                  "weights and sums");

    load_weights(side_by_side, weights, heads, tokens);
    TG_BARRIER();
    float4 sum[HEADS] = {};
    if (e < values.head_dim)
        weigh_slice(values, slice, slices, tokens, e, side_by_side, sum);
#pragma unroll
    for (int head = 0; head < HEADS; head++)
        *(float4 *)(sums + (slice * HEADS + head) * width + e) = sum[head];
    TG_BARRIER();
    for (int i = thread(); i < min(heads, (int)HEADS) * values.head_dim; i += THREADS) {
        const float *at = sums + i / values.head_dim * width + i % values.head_dim;
        float all = 0;
        for (int s = 0; s < min(slices, tokens); s++)
            all += at[s * HEADS * width];
        partial[i] = all;
    }
    TG_BARRIER(); /* block memory may be overwritten now */
}

TG_FN inline bool gpu_pv(struct sizes n, const float *weights, const struct block *values,
                         float *partial)
{
    return with_block(*values, n, [=](const auto &typed) {
        for (int64_t head = 0; head < n.heads; head += HEADS)
            pv_heads(typed, (int)(n.heads - head), (int)n.tokens, weights + head * n.tokens,
                     partial + head * n.head_dim);
    });
}

#endif
#endif
