/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the device program needs from the target it runs on. The simulators' versions are in
 * src/platform/sim/device/target.c; a GPU has no way to sleep, so it backs off and looks again.
 */
#ifndef TG_DEVICE_TARGET_H
#define TG_DEVICE_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/target.h>

struct tg_hash;

#if defined(__CUDACC__)

TG_FN static inline void tg_target_pause(void)
{
    __nanosleep(20);
}
TG_FN static inline void tg_target_yield(void)
{
    __nanosleep(200);
}
TG_FN static inline void tg_target_wait(uint32_t *word, uint32_t value)
{
    (void)word;
    (void)value;
    __nanosleep(500);
}
TG_FN static inline void tg_target_wake(uint32_t *word, uint32_t count)
{
    (void)word;
    (void)count;
}
TG_FN static inline uint32_t tg_target_lowest_bit(uint64_t bits)
{
    return (uint32_t)__ffsll((long long)bits) - 1;
}
TG_FN static inline uint32_t tg_target_leading_zeros(uint64_t bits)
{
    return (uint32_t)__clzll((long long)bits);
}
TG_FN static inline void tg_target_nap(void)
{
    __nanosleep(1000);
}
TG_FN static inline uint64_t tg_target_now(void)
{
    uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}
TG_FN void tg_target_hash(struct tg_hash *hash, const void *bytes, uint64_t size);
TG_FN void tg_target_hash_copy(struct tg_hash *hash, void *to, const void *from, uint64_t size);

#else

static inline void tg_target_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield" ::: "memory");
#endif
}
/* Lets another thread have the CPU. */
void tg_target_yield(void);
/* Sleeps while *word is value; may return early. */
void tg_target_wait(uint32_t *word, uint32_t value);
/* Wakes up to count threads that sleep on word. */
void tg_target_wake(uint32_t *word, uint32_t count);
static inline uint32_t tg_target_lowest_bit(uint64_t bits)
{
    return (uint32_t)__builtin_ctzll(bits);
}
static inline uint32_t tg_target_leading_zeros(uint64_t bits)
{
    return (uint32_t)__builtin_clzll(bits);
}
/* Sleeps for a moment: waiting for the host, who cannot wake us. */
void tg_target_nap(void);
/* Nanoseconds on a clock that all lanes share. */
uint64_t tg_target_now(void);
/* As fast as the target can: tg_hash_update and tg_hash_copy of base/hash.h. */
void tg_target_hash(struct tg_hash *hash, const void *bytes, uint64_t size);
void tg_target_hash_copy(struct tg_hash *hash, void *to, const void *from, uint64_t size);

#endif

#endif
