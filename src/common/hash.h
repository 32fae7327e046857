/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The content hash: 64 bits over the packed bytes of a tensor. It is the same on every platform, and
 * does not depend on the order and sizes of the pieces. docs/wire-format.md defines it.
 *
 * Words w[i] of 8 bytes, little-endian, the last one filled up with zeros:
 *     x = w[i] ^ (i + 1) * K,   product = low32(x) * high32(x)
 *     even i:  a += product, b += w[i]        odd i:  b += product, a += w[i]
 * The order of additions does not matter, so different threads can add pieces. The key makes the hash
 * depend on the position of each word; the plain sum ensures that a change of one word changes the
 * hash.
 */
#ifndef TG_COMMON_HASH_H
#define TG_COMMON_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <taskglass/target.h>

#define TG_HASH_KEY UINT64_C(0x9E3779B97F4A7C15)

struct tg_hash {
    uint64_t a, b;
    uint64_t words; /* added so far */
};

TG_INLINE void tg_hash_init(struct tg_hash *hash)
{
    hash->a = hash->b = hash->words = 0;
}

TG_INLINE void tg_hash_word(struct tg_hash *hash, uint64_t word)
{
    uint64_t x = word ^ ++hash->words * TG_HASH_KEY;
    uint64_t product = (x & 0xffffffffu) * (x >> 32);
    if (hash->words & 1) { /* i = words - 1 is even */
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

/* `bytes` is the total number of bytes. */
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
