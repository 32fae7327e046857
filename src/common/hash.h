/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The content hash: 64 bits over a tensor's logical bytes, the same on every platform whatever
 * the order and size of the pieces it is computed from. docs/wire-format.md defines it.
 *
 * Words w[i] of 8 bytes, little-endian, the last one filled up with zeros:
 *     x = w[i] ^ (i + 1) * K,   product = low32(x) * high32(x)
 *     even i:  a += product, b += w[i]        odd i:  b += product, a += w[i]
 * Both sums are free of order: pieces can be added by different threads. The key makes a word's
 * place count, the plain sum makes sure that a change of one word never goes unseen.
 */
#ifndef TG_COMMON_HASH_H
#define TG_COMMON_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <taskglass/target.h>

#define TG_HASH_KEY UINT64_C(0x9E3779B97F4A7C15)

struct tg_hash {
    uint64_t a, b;
    uint64_t words; /* so far */
};

TG_INLINE void tg_hash_init(struct tg_hash *hash)
{
    hash->a = hash->b = hash->words = 0;
}

TG_INLINE void tg_hash_word(struct tg_hash *hash, uint64_t word)
{
    uint64_t x = word ^ ++hash->words * TG_HASH_KEY;
    uint64_t product = (x & 0xffffffffu) * (x >> 32);
    if (hash->words & 1) { /* i is even: words is already one further */
        hash->a += product;
        hash->b += word;
    } else {
        hash->b += product;
        hash->a += word;
    }
}

TG_INLINE uint64_t tg_hash_mix_(uint64_t x, uint64_t factor)
{
    x ^= x >> 32;
    x *= factor;
    return x ^ x >> 29;
}

/* `bytes`: how many there were in all. */
TG_INLINE uint64_t tg_hash_final(const struct tg_hash *hash, uint64_t bytes)
{
    uint64_t a = tg_hash_mix_(hash->a, UINT64_C(0xD6E8FEB86659FD93));
    uint64_t b = tg_hash_mix_(hash->b ^ bytes * TG_HASH_KEY, UINT64_C(0xA0761D6478BD642F));
    return tg_hash_mix_(a + (b << 23 | b >> 41), UINT64_C(0xE7037ED1A0B428DB));
}

/* Adds bytes; only the last call may have a size that is not a multiple of 64. */
void tg_hash_update(struct tg_hash *hash, const void *bytes, size_t size);
/* The same, and copies them. */
void tg_hash_copy(struct tg_hash *hash, void *to, const void *from, size_t size);

#endif
