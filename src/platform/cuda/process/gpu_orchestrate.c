/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An orchestrator beside the GPU: a thread of this process, on the host's CPU, runs the orchestration of
 * the module's shared object with the code of src/orchestrate, and feeds the GPU through a ring
 * (device/feed.h). On NPUs the AICPUs do this.
 *
 *   memory of this process              shared memory                       the GPU's memory
 *   descriptors, arguments and the      struct tg_orchestration, sites,     what cores look at:
 *   tensor map: books                   notes, places, streams, done words  drained from the ring
 *
 * The thread counts as the device's: if it crashes, the process ends and leaves a record, as a simulated
 * device does; if it hangs, the host kills the process.
 */
#define _GNU_SOURCE
#include "device/comm.h"
#include "device/orchestrator_hook.h"
#include "device/target.h"
#include "orchestrate/feed.h"
#include "platform/cuda/process/gpu_process.h"
#include "platform/process/device/fault.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <taskglass/wire/comm.h>
#include <taskglass/wire/orchestration.h>
#include <taskglass/wire/record.h>
#include <taskglass/wire/stream.h>

/* How long it looks for what it waits for before it naps: most answers take some microseconds. */
enum { SPINS = 2000, YIELDS = 100 };

/* Memory that only grows. The system provides pages when they are touched first. */
struct piece {
    char *at;
    size_t size;
};

enum what {
    DESCRIPTORS,
    ARGUMENTS,
    BLOCKS,
    NAMED,
    EDGES,
    CALL_NOTES,
    CALL_COUNTS,
    FILTERS,
    REGIONS,
    READERS,
    BUCKETS,
    PIECES
};

struct tg_beside {
    struct tg_engine *engine; /* of the orchestrator alone: no core ever sees it */
    struct tg_feed feed;
    struct tg_record_setup record, log;
    struct tg_comm_setup comm;
    struct piece piece[PIECES];
    bool tells_time; /* the run's logs have times, which must be the GPU's */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool busy; /* the orchestration runs */
};

/* ── memory ────────────────────────────────────────────────────────────────────────────── */

static uint64_t piece_of(struct tg_beside *b, enum what what, uint64_t size, bool *good)
{
    struct piece *p = &b->piece[what];
    if (p->size < size) {
        if (p->at != NULL)
            munmap(p->at, p->size);
        p->at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        *good &= p->at != MAP_FAILED;
        p->size = p->at != MAP_FAILED ? size : 0;
        p->at = p->at != MAP_FAILED ? p->at : NULL;
    }
    return (uint64_t)(uintptr_t)p->at;
}

static bool get_books(struct tg_beside *b, const struct tg_launch *launch,
                      struct tg_orchestration *o)
{
    uint64_t slots = launch->n_tasks, deps = 0;
    bool good = true;
    struct tg_engine *e = b->engine;
    for (uint32_t r = 0; r < o->n_rings && r < TG_RINGS; r++)
        deps = o->ring[r].n_deps > deps ? o->ring[r].n_deps : deps;
    e->desc = TG_DEVICE_PTR(struct tg_task_desc,
                            piece_of(b, DESCRIPTORS, slots * sizeof *e->desc, &good));
    e->payload = TG_DEVICE_PTR(
        const char, piece_of(b, ARGUMENTS, (uint64_t)o->n_args_blocks * TG_ARGS_BLOCK, &good));
    o->args_blocks = piece_of(b, BLOCKS, o->n_args_blocks * sizeof(struct tg_args_block), &good);
    b->feed.named =
        TG_DEVICE_PTR(uint64_t, piece_of(b, NAMED, slots * sizeof *b->feed.named, &good));
    b->feed.edge =
        TG_DEVICE_PTR(struct tg_feed_edge, piece_of(b, EDGES, deps * sizeof *b->feed.edge, &good));
    if (o->map_regions == 0)
        return good;
    o->map_regions = piece_of(b, REGIONS, o->map_size * sizeof(struct tg_map_region), &good);
    o->map_readers = piece_of(b, READERS, o->map_size * sizeof(struct tg_map_reader), &good);
    o->map_buckets = piece_of(b, BUCKETS, o->n_buckets * sizeof(uint32_t), &good);
    return good;
}

/* ── what the host has laid out in the GPU's memory ────────────────────────────────────── */

/* The filters of all kernels that a task of this run can have, calls of communication included. */
static CUresult copy_record(struct tg_beside *b, const struct tg_orchestration *o, uint64_t at,
                            bool *good)
{
    uint64_t n_kernels = (uint64_t)o->first_kernel + o->n_kernels;
    CUresult result;
    b->engine->record = NULL;
    if (at == 0)
        return CUDA_SUCCESS;
    result = tg_cuda.copy_out(&b->record, at, sizeof b->record);
    if (result == CUDA_SUCCESS && n_kernels > 0) {
        uint64_t filters = piece_of(b, FILTERS, n_kernels, good);
        if (*good)
            result =
                tg_cuda.copy_out(TG_DEVICE_PTR(void, filters), b->record.kernel_filters, n_kernels);
        b->record.kernel_filters = filters;
    }
    b->engine->record = &b->record;
    return result;
}

static CUresult copy_log(struct tg_beside *b, struct tg_orchestration *o)
{
    CUresult result = CUDA_SUCCESS;
    if (o->logs != 0 && o->log != 0 && o->log != (uint64_t)(uintptr_t)&b->log)
        result = tg_cuda.copy_out(&b->log, o->log, sizeof b->log);
    o->log = (uint64_t)(uintptr_t)&b->log;
    return result;
}

static CUresult copy_comm(struct tg_beside *b, const struct tg_launch *launch, bool *good)
{
    CUresult result;
    b->engine->comm = NULL;
    b->engine->comm_note = NULL;
    if (launch->comm == 0)
        return CUDA_SUCCESS;
    result = tg_cuda.copy_out(&b->comm, launch->comm, sizeof b->comm);
    b->comm.notes = piece_of(b, CALL_NOTES, launch->n_tasks * sizeof(struct tg_comm_note), good);
    if (b->comm.counts != 0)
        b->comm.counts =
            piece_of(b, CALL_COUNTS, TG_COMM_COUNTS * sizeof(struct tg_comm_count), good);
    b->engine->comm = &b->comm;
    b->engine->comm_note = TG_DEVICE_PTR(struct tg_comm_note, b->comm.notes);
    b->engine->n_slots = launch->n_tasks;
    return result;
}

/* ── the thread ────────────────────────────────────────────────────────────────────────── */

/* The GPU's clock is behind its answer, so what is told with it never seems later than it was. */
static void set_clock(struct tg_engine *e)
{
    uint64_t ahead = 0;
    tg_target_clock_ahead = 0;
    for (int i = 0; i < 3; i++) {
        uint64_t there, by;
        if (!tg_feed_clock(e, &there))
            return;
        by = there - tg_target_now();
        ahead = i == 0 || (int64_t)(by - ahead) > 0 ? by : ahead;
    }
    tg_target_clock_ahead = ahead;
}

static void *orchestrate(void *argument)
{
    struct tg_beside *b = argument;
    pthread_setname_np(pthread_self(), "tg-orchestrate");
    (void)prctl(PR_SET_TIMERSLACK, 1UL); /* as short naps as the system has */
    (void)tg_fault_watch_thread(b->engine, tg_engine_orchestrator(b->engine));
    for (;;) {
        pthread_mutex_lock(&b->lock);
        while (!b->busy)
            pthread_cond_wait(&b->change, &b->lock);
        pthread_mutex_unlock(&b->lock);
        if (b->tells_time)
            set_clock(b->engine);
        tg_orchestrator_run(b->engine->orchestrator);
        pthread_mutex_lock(&b->lock);
        __atomic_store_n(&b->busy, false,
                         __ATOMIC_RELEASE); /* the main thread looks without the lock */
        pthread_mutex_unlock(&b->lock);
    }
    return NULL;
}

static uint32_t usable_cpus(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

static struct tg_beside *open_beside(struct tg_cuda_device *d)
{
    struct tg_beside *b = calloc(1, sizeof *b);
    uint64_t size = tg_engine_size(d->head->n_lanes / TG_PARTS, d->n_schedulers);
    void *memory = aligned_alloc(TG_LINE, (size + TG_LINE - 1) / TG_LINE * TG_LINE);
    if (b == NULL || memory == NULL) {
        free(b);
        free(memory);
        return NULL;
    }
    memset(memory, 0, size);
    b->engine = tg_engine_init(memory, d->n_cores, d->n_schedulers,
                               (struct tg_worker_status *)((char *)d->head + d->head->status));
    b->engine->n_cpus = 0; /* patience stays as it is set here */
    b->engine->patience.spin = usable_cpus() > 1 ? SPINS : 0;
    b->engine->patience.yields = YIELDS;
    b->feed.ring = d->feed;
    b->feed.stop = &d->words->stop;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->change, NULL);
    tg_fault_install(d->head, false);
    if (pthread_create(&b->thread, NULL, orchestrate, b) != 0) {
        free(memory);
        free(b);
        return NULL;
    }
    pthread_detach(b->thread);
    return b;
}

/* ── a run ─────────────────────────────────────────────────────────────────────────────── */

/* The part of the engine that an orchestrator uses. */
static void reset(struct tg_beside *b, const struct tg_launch *launch)
{
    struct tg_engine *e = b->engine;
    struct tg_worker *w = &e->worker[tg_engine_orchestrator(e)];
    e->edges = TG_EDGES_GROWING;
    e->orchestrates = true;
    e->done_words = TG_DEVICE_PTR(uint32_t, launch->done_words);
    e->feed = &b->feed;
    e->awaited = TG_NO_TASK;
    w->mail = 0;
    w->park = TG_AWAKE;
    tg_feed_init(&b->feed);
    tg_store_relaxed_host(&b->feed.ring->taken, b->feed.head);
    tg_store_relaxed_host(&b->feed.ring->head, b->feed.head);
    tg_store_relaxed_host(&b->feed.ring->over, (uint64_t)0);
    tg_store_release(&e->phase, (uint32_t)TG_RUNNING);
}

static bool is_shared(const struct tg_cuda_device *d, uint64_t address, uint64_t size)
{
    uint64_t start = (uint64_t)(uintptr_t)d->shared;
    return address >= start && address - start <= d->shared_size &&
           size <= d->shared_size - (address - start);
}

static tg_status lay_out(struct tg_beside *b, const struct tg_launch *launch, char *why,
                         size_t size)
{
    struct tg_orchestration *o = TG_DEVICE_PTR(struct tg_orchestration, launch->orchestration);
    bool good = get_books(b, launch, o);
    CUresult result = copy_record(b, o, launch->record, &good);
    if (result == CUDA_SUCCESS)
        result = copy_log(b, o);
    if (result == CUDA_SUCCESS)
        result = copy_comm(b, launch, &good);
    if (result != CUDA_SUCCESS)
        return tg_cuda_failed(result, "read what the orchestrator needs", why, size);
    if (!good)
        snprintf(why, size, "out of host memory for the orchestrator; lower --ring-task-window");
    return good ? TG_OK : TG_NO_MEMORY;
}

static tg_status prepare(struct tg_cuda_device *d, const struct tg_launch *launch,
                         const struct tg_workload *workload, char *why, size_t size)
{
    struct tg_orchestration *o = TG_DEVICE_PTR(struct tg_orchestration, launch->orchestration);
    struct tg_beside *b;
    tg_status status;
    if (!is_shared(d, launch->orchestration, sizeof *o) ||
        !is_shared(d, launch->done_words, launch->n_tasks * sizeof(uint32_t))) {
        snprintf(why, size, "an orchestration outside of shared memory");
        return TG_BAD_ARGUMENT;
    }
    if (d->beside == NULL)
        d->beside = open_beside(d);
    b = d->beside;
    if (b == NULL) {
        snprintf(why, size, "cannot start the orchestrator");
        return TG_NO_MEMORY;
    }
    status = lay_out(b, launch, why, size);
    if (status != TG_OK)
        return status;
    reset(b, launch);
    b->tells_time = o->logs != 0 || launch->record != 0;
    tg_orchestrator_prepare(b->engine->orchestrator, b->engine, o, workload->orchestrate,
                            workload->orchestrate_site ? workload->orchestrate_site
                                                       : workload->name);
    return TG_OK;
}

tg_status tg_cuda_beside_start(struct tg_cuda_device *d, uint64_t address,
                               const struct tg_workload *workload, char *why, size_t size)
{
    struct tg_launch launch;
    tg_status status;
    CUresult result = tg_cuda.copy_out(&launch, address, sizeof launch);
    if (result != CUDA_SUCCESS)
        return tg_cuda_failed(result, "read the launch", why, size);
    status = prepare(d, &launch, workload, why, size);
    if (status != TG_OK)
        return status;
    pthread_mutex_lock(&d->beside->lock);
    d->beside->busy = true;
    pthread_cond_broadcast(&d->beside->change);
    pthread_mutex_unlock(&d->beside->lock);
    return TG_OK;
}

void tg_cuda_beside_stop(struct tg_cuda_device *d)
{
    if (d->beside != NULL)
        tg_engine_stop(d->beside->engine);
}

void tg_cuda_beside_locate(const struct tg_cuda_device *d)
{
    if (d->beside != NULL && __atomic_load_n(&d->beside->busy, __ATOMIC_ACQUIRE))
        tg_fault_locate(d->beside->thread);
}

/* The draining threads are the last to leave, and the next run begins where they leave the ring. */
bool tg_cuda_beside_has_ended(const struct tg_cuda_device *d)
{
    struct tg_beside *b = d->beside;
    return b == NULL || (!__atomic_load_n(&b->busy, __ATOMIC_ACQUIRE) &&
                         tg_load_acquire_host(&b->feed.ring->over) != 0);
}

/* No core runs in this process. */
void tg_target_post(struct tg_engine *e, const struct tg_comm_post *post)
{
    (void)e;
    (void)post;
    abort();
}
