/* SPDX-License-Identifier: Apache-2.0 */
/* The crew of a thread block runs kernels, hashes and copies for its leader (target_impl.h). */
#include "common/gather.h"
#include "device/engine.h"
#include "device/target.h"
#include "platform/cuda/gpu/block.h"
#include "platform/cuda/gpu/words.h"

enum { WARPS = TG_CUDA_THREADS / 32, AT_ONCE = 8 };

/* The bytes to hash and copy; the leader fills it in before an order. */
struct block {
    char *to; /* 0: hash only */
    const char *from;
    uint64_t size;
    uint64_t words; /* number of words hashed before these */
    struct tg_gather_plan plan;
    int64_t start, first, total; /* counted in the view's elements */
    uint32_t bits;               /* per element */
    struct tg_sums sum[WARPS];
};

static __shared__ struct block block;

/* ── the leader ────────────────────────────────────────────────────────────────────────── */

__device__ void tg_block_init(void)
{
    struct tg_orders *o = tg_orders();
    if (threadIdx.x == 0) {
        for (uint32_t i = 0; i < 2; i++) {
            tg_barrier_init(&o->go[i], 1);
            tg_barrier_init(&o->done[i], WARPS);
            tg_barrier_init(&o->all_done[i], TG_CUDA_THREADS);
            o->joint[i] = o->alone[i] = 0;
        }
        o->given = 0;
        o->runs = o->tells = 0;
        o->lanes.walking = 0;
        o->near.kept = TG_NO_TASK;
    }
    __syncthreads();
}

__device__ void tg_block_end(void)
{
    tg_order_give(tg_orders()->given, TG_ORDER_END);
}

/* Adds the crew's sums to the hash. */
__device__ static void add_sums(struct tg_hash *hash, uint64_t size)
{
    for (uint32_t warp = 0; warp < WARPS; warp++) {
        hash->a += block.sum[warp].a;
        hash->b += block.sum[warp].b;
    }
    hash->words += (size + 7) / 8;
}

TG_FN void tg_target_hash_copy(struct tg_hash *hash, void *to, const void *from, uint64_t size)
{
    if (tg_short_is_possible(from, size)) {
        struct tg_lanes_bytes *bytes = &tg_orders()->lanes.bytes;
        bytes->words = hash->words;
        tg_short_order(TG_LANES_HASH, to, from, (uint32_t)size);
        hash->a += bytes->a;
        hash->b += bytes->b;
        hash->words += (size + 7) / 8;
        return;
    }
    block.to = (char *)to;
    block.from = (const char *)from;
    block.size = size;
    block.words = hash->words;
    tg_order_have_done(TG_ORDER_HASH);
    add_sums(hash, size);
}

TG_FN void tg_target_hash(struct tg_hash *hash, const void *bytes, uint64_t size)
{
    tg_target_hash_copy(hash, 0, bytes, size);
}

TG_FN void tg_target_gather(struct tg_hash *hash, void *to, const struct tg_tensor *tensor,
                            uint64_t offset, uint64_t size)
{
    block.bits = tg_bits_of(tensor->dtype);
    block.to = (char *)to;
    block.from = TG_DEVICE_PTR(const char, tensor->addr);
    block.size = size;
    block.words = hash->words;
    block.plan = tg_gather_plan(tensor);
    block.start = tensor->start;
    block.first = (int64_t)(offset * 8 / block.bits);
    block.total = tg_tensor_numel(tensor);
    tg_order_have_done(TG_ORDER_GATHER);
    add_sums(hash, size);
}

/* ── the crew: hashing ─────────────────────────────────────────────────────────────────── */

__device__ static void hand_in(struct tg_sums s)
{
    tg_words_join(&s);
    if (threadIdx.x % 32 == 0)
        block.sum[threadIdx.x / 32] = s;
}

/* Loads 16 bytes from an address that is a multiple of WIDTH. */
template <int WIDTH> __device__ static ulonglong2 load_pair(const char *from)
{
    ulonglong2 pair;
    if (WIDTH == 16) {
        pair = __ldcg((const ulonglong2 *)from);
    } else if (WIDTH == 8) {
        pair.x = __ldcg((const unsigned long long *)from);
        pair.y = __ldcg((const unsigned long long *)from + 1);
    } else if (WIDTH == 4) {
        const unsigned *words = (const unsigned *)from;
        pair.x = (unsigned long long)__ldcg(words + 1) << 32 | __ldcg(words);
        pair.y = (unsigned long long)__ldcg(words + 3) << 32 | __ldcg(words + 2);
    } else {
        pair.x = tg_words_load_bytes(from, 8);
        pair.y = tg_words_load_bytes(from + 8, 8);
    }
    return pair;
}

/* Hashes and copies whole pairs, with AT_ONCE loads in flight per thread. */
template <int WIDTH> __device__ static void hash_pairs(struct tg_sums *s, uint64_t n)
{
    const uint64_t step = TG_CUDA_THREADS;
    const uint64_t key_step = 2 * step * TG_HASH_KEY;
    const char *from = block.from;
    char *to = block.to;
    uint64_t i = threadIdx.x, key = (block.words + 2 * i + 1) * TG_HASH_KEY;
    for (; i + (AT_ONCE - 1) * step < n; i += AT_ONCE * step) {
        ulonglong2 pair[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            pair[k] = load_pair<WIDTH>(from + 16 * (i + k * step));
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++, key += key_step) {
            if (to)
                tg_words_store_pair(to + 16 * (i + k * step), pair[k]);
            tg_words_add_pair(s, pair[k], key);
        }
    }
    for (; i < n; i += step, key += key_step) {
        ulonglong2 pair = load_pair<WIDTH>(from + 16 * i);
        if (to)
            tg_words_store_pair(to + 16 * i, pair);
        tg_words_add_pair(s, pair, key);
    }
}

__device__ __noinline__ static void hash_and_copy(void)
{
    uint64_t n = block.size / 16;
    struct tg_sums s = {0, 0};
    if ((uint64_t)block.from % 16 == 0)
        hash_pairs<16>(&s, n);
    else if ((uint64_t)block.from % 8 == 0)
        hash_pairs<8>(&s, n);
    else if ((uint64_t)block.from % 4 == 0)
        hash_pairs<4>(&s, n);
    else
        hash_pairs<1>(&s, n);
    if (threadIdx.x == 0)
        tg_words_rest(&s, block.to, block.from, 16 * n, block.size, block.words);
    hand_in(s);
}

/* ── the crew: views ───────────────────────────────────────────────────────────────────── */

__device__ static int64_t divide(int64_t a, int64_t b)
{
    return (uint64_t)(a | b) >> 32 ? a / b : (int64_t)((uint32_t)a / (uint32_t)b);
}

/* The place of the view's element `index`; *in_row: elements left in its row, itself included. */
__device__ static int64_t place_of(int64_t index, int64_t *in_row)
{
    int64_t at = block.start;
    for (int d = block.plan.ndim - 1; d >= 0; d--) {
        int64_t rest = divide(index, block.plan.shape[d]);
        int64_t here = index - rest * block.plan.shape[d];
        at += here * block.plan.strides[d];
        if (d == block.plan.ndim - 1)
            *in_row = block.plan.shape[d] - here;
        index = rest;
    }
    return at;
}

__device__ static uint64_t load_element(int64_t at)
{
    switch (block.bits) {
    case 4:
        return (uint8_t)block.from[at / 2] >> (at % 2 * 4) & 15u;
    case 8:
        return (uint8_t)block.from[at];
    case 16:
        return ((const uint16_t *)block.from)[at];
    case 32:
        return __ldcg((const unsigned *)block.from + at);
    default:
        return __ldcg((const unsigned long long *)block.from + at);
    }
}

/* Packs elements from `index` on into 8 bytes. */
__device__ static uint64_t gather_word(int64_t index)
{
    int64_t stride = block.plan.strides[block.plan.ndim - 1], in_row = 0, at = 0;
    uint64_t word = 0;
    for (uint32_t shift = 0; shift < 64 && index < block.total; shift += block.bits, index++) {
        if (in_row == 0)
            at = place_of(index, &in_row);
        word |= load_element(at) << shift;
        at += stride;
        in_row--;
    }
    return word;
}

__device__ static void gather_words(struct tg_sums *s)
{
    int64_t per_word = 64 / block.bits;
    for (uint64_t i = threadIdx.x; 8 * i < block.size; i += TG_CUDA_THREADS) {
        uint64_t word = gather_word(block.first + (int64_t)i * per_word);
        uint64_t left = block.size - 8 * i;
        tg_words_add(s, word, block.words + i);
        if (block.to && left >= 8)
            ((uint64_t *)block.to)[i] = word;
        else if (block.to)
            for (uint32_t k = 0; k < left; k++)
                block.to[8 * i + k] = (char)(word >> (8 * k));
    }
}

/* True if rows consist of whole, aligned pieces of 16 bytes. */
__device__ static bool has_wide_rows(void)
{
    const struct tg_gather_plan *p = &block.plan;
    int inner = p->ndim - 1;
    uint64_t bytes = block.bits / 8, odd;
    if (bytes == 0 || p->strides[inner] != 1)
        return false;
    odd = (uint64_t)block.from | (uint64_t)block.start * bytes | (uint64_t)block.first * bytes |
          (uint64_t)p->shape[inner] * bytes | block.size;
    for (int d = 0; d < inner; d++)
        odd |= (uint64_t)p->strides[d] * bytes;
    return odd % 16 == 0;
}

__device__ static void gather_pairs(struct tg_sums *s)
{
    int64_t bytes = block.bits / 8, per_pair = 16 / bytes, in_row;
    for (uint64_t i = threadIdx.x; 16 * i < block.size; i += TG_CUDA_THREADS) {
        int64_t at = place_of(block.first + (int64_t)i * per_pair, &in_row);
        ulonglong2 pair = load_pair<16>(block.from + at * bytes);
        if (block.to)
            tg_words_store_pair(block.to + 16 * i, pair);
        tg_words_add_pair(s, pair, (block.words + 2 * i + 1) * TG_HASH_KEY);
    }
}

__device__ __noinline__ static void gather(void)
{
    struct tg_sums s = {0, 0};
    if (has_wide_rows())
        gather_pairs(&s);
    else
        gather_words(&s);
    hand_in(s);
}

/* ── the crew ──────────────────────────────────────────────────────────────────────────── */

/* Each warp says for itself that it is through. No thread starts the next order before all have finished this
 * one. */
__device__ static __forceinline__ void call_next(struct tg_orders *o, uint32_t slot,
                                                 tg_kernel_fn kernel)
{
    const struct tg_target_order *order = &o->call[slot];
    if (threadIdx.x == 0)
        tg_target_say_running(order->status, &order->now);
    kernel(&order->ctx);
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        tg_barrier_arrive(&o->done[slot]);
    TG_BARRIER();
}

/* Tells the host the counters of the leader's stream, and then of its records: by one warp, whose stores are
 * together a few lines of the host's memory. The leader counts on meanwhile. */
__device__ static void tell(const struct tg_tell *news)
{
    struct tg_stream_head *head = tg_orders()->near.stream.head;
    if (threadIdx.x < TG_STREAM_COUNTERS)
        tg_store_relaxed_host(&head->recorded + threadIdx.x, news->counter[threadIdx.x]);
    __syncwarp();
    if (threadIdx.x == 0)
        tg_store_release_host(&head->current, news->current); /* W1 */
}

/* Tells the host what the leader does not wait for yet; later orders come after it. */
__device__ static void tell_next(struct tg_orders *o, uint32_t slot)
{
    if (threadIdx.x < 32)
        tell(&o->tell[slot]);
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        tg_barrier_arrive(&o->done[slot]);
    TG_BARRIER();
}

/* An order that the leader waits for, or a TG_ORDER_TELL. Returns false if it was the last. */
__device__ static __noinline__ bool carry_out(struct tg_orders *o, uint32_t slot)
{
    const struct tg_target_order *order = &o->call[slot];
    switch (order->kind) {
    case TG_ORDER_CALL:
        order->kernel(&order->ctx);
        /* Waits for the kernel's stores, so that the GPU reports a bad one while it is clear which kernel
         * made it. */
        __threadfence();
        break;
    case TG_ORDER_HASH:
        hash_and_copy();
        break;
    case TG_ORDER_GATHER:
        gather();
        break;
    case TG_ORDER_FILL:
        tg_block_fill();
        break;
    case TG_ORDER_TELL:
        tell_next(o, slot);
        return true;
    default:
        return false;
    }
    tg_barrier_arrive(&o->all_done[slot]);
    return true;
}

__device__ void tg_block_crew(void)
{
    struct tg_orders *o = tg_orders();
    for (uint32_t n = 0;; n++) {
        uint32_t slot = n % 2;
        ulonglong2 first;
        tg_barrier_wait(&o->go[slot], n / 2 % 2, TG_CREW_LOOKS);
        first = *(const ulonglong2 *)&o->call[slot].kernel;
        if ((uint32_t)first.y == TG_ORDER_CALL_NEXT)
            call_next(o, slot, (tg_kernel_fn)first.x);
        else if (!carry_out(o, slot))
            return;
    }
}
