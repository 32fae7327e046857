/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the device program needs from the target it runs on. The simulators' versions are in
 * src/platform/sim/device/target.c, a GPU's in src/platform/cuda/device/block.cu.
 *
 *   waiting     a simulated core sleeps on a futex; a GPU has no way to sleep, so it backs off and
 *               looks again
 *   calling     a simulated core is one thread and calls the kernel; on a GPU one warp of a thread
 *               block runs the device program and has the others run kernels, copies and hashes
 *   telling     what the host is shown of a worker: in memory that both have, or, on a GPU, across
 *               a bus, where a store is cheap, a load is not, and fewer are better
 */
#ifndef TG_DEVICE_TARGET_H
#define TG_DEVICE_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/kernel.h>
#include <taskglass/target.h>
#include <taskglass/wire/device.h>
#include <taskglass/wire/record.h>

struct tg_hash;

#if defined(__CUDACC__)

/* Who sleeps looks for the end of the run by itself. */
#define TG_TARGET_SLEEPERS_LOOK 1
/* A record is made in device memory and goes to the host's in one go. */
#define TG_TARGET_STAGES_RECORDS 1

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
    __nanosleep(200);
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

/* 16 bytes at once, past the caches: one transaction on the bus. */
TG_FN static inline void tg_target_store16(void *to, uint64_t first, uint64_t second)
{
    asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(to)),
                 "l"(first), "l"(second)
                 : "memory");
}
/* The number finished comes along with every other word; between two tasks nothing is said. */
TG_FN static inline void tg_target_say_running(struct tg_worker_status *status,
                                               const struct tg_worker_status *now)
{
    tg_target_store16(&status->part, (uint64_t)now->kernel << 32 | now->part, now->task_id);
    tg_target_store16(&status->running, now->running, now->finished);
}
TG_FN static inline void tg_target_say_between(struct tg_worker_status *status)
{
    (void)status;
}
TG_FN static inline void tg_target_say_finished(struct tg_worker_status *status, uint64_t finished)
{
    (void)status;
    (void)finished;
}
TG_FN static inline void tg_target_say_idle(struct tg_worker_status *status, uint64_t finished)
{
    tg_target_store16(&status->running, 0, finished);
}
TG_FN static inline void tg_target_say_submitted(struct tg_worker_status *status, uint64_t tasks)
{
    asm volatile(
        "st.relaxed.sys.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(&status->task_id)),
        "l"(tasks)
        : "memory");
}
TG_FN static inline void tg_target_copy_record(struct tg_record *to, const struct tg_record *from)
{
    const uint64_t *words = (const uint64_t *)from;
    for (uint32_t i = 0; i < sizeof *to / 8; i += 2)
        tg_target_store16((uint64_t *)to + i, words[i], words[i + 1]);
}

#else

#define TG_TARGET_SLEEPERS_LOOK 0
#define TG_TARGET_STAGES_RECORDS 0

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

/* For whoever looks from outside, or after a crash: what the worker does now; that it is done with
 * it; how much it has finished; that it has nothing to do. */
static inline void tg_target_say_running(struct tg_worker_status *status,
                                         const struct tg_worker_status *now)
{
    __atomic_store_n(&status->part, now->part, __ATOMIC_RELAXED);
    __atomic_store_n(&status->kernel, now->kernel, __ATOMIC_RELAXED);
    __atomic_store_n(&status->task_id, now->task_id, __ATOMIC_RELAXED);
    __atomic_store_n(&status->running, now->running, __ATOMIC_RELAXED);
}
static inline void tg_target_say_between(struct tg_worker_status *status)
{
    __atomic_store_n(&status->running, (uint64_t)0, __ATOMIC_RELAXED);
}
static inline void tg_target_say_finished(struct tg_worker_status *status, uint64_t finished)
{
    __atomic_store_n(&status->finished, finished, __ATOMIC_RELAXED);
}
static inline void tg_target_say_idle(struct tg_worker_status *status, uint64_t finished)
{
    __atomic_store_n(&status->running, (uint64_t)0, __ATOMIC_RELAXED);
    __atomic_store_n(&status->finished, finished, __ATOMIC_RELAXED);
}
/* The orchestrator: its report has that too, in memory that may go with the device. */
static inline void tg_target_say_submitted(struct tg_worker_status *status, uint64_t tasks)
{
    (void)status;
    (void)tasks;
}

#endif

/* Runs the kernel with these arguments, and comes back when all of it has. */
#if defined(__CUDACC__)
TG_FN void tg_target_call(tg_kernel_fn kernel, const struct tg_ctx *ctx);
#else
static inline void tg_target_call(tg_kernel_fn kernel, const struct tg_ctx *ctx)
{
    kernel(ctx);
}
#endif

/* As fast as the target can: tg_hash_update and tg_hash_copy of base/hash.h. */
TG_FN void tg_target_hash(struct tg_hash *hash, const void *bytes, uint64_t size);
TG_FN void tg_target_hash_copy(struct tg_hash *hash, void *to, const void *from, uint64_t size);
/* The same of a view that is no straight run of bytes: its logical bytes [offset, offset + size),
 * packed; both multiples of 64 except at the end. Where `to` is 0 they are only hashed. */
TG_FN void tg_target_gather(struct tg_hash *hash, void *to, const struct tg_tensor *tensor,
                            uint64_t offset, uint64_t size);

#endif
