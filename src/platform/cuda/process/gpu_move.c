/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies bytes between the GPU's memory and shared memory. The GPU's copy engines do this while a
 * kernel runs. A separate thread answers the host's requests, one at a time.
 */
#define _GNU_SOURCE
#include "platform/cuda/process/gpu_process.h"
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static bool in_shared(const struct tg_cuda_device *d, uint64_t place, uint64_t size)
{
    return place <= d->shared_size && size <= d->shared_size - place;
}

/* ── pinning ───────────────────────────────────────────────────────────────────────────── */

/* Memory that several threads have the system provide, a slice at a time. */
struct provision {
    char *start;
    uint64_t size;
    uint64_t next; /* atomic: where the first slice begins that nobody has taken */
};

enum { SLICE = 4 << 20, WORTH_A_THREAD = 16 << 20, MOST_THREADS = 8 };

static void *provide_slices(void *argument)
{
    struct provision *p = argument;
    uint64_t at;
    /* A system that does not know this advice lets the driver touch the pages. */
    while ((at = __atomic_fetch_add(&p->next, (uint64_t)SLICE, __ATOMIC_RELAXED)) < p->size)
        if (madvise(p->start + at, p->size - at < SLICE ? p->size - at : SLICE,
                    MADV_POPULATE_WRITE) != 0)
            break;
    return NULL;
}

/* Has the system provide the pages before the driver locks them: most of what it costs to register new
 * memory is to clear its pages, which the driver would do by one thread. */
static void provide(char *start, uint64_t size)
{
    struct provision p = {.start = start, .size = size};
    pthread_t thread[MOST_THREADS];
    cpu_set_t set;
    uint64_t wanted = size / WORTH_A_THREAD, n = 0;
    uint64_t cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? (uint64_t)CPU_COUNT(&set) : 1;
    wanted = wanted < cpus ? wanted : cpus;
    wanted = wanted < MOST_THREADS ? wanted : MOST_THREADS;
    while (n + 1 < wanted && pthread_create(&thread[n], NULL, provide_slices, &p) == 0)
        n++;
    provide_slices(&p);
    while (n > 0)
        pthread_join(thread[--n], NULL);
}

static CUresult pin(char *start, uint64_t size)
{
    provide(start, size);
    return tg_cuda.host_register(start, size,
                                 CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
}

/* ── requests ──────────────────────────────────────────────────────────────────────────── */

static CUresult wait_for_mover(struct tg_cuda_device *d, CUresult result)
{
    return result == CUDA_SUCCESS ? tg_cuda.stream_wait(d->mover) : result;
}

static CUresult obey(struct tg_cuda_device *d, const struct tg_process_message *m)
{
    uint64_t place = m->type == TG_PROCESS_PIN || m->type == TG_PROCESS_UNPIN
                         ? m->address - (uint64_t)(uintptr_t)d->shared
                         : m->place;
    char *shared = d->shared + place;
    if (!in_shared(d, place, m->size))
        return CUDA_ERROR_INVALID_VALUE;
    switch (m->type) {
    case TG_PROCESS_PIN: /* the driver may wait until no kernel runs */
        tg_cuda_send_away(d);
        return pin(shared, m->size);
    case TG_PROCESS_UNPIN:
        tg_cuda_send_away(d);
        return tg_cuda.host_unregister(shared);
    case TG_PROCESS_COPY_IN:
        return wait_for_mover(d, tg_cuda.copy_in_async(m->address, shared, m->size, d->mover));
    case TG_PROCESS_COPY_OUT:
        return wait_for_mover(d, tg_cuda.copy_out_async(shared, m->address, m->size, d->mover));
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static const char *name_of(uint32_t type)
{
    return type == TG_PROCESS_PIN        ? "pin memory for the GPU"
           : type == TG_PROCESS_UNPIN    ? "unpin memory"
           : type == TG_PROCESS_COPY_IN  ? "copy to the GPU"
           : type == TG_PROCESS_COPY_OUT ? "copy from the GPU"
                                         : "answer an unknown request";
}

/* Serves each request whether or not earlier ones failed: the driver itself remembers a lost
 * GPU. */
static void *serve(void *argument)
{
    struct tg_cuda_device *d = argument;
    struct tg_process_message message;
    CUresult used = tg_cuda.context_use(d->context);
    while (tg_process_receive(TG_PROCESS_MOVER_FD, &message, 0) == 1) {
        CUresult result = used == CUDA_SUCCESS ? obey(d, &message) : used;
        /* The driver may report an earlier kernel's fault only with this request. */
        if (tg_cuda_is_fault(result))
            tg_cuda_die(d, result);
        message.status = TG_OK;
        message.text[0] = '\0';
        if (result != CUDA_SUCCESS)
            message.status =
                tg_cuda_failed(result, name_of(message.type), message.text, sizeof message.text);
        message.type = TG_PROCESS_MOVED;
        if (tg_process_send(TG_PROCESS_MOVER_FD, &message) != 0)
            break;
    }
    return NULL; /* the main thread notices that the host has ended */
}

bool tg_cuda_start_mover(struct tg_cuda_device *d)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, serve, d) != 0)
        return false;
    pthread_detach(thread);
    return true;
}
