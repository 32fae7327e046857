/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the content hash as fast as memory can be read. There is one kernel for each instruction
 * set, and the features of the processor select it. Each loads blocks of 64 bytes once, stores them
 * if the caller wants a copy, and adds them into vector lanes that hold the two sums alternately.
 *
 * A block begins at an even word, so the even lanes of a vector belong to sum a. A product goes to the
 * sum of its own lane; the plain word goes to the other sum, so neighbouring words are swapped first.
 *
 * The library and the simulated device both contain this file, so it calls nothing but memcpy.
 */
#include "common/hash.h"

#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { BLOCK = 64 };

/* Adds whole blocks, and copies them unless `to` is NULL. */
typedef void (*blocks_fn)(struct tg_hash *hash, unsigned char *to, const unsigned char *from,
                          size_t blocks);

static uint64_t load_word(const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Adds the bytes after the last whole block. */
static void add_tail(struct tg_hash *hash, const unsigned char *from, size_t size)
{
    unsigned char tail[BLOCK] = {0};
    memcpy(tail, from, size);
    for (size_t at = 0; at < size; at += sizeof(uint64_t))
        tg_hash_word(hash, load_word(tail + at));
}

#if defined(__x86_64__)

/* How many bytes ahead to prefetch; the hardware prefetcher stops at the end of a page. This value was
 * the fastest in bench/record. */
enum { AHEAD = 512 };

/*
 * Defines a kernel from a vector type and its operations. The key of a lane is (index of its
 * word + 1) * K and advances by addition. The kernel works on two vectors at a time, each with its own sum,
 * to hide the latency of the multiplication.
 */
/* clang-format off */
#define DEFINE_KERNEL(name, feature, vector, load, store, add, xor, shift, multiply, swap, splat)  \
    __attribute__((target(feature), always_inline)) static inline void name##_add(                 \
        struct tg_hash *hash, unsigned char *to, const unsigned char *from, size_t size,           \
        bool copies)                                                                               \
    {                                                                                              \
        enum { LANES = sizeof(vector) / 8, STRIDE = 2 * sizeof(vector) };                          \
        uint64_t lanes[STRIDE / 8];                                                                \
        vector key0, key1, sum0 = splat(0), sum1 = splat(0);                                       \
        vector step = splat((long long)(STRIDE / 8 * TG_HASH_KEY));                                \
        for (unsigned i = 0; i < STRIDE / 8; i++)                                                  \
            lanes[i] = (hash->words + i + 1) * TG_HASH_KEY;                                        \
        key0 = load((const vector *)(const void *)lanes);                                          \
        key1 = load((const vector *)(const void *)(lanes + LANES));                                \
        for (size_t at = 0; at < size; at += STRIDE) {                                             \
            __builtin_prefetch(from + at + AHEAD);                                                 \
            vector word0 = load((const vector *)(const void *)(from + at));                        \
            vector word1 = load((const vector *)(const void *)(from + at + sizeof(vector)));       \
            vector x0 = xor(word0, key0), x1 = xor(word1, key1);                                   \
            if (copies) {                                                                          \
                store((vector *)(void *)(to + at), word0);                                         \
                store((vector *)(void *)(to + at + sizeof(vector)), word1);                        \
            }                                                                                      \
            sum0 = add(sum0, add(multiply(x0, shift(x0, 32)), swap(word0)));                       \
            sum1 = add(sum1, add(multiply(x1, shift(x1, 32)), swap(word1)));                       \
            key0 = add(key0, step);                                                                \
            key1 = add(key1, step);                                                                \
        }                                                                                          \
        store((vector *)(void *)lanes, add(sum0, sum1));                                           \
        for (unsigned i = 0; i < LANES; i += 2) {                                                  \
            hash->a += lanes[i];                                                                   \
            hash->b += lanes[i + 1];                                                               \
        }                                                                                          \
        hash->words += size / 8;                                                                   \
    }                                                                                              \
    __attribute__((target(feature))) static void name(                                             \
        struct tg_hash *hash, unsigned char *to, const unsigned char *from, size_t blocks)         \
    {                                                                                              \
        if (to)                                                                                    \
            name##_add(hash, to, from, blocks * BLOCK, true);                                      \
        else                                                                                       \
            name##_add(hash, NULL, from, blocks * BLOCK, false);                                   \
    }

#define SWAP_128(v) _mm_shuffle_epi32(v, _MM_SHUFFLE(1, 0, 3, 2))
#define SWAP_256(v) _mm256_shuffle_epi32(v, _MM_SHUFFLE(1, 0, 3, 2))

DEFINE_KERNEL(add_sse2, "sse2", __m128i, _mm_loadu_si128, _mm_storeu_si128, _mm_add_epi64,
              _mm_xor_si128, _mm_srli_epi64, _mm_mul_epu32, SWAP_128, _mm_set1_epi64x)
DEFINE_KERNEL(add_avx2, "avx2", __m256i, _mm256_loadu_si256, _mm256_storeu_si256,
              _mm256_add_epi64, _mm256_xor_si256, _mm256_srli_epi64, _mm256_mul_epu32, SWAP_256,
              _mm256_set1_epi64x)
/* clang-format on */

static blocks_fn best_kernel(void)
{
    return __builtin_cpu_supports("avx2") ? add_avx2 : add_sse2;
}

#else

static void add_portable(struct tg_hash *hash, unsigned char *to, const unsigned char *from,
                         size_t blocks)
{
    for (size_t at = 0; at < blocks * BLOCK; at += sizeof(uint64_t))
        tg_hash_word(hash, load_word(from + at));
    if (to)
        memcpy(to, from, blocks * BLOCK);
}

static blocks_fn best_kernel(void)
{
    return add_portable;
}

#endif

void tg_hash_update(struct tg_hash *hash, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    size_t whole = size - size % BLOCK;
    if (whole > 0)
        best_kernel()(hash, NULL, from, whole / BLOCK);
    if (whole < size)
        add_tail(hash, from + whole, size - whole);
}

void tg_hash_copy(struct tg_hash *hash, void *to, const void *from, size_t size)
{
    const unsigned char *source = from;
    unsigned char *target = to;
    size_t whole = size - size % BLOCK;
    if (whole > 0)
        best_kernel()(hash, target, source, whole / BLOCK);
    if (whole < size) {
        add_tail(hash, source + whole, size - whole);
        memcpy(target + whole, source + whole, size - whole);
    }
}
