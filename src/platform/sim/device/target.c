/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* The device program's target on Linux: futexes. */
#include "device/target.h"
#include "base/hash.h"
#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void tg_target_yield(void)
{
    sched_yield();
}

void tg_target_wait(uint32_t *word, uint32_t value)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

void tg_target_wake(uint32_t *word, uint32_t count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

void tg_target_nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

uint64_t tg_target_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void tg_target_hash(struct tg_hash *hash, const void *bytes, uint64_t size)
{
    tg_hash_update(hash, bytes, size);
}

void tg_target_hash_copy(struct tg_hash *hash, void *to, const void *from, uint64_t size)
{
    tg_hash_copy(hash, to, from, size);
}
