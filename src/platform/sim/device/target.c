/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* The device program's target on Linux: futexes. */
#include "device/target.h"
#include "common/gather.h"
#include "common/hash.h"
#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

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

void tg_target_expect(char *memory, uint64_t bytes)
{
    const uintptr_t page = 4096;
    uintptr_t first = (uintptr_t)memory / page * page;
    /* A system that does not know this advice provides each page when it is touched. */
    (void)madvise((void *)first, (uintptr_t)memory + bytes - first, MADV_POPULATE_WRITE);
}

void tg_target_nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

uint64_t tg_target_clock_ahead;

uint64_t tg_target_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + tg_target_clock_ahead;
}

void tg_target_hash(struct tg_hash *hash, const void *bytes, uint64_t size)
{
    tg_hash_update(hash, bytes, size);
}

void tg_target_hash_copy(struct tg_hash *hash, void *to, const void *from, uint64_t size)
{
    tg_hash_copy(hash, to, from, size);
}

static void gather(void *to, const struct tg_tensor *t, uint64_t offset, uint64_t size)
{
    unsigned bits = tg_bits_of(t->dtype);
    if (bits == 0)
        return; /* no valid tensor has such a type */
    int64_t first = (int64_t)(offset * 8 / bits);
    int64_t count = (int64_t)(size * 8 / bits);
    int64_t left = tg_tensor_numel(t) - first;
    tg_gather(to, TG_DEVICE_PTR(const char, t->addr), t, first, count < left ? count : left);
}

void tg_target_gather(struct tg_hash *hash, void *to, const struct tg_tensor *tensor,
                      uint64_t offset, uint64_t size)
{
    char chunk[1024];
    if (to != NULL) {
        gather(to, tensor, offset, size);
        tg_hash_update(hash, to, size);
        return;
    }
    for (uint64_t done = 0; done < size; done += sizeof chunk) {
        uint64_t n = size - done < sizeof chunk ? size - done : sizeof chunk;
        gather(chunk, tensor, offset + done, n);
        tg_hash_update(hash, chunk, n);
    }
}
