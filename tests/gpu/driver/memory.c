/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "fake.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, GUARD = 1 << 20 };

struct range {
    uint64_t start, size;
};

/* There are few ranges at a time, so a linear search is fast. */
struct ranges {
    struct range *range;
    size_t n, room;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ranges allocated, registered;
static uint64_t in_use;

static struct range *find(struct ranges *all, uint64_t start, uint64_t size)
{
    for (size_t i = 0; i < all->n; i++) {
        struct range *r = &all->range[i];
        if (start >= r->start && start - r->start <= r->size &&
            size <= r->size - (start - r->start))
            return r;
    }
    return NULL;
}

static bool overlaps(const struct ranges *all, uint64_t start, uint64_t size)
{
    for (size_t i = 0; i < all->n; i++)
        if (start < all->range[i].start + all->range[i].size && all->range[i].start < start + size)
            return true;
    return false;
}

static void add(struct ranges *all, uint64_t start, uint64_t size)
{
    if (all->n == all->room) {
        all->room = 2 * all->room + 16;
        all->range = realloc(all->range, all->room * sizeof *all->range);
        if (!all->range)
            abort();
    }
    all->range[all->n++] = (struct range){start, size};
}

static bool has(struct ranges *all, uint64_t start, uint64_t size)
{
    pthread_mutex_lock(&lock);
    bool is = find(all, start, size) != NULL;
    pthread_mutex_unlock(&lock);
    return is;
}

bool fake_is_device(uint64_t address, uint64_t size)
{
    return has(&allocated, address, size) || has(&registered, address, size);
}

bool fake_is_registered(const void *start, uint64_t size)
{
    return has(&registered, (uint64_t)(uintptr_t)start, size);
}

static uint64_t total(void)
{
    return fake_number("TASKGLASS_FAKE_CUDA_MEMORY", UINT64_C(64) << 30);
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *all)
{
    FAKE_ENTER();
    *all = total();
    pthread_mutex_lock(&lock);
    *free = *all - in_use;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

/* The GPU's memory starts at this address: neither this process nor the host's has memory of its
 * own there. */
static uint64_t next_place = UINT64_C(0x200000000000);

/* Where the first allocation of this process is to begin, or 0: nowhere in particular. */
static uint64_t told_place(const char *path)
{
    FILE *file = path ? fopen(path, "r") : NULL;
    unsigned long long told = 0;
    if (file == NULL)
        return 0;
    if (fscanf(file, "%llx", &told) != 1)
        told = 0;
    fclose(file);
    unlink(path);
    return told;
}

/* Says that the memory is where it was to be, and lets somebody act before the host learns of it. */
static void say_used(const char *path)
{
    char used[4096];
    snprintf(used, sizeof used, "%s.used", path);
    FILE *file = fopen(used, "w");
    if (file != NULL)
        fclose(file);
    for (int i = 0; i < 10000 && access(used, F_OK) == 0; i++)
        usleep(1000);
}

/* Puts the memory between inaccessible pages, so that a write past the end is a fault. Like NVIDIA's driver it
 * takes addresses that are free in this process: the system goes elsewhere if the wanted ones are not. */
CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t size)
{
    FAKE_ENTER();
    FAKE_NEEDS_IDLE();
    size_t whole = (size + PAGE - 1) / PAGE * PAGE;
    if (size == 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    const char *path = getenv("TASKGLASS_FAKE_CUDA_PLACE");
    uint64_t told = told_place(path);
    bool fits = whole <= total() - in_use;
    next_place = told ? told - GUARD : next_place;
    char *map = fits ? mmap((void *)(uintptr_t)next_place, whole + 2 * GUARD, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                     : MAP_FAILED;
    if (map != MAP_FAILED && mprotect(map + GUARD, whole, PROT_READ | PROT_WRITE) == 0) {
        *address = (CUdeviceptr)(uintptr_t)(map + GUARD);
        add(&allocated, *address, size);
        in_use += whole;
        next_place += whole + 2 * GUARD;
    } else {
        fits = false;
    }
    pthread_mutex_unlock(&lock);
    if (fits && told && *address == told)
        say_used(path);
    return fits ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    FAKE_ENTER();
    FAKE_NEEDS_IDLE();
    pthread_mutex_lock(&lock);
    struct range *r = find(&allocated, address, 1);
    if (r && r->start == address) {
        size_t whole = (r->size + PAGE - 1) / PAGE * PAGE;
        munmap((char *)(uintptr_t)address - GUARD, whole + 2 * GUARD);
        in_use -= whole;
        *r = allocated.range[--allocated.n];
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static bool default_stream_pending; /* by atomic access */

void fake_default_stream_writes(bool pending)
{
    __atomic_store_n(&default_stream_pending, pending, __ATOMIC_RELEASE);
}

bool fake_default_stream_is_done(void)
{
    return !__atomic_load_n(&default_stream_pending, __ATOMIC_ACQUIRE);
}

/* Untouched pages hold zeros already; large memory should stay untouched. */
CUresult cuMemsetD8_v2(CUdeviceptr address, unsigned char value, size_t size)
{
    FAKE_ENTER();
    if (!has(&allocated, address, size))
        return CUDA_ERROR_INVALID_VALUE;
    size_t whole = value == 0 && address % PAGE == 0 ? size / PAGE * PAGE : 0;
    char *start = (char *)(uintptr_t)address;
    if (whole > 0 && madvise(start, whole, MADV_DONTNEED) != 0)
        return CUDA_ERROR_UNKNOWN;
    memset(start + whole, value, size - whole);
    fake_default_stream_writes(true);
    return CUDA_SUCCESS;
}

static CUresult copy(void *to, const void *from, size_t size, uint64_t device, const void *pinned)
{
    if (!fake_is_device(device, size) || (pinned && !fake_is_registered(pinned, size)))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(to, from, size);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size)
{
    FAKE_ENTER();
    fake_default_stream_writes(true);
    return copy((void *)(uintptr_t)to, from, size, to, NULL);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size)
{
    FAKE_ENTER();
    fake_default_stream_writes(false); /* it waits for what the stream did before */
    return copy(to, (const void *)(uintptr_t)from, size, from, NULL);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
    FAKE_ENTER();
    if (stream && !fake_default_stream_is_done())
        return CUDA_ERROR_ILLEGAL_STATE;
    return copy((void *)(uintptr_t)to, from, size, to, from);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
    FAKE_ENTER();
    if (stream && !fake_default_stream_is_done())
        return CUDA_ERROR_ILLEGAL_STATE;
    return copy(to, (const void *)(uintptr_t)from, size, from, to);
}

CUresult cuMemHostRegister_v2(void *start, size_t size, unsigned flags)
{
    FAKE_ENTER();
    uint64_t address = (uint64_t)(uintptr_t)start;
    CUresult result = CUDA_SUCCESS;
    if (size == 0 || address % PAGE != 0 || size % PAGE != 0 ||
        !(flags & CU_MEMHOSTREGISTER_DEVICEMAP))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    if (overlaps(&registered, address, size))
        result = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    else
        add(&registered, address, size);
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult cuMemHostUnregister(void *start)
{
    FAKE_ENTER();
    CUresult result = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    pthread_mutex_lock(&lock);
    struct range *r = find(&registered, (uint64_t)(uintptr_t)start, 1);
    if (r && r->start == (uint64_t)(uintptr_t)start) {
        *r = registered.range[--registered.n];
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *start, unsigned flags)
{
    FAKE_ENTER();
    *address = (CUdeviceptr)(uintptr_t)start;
    return flags == 0 && fake_is_registered(start, 1) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
