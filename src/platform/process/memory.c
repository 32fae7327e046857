/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Allocates device memory that the host shares, and copies bytes in and out of it. */
#include "base/error.h"
#include "platform/process/state.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { PAGE = 4096 };

bool tg_process_in_memory(const struct tg_process *process, uint64_t address, uint64_t size)
{
    return address >= process->base && address - process->base <= process->size &&
           size <= process->size - (address - process->base);
}

tg_status tg_heap_full(const struct tg_heap *heap, uint64_t bytes, uint64_t size,
                       struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY,
                        "device memory: %llu bytes wanted, but %llu of %llu are free, the "
                        "largest piece has %llu; raise --device-memory",
                        (unsigned long long)bytes, (unsigned long long)heap->bytes_free,
                        (unsigned long long)size, (unsigned long long)tg_heap_largest(heap));
}

tg_status tg_process_alloc(void *state, uint64_t bytes, uint64_t *address, struct tg_error *error)
{
    struct tg_process *process = state;
    uint64_t offset;
    if (!tg_heap_take(&process->heap, bytes, &offset))
        return tg_heap_full(&process->heap, bytes, process->size, error);
    *address = process->base + offset;
    return TG_OK;
}

/* A device keeps this much memory, whether it is allocated or not: the next graph finds it there, while
 * memory that was given back costs a page fault for every 4 KiB. */
#define KEPT_BYTES (UINT64_C(64) << 20)

/* The bytes that the system has provided so far and not got back. */
static uint64_t provided(const struct tg_process *process)
{
    struct stat is;
    return fstat(process->memory_fd, &is) == 0 ? (uint64_t)is.st_blocks * 512 : UINT64_MAX;
}

/* Returns a large piece to the system, which provides zeros when it is touched again. */
static void give_back(struct tg_process *process, uint64_t offset, uint64_t size)
{
    const uint64_t worth_it = 1 << 20;
    uint64_t first = (offset + PAGE - 1) / PAGE * PAGE;
    uint64_t last = (offset + size) / PAGE * PAGE;
    if (size >= worth_it && provided(process) > KEPT_BYTES)
        (void)fallocate(process->memory_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        (off_t)first, (off_t)(last - first));
}

tg_status tg_process_free(void *state, uint64_t address, struct tg_error *error)
{
    struct tg_process *process = state;
    uint64_t size = tg_process_in_memory(process, address, 0)
                        ? tg_heap_give(&process->heap, address - process->base)
                        : 0;
    if (size == 0)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "free: 0x%llx is not the start of an allocation",
                            (unsigned long long)address);
    give_back(process, address - process->base, size);
    return TG_OK;
}

static tg_status outside(const struct tg_process *process, const char *what, uint64_t address,
                         uint64_t size, struct tg_error *error)
{
    return tg_error_set(error, TG_BAD_ARGUMENT,
                        "%s: 0x%llx + %llu bytes is outside device memory (0x%llx + %llu)", what,
                        (unsigned long long)address, (unsigned long long)size,
                        (unsigned long long)process->base, (unsigned long long)process->size);
}

void *tg_process_map(void *state, uint64_t address, uint64_t size)
{
    struct tg_process *process = state;
    return tg_process_in_memory(process, address, size) ? process->map + (address - process->base)
                                                        : NULL;
}

void tg_process_expect(void *state, uint64_t address, uint64_t size)
{
    struct tg_process *process = state;
    uint64_t first = (address - process->base) / PAGE * PAGE;
    uint64_t end = (address - process->base + size + PAGE - 1) / PAGE * PAGE;
    /* A system that does not know this advice provides each page when it is touched. */
    if (tg_process_in_memory(process, address, size))
        (void)madvise(process->map + first, end - first, MADV_POPULATE_WRITE);
}

tg_status tg_process_write_mapped(void *state, uint64_t address, const void *bytes, uint64_t size,
                                  struct tg_error *error)
{
    void *to = tg_process_map(state, address, size);
    if (to == NULL)
        return outside(state, "copy in", address, size, error);
    if (size > 0)
        memcpy(to, bytes, size);
    return TG_OK;
}

tg_status tg_process_read_mapped(void *state, void *bytes, uint64_t address, uint64_t size,
                                 struct tg_error *error)
{
    const void *from = tg_process_map(state, address, size);
    if (from == NULL)
        return outside(state, "copy out", address, size, error);
    if (size > 0)
        memcpy(bytes, from, size);
    return TG_OK;
}

tg_status tg_process_write_copied(void *state, uint64_t address, const void *bytes, uint64_t size,
                                  struct tg_error *error)
{
    struct tg_process *process = state;
    const char *from = bytes;
    int tries = 0;
    if (!tg_process_in_memory(process, address, size))
        return outside(process, "copy in", address, size, error);
    for (uint64_t done = 0; done < size;) {
        ssize_t n = pwrite(process->memory_fd, from + done, size - done,
                           (off_t)(address - process->base + done));
        if (n < 0 && tg_process_try_again(errno, &tries))
            continue;
        if (n <= 0)
            return tg_error_set(error, TG_NO_MEMORY, "copy in: %s",
                                strerror(n < 0 ? errno : ENOSPC));
        done += (uint64_t)n;
    }
    return TG_OK;
}

tg_status tg_process_read_copied(void *state, void *bytes, uint64_t address, uint64_t size,
                                 struct tg_error *error)
{
    struct tg_process *process = state;
    char *to = bytes;
    int tries = 0;
    if (!tg_process_in_memory(process, address, size))
        return outside(process, "copy out", address, size, error);
    for (uint64_t done = 0; done < size;) {
        ssize_t n = pread(process->memory_fd, to + done, size - done,
                          (off_t)(address - process->base + done));
        if (n < 0 && tg_process_try_again(errno, &tries))
            continue;
        if (n <= 0)
            return tg_error_set(error, TG_DEVICE_LOST, "copy out: %s",
                                n < 0 ? strerror(errno) : "device memory was truncated");
        done += (uint64_t)n;
    }
    return TG_OK;
}
