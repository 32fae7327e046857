/* SPDX-License-Identifier: Apache-2.0 */
/* The content hash written exactly as defined, and bytes to test it with. */
#ifndef TASKGLASS_TEST_HASH_MODEL_H
#define TASKGLASS_TEST_HASH_MODEL_H

#include "common/hash.h"

#include <stddef.h>
#include <stdint.h>

static inline uint64_t model_hash(const unsigned char *bytes, size_t size)
{
    struct tg_hash hash;
    tg_hash_init(&hash);
    for (size_t at = 0; at < size; at += 8) {
        uint64_t word = 0;
        for (size_t i = 0; i < 8 && at + i < size; i++)
            word |= (uint64_t)bytes[at + i] << 8 * i;
        tg_hash_word(&hash, word);
    }
    return tg_hash_final(&hash, size);
}

static inline void fill_bytes(unsigned char *bytes, size_t size, uint64_t seed)
{
    for (size_t i = 0; i < size; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bytes[i] = (unsigned char)(seed >> 56);
    }
}

#endif
