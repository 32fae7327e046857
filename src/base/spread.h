/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers for hash tables whose keys are in files of strangers. Somebody who knows where a key goes can write a file
 * whose keys all go to one place, and each search then passes all of them. So the place depends on a number that is
 * another one in each process, and that nobody outside knows. What is in the table must not depend on it.
 */
#ifndef TG_BASE_SPREAD_H
#define TG_BASE_SPREAD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

/* Random bytes that the system gives every process; they stay the same until it ends. Threads that come here at the
 * same time read the same bytes. */
static inline uint64_t tg_spread_secret_(void)
{
    static _Atomic uint64_t kept;
    uint64_t secret = atomic_load_explicit(&kept, memory_order_relaxed);
    const void *bytes = secret == 0 ? (const void *)getauxval(AT_RANDOM) : NULL;
    if (bytes) {
        memcpy(&secret, bytes, sizeof secret);
        atomic_store_explicit(&kept, secret, memory_order_relaxed);
    }
    return secret;
}

static inline uint64_t tg_spread_mix_(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* All bits are as good as random. */
static inline uint64_t tg_spread(uint64_t key)
{
    return tg_spread_mix_(key + tg_spread_secret_());
}

static inline uint64_t tg_spread_text(const char *text)
{
    const size_t length = strlen(text);
    const uint64_t secret = tg_spread_secret_();
    uint64_t sum = length;
    for (size_t at = 0; at < length; at += sizeof sum) {
        uint64_t word = 0;
        memcpy(&word, text + at, length - at < sizeof word ? length - at : sizeof word);
        sum = tg_spread_mix_((sum ^ word) + secret);
    }
    return tg_spread_mix_(sum + secret);
}

#endif
