/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the driver from putting the GPU's memory where the host has something. The host leaves the
 * addresses of that memory unused (reserve_hidden of cuda.c), which it can only if they are free there. The
 * driver takes addresses that are free in this process; so while it allocates, this process has reserved
 * what the host uses.
 *
 * Only for that one call: the driver may want fixed addresses when it starts, and a host that has
 * CUDA or a sanitizer of its own uses just these.
 */
#define _GNU_SOURCE
#include "platform/cuda/process/gpu_place.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* What the host maps next will mostly be in gaps of what it has, or just below. */
#define MARGIN (UINT64_C(1) << 30)
/* Smaller gaps between this process's own mappings stay open: the GPU's pages do not fit there. */
#define GPU_PAGE (UINT64_C(2) << 20)
/* Left open below each of them: one is a stack, which grows down. */
#define BELOW (UINT64_C(64) << 20)

/* In the order of addresses. Spans with at most `gap` bytes in between are one. */
struct spans {
    struct tg_cuda_span span[TG_CUDA_SPANS];
    uint32_t n;
    uint64_t gap;
};

/* Makes room: twice the gap, until spans have become one. */
static void join(struct spans *all)
{
    while (all->n == TG_CUDA_SPANS) {
        uint32_t last = 0;
        all->gap *= 2;
        for (uint32_t i = 1; i < all->n; i++)
            if (all->span[i].first - all->span[last].end <= all->gap)
                all->span[last].end = all->span[i].end;
            else
                all->span[++last] = all->span[i];
        all->n = last + 1;
    }
}

static void add(struct spans *all, uint64_t first, uint64_t end)
{
    struct tg_cuda_span *last = all->n > 0 ? &all->span[all->n - 1] : NULL;
    if (first >> 63 != 0 || end <= first || (last != NULL && first < last->end))
        return; /* the system's own pages, or no line of a list of mappings */
    if (last != NULL && first - last->end <= all->gap) {
        last->end = end;
        return;
    }
    join(all);
    all->span[all->n++] = (struct tg_cuda_span){first, end};
}

/* Reads the mappings of a process; none if the system does not show them. */
static void read_mappings(const char *path, uint64_t gap, struct spans *all)
{
    FILE *file = fopen(path, "re");
    char *line = NULL, *rest;
    size_t room = 0;
    all->n = 0;
    all->gap = gap;
    if (file == NULL)
        return;
    while (getline(&line, &room, file) > 0) {
        uint64_t first = strtoull(line, &rest, 16);
        if (*rest == '-')
            add(all, first, strtoull(rest + 1, NULL, 16));
    }
    free(line);
    fclose(file);
}

/* What cannot be reserved, because address space is limited or another thread was quicker, stays open. */
static void reserve(struct tg_cuda_kept *kept, uint64_t first, uint64_t end)
{
    void *wanted = (void *)(uintptr_t)first, *got;
    if (first >= end || kept->n == TG_CUDA_SPANS)
        return;
    got = mmap(wanted, end - first, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == MAP_FAILED)
        return;
    if (got != wanted) { /* Linux before 4.17 takes the address for a hint */
        munmap(got, end - first);
        return;
    }
    kept->span[kept->n++] = (struct tg_cuda_span){first, end};
}

/* Reserves what is free here of a span of the host's. */
static void reserve_free(struct tg_cuda_kept *kept, struct tg_cuda_span wanted,
                         const struct spans *own)
{
    for (uint32_t i = 0; i < own->n && own->span[i].first < wanted.end; i++) {
        reserve(kept, wanted.first, own->span[i].first - (own->span[i].first > BELOW ? BELOW : 0));
        if (wanted.first < own->span[i].end)
            wanted.first = own->span[i].end;
    }
    reserve(kept, wanted.first, wanted.end);
}

void tg_cuda_keep_clear(struct tg_cuda_kept *kept, int32_t host_pid)
{
    struct spans host, own;
    char path[64];
    kept->n = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", host_pid);
    read_mappings(path, 2 * MARGIN, &host);
    read_mappings("/proc/self/maps", GPU_PAGE, &own);
    for (uint32_t i = 0; i < host.n; i++) {
        struct tg_cuda_span wanted = host.span[i];
        wanted.first -= wanted.first > MARGIN ? MARGIN : 0;
        wanted.end += MARGIN;
        reserve_free(kept, wanted, &own);
    }
}

void tg_cuda_keep_no_more(struct tg_cuda_kept *kept)
{
    for (uint32_t i = 0; i < kept->n; i++)
        munmap((void *)(uintptr_t)kept->span[i].first, kept->span[i].end - kept->span[i].first);
    kept->n = 0;
}
