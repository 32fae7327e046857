/* SPDX-License-Identifier: Apache-2.0 */
/* How one thread hashes and copies words (common/hash.h), for those who share out a tensor between many. */
#ifndef TG_CUDA_GPU_WORDS_H
#define TG_CUDA_GPU_WORDS_H

#include "common/hash.h"

__device__ static inline uint64_t tg_words_product(uint64_t word, uint64_t key)
{
    uint64_t x = word ^ key;
    return (x & 0xffffffffu) * (x >> 32);
}

/* Adds words 2i and 2i + 1 of the tensor; `key` is the first word's. */
__device__ static inline void tg_words_add_pair(struct tg_sums *s, ulonglong2 pair, uint64_t key)
{
    s->a += tg_words_product(pair.x, key) + pair.y;
    s->b += tg_words_product(pair.y, key + TG_HASH_KEY) + pair.x;
}

__device__ static inline void tg_words_add(struct tg_sums *s, uint64_t word, uint64_t index)
{
    uint64_t p = tg_words_product(word, (index + 1) * TG_HASH_KEY);
    s->a += index % 2 ? word : p;
    s->b += index % 2 ? p : word;
}

/* Adds up the sums of the warp's threads; the first gets the result. */
__device__ static inline void tg_words_join(struct tg_sums *s)
{
#pragma unroll
    for (uint32_t distance = 16; distance > 0; distance /= 2) {
        s->a += __shfl_down_sync(~0u, s->a, distance);
        s->b += __shfl_down_sync(~0u, s->b, distance);
    }
}

/* Loads up to 8 bytes from any address; the remaining bytes are zero. */
__device__ static inline uint64_t tg_words_load_bytes(const char *from, uint32_t size)
{
    uint64_t word = 0;
    for (uint32_t i = 0; i < size; i++)
        word |= (uint64_t)(uint8_t)from[i] << (8 * i);
    return word;
}

__device__ static inline void tg_words_store_pair(char *to, ulonglong2 pair)
{
    __stcs((ulonglong2 *)to, pair);
}

/* Hashes and copies the bytes behind the last whole pair, which is at `done`. If `to` is 0, only hashes them.
 * `words` were hashed before `from`. */
__device__ static inline void tg_words_rest(struct tg_sums *s, char *to, const char *from,
                                            uint64_t done, uint64_t size, uint64_t words)
{
    for (uint64_t at = done; at < size; at += 8) {
        uint32_t n = size - at < 8 ? (uint32_t)(size - at) : 8;
        tg_words_add(s, tg_words_load_bytes(from + at, n), words + at / 8);
        for (uint32_t i = 0; to && i < n; i++)
            to[at + i] = from[at + i];
    }
}

#endif
