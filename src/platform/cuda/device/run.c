/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run: two launches on one stream, and a thread that waits for their end and tells the host. A
 * kernel that traps takes the context with it: the process says what it knows in memory that the
 * host shares, and ends.
 */
#define _GNU_SOURCE
#include "platform/cuda/device/device.h"
#include "platform/sim/device/link.h"
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <taskglass/wire/orchestration.h>
#include <time.h>
#include <unistd.h>

/* For so long the end is looked for without a pause, so that it is seen at once. */
#define EAGER_NS 2000000

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ── the end ───────────────────────────────────────────────────────────────────────────── */

static struct tg_worker_status *status_of(const struct tg_cuda_device *d)
{
    return (struct tg_worker_status *)((char *)d->head + d->head->status);
}

/* The driver does not say which block it was: it was the one that was busy, if there was but one. The
 * parts of a mix count as one; the orchestrator is the last worker. */
static uint32_t suspect(const struct tg_cuda_device *d)
{
    const struct tg_worker_status *status = status_of(d);
    uint32_t orchestrator = d->head->n_lanes + d->n_schedulers, found = UINT32_MAX;
    for (uint32_t i = 0; i <= orchestrator; i++) {
        if (status[i].running == 0)
            continue;
        if (found != UINT32_MAX &&
            (i == orchestrator || status[found].running != status[i].running))
            return UINT32_MAX;
        found = found == UINT32_MAX ? i : found;
    }
    return found;
}

static void blame(const struct tg_cuda_device *d, struct tg_fault_record *fault)
{
    fault->worker = suspect(d);
    if (fault->worker == UINT32_MAX)
        return;
    fault->running = status_of(d)[fault->worker].running;
    fault->part = status_of(d)[fault->worker].part;
}

bool tg_cuda_is_fault(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
        return true;
    default:
        return false;
    }
}

/* Any thread may be the first to hear of it. */
static _Noreturn void die(struct tg_cuda_device *d, const char *text)
{
    struct tg_fault_record *fault = &d->head->fault;
    static int dying;
    if (__atomic_exchange_n(&dying, 1, __ATOMIC_ACQ_REL) != 0)
        for (;;)
            pause();
    snprintf(fault->text, sizeof fault->text, "%s", text);
    fault->signal = 0;
    blame(d, fault);
    __atomic_store_n(&fault->valid, 1u, __ATOMIC_RELEASE);
    _exit(TG_SIM_EXIT_FAULT);
}

void tg_cuda_die(struct tg_cuda_device *d, CUresult result)
{
    char text[200];
    tg_cuda_explain(result, text, sizeof text);
    die(d, text);
}

static CUresult wait_for_end(struct tg_cuda_device *d)
{
    uint64_t began = now();
    CUresult result;
    while ((result = tg_cuda.stream_query(d->runner)) == CUDA_ERROR_NOT_READY) {
        if (now() - began < EAGER_NS)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
    return result;
}

static void *wait_for_runs(void *argument)
{
    struct tg_cuda_device *d = argument;
    if (tg_cuda.context_use(d->context) != CUDA_SUCCESS)
        abort();
    for (;;) {
        CUresult result;
        pthread_mutex_lock(&d->lock);
        while (!d->running)
            pthread_cond_wait(&d->change, &d->lock);
        pthread_mutex_unlock(&d->lock);
        result = wait_for_end(d);
        if (result != CUDA_SUCCESS)
            tg_cuda_die(d, result);
        pthread_mutex_lock(&d->lock);
        d->running = false;
        pthread_mutex_unlock(&d->lock);
        tg_link_done(__atomic_load_n(&d->words->phase, __ATOMIC_ACQUIRE) == 2);
    }
    return NULL;
}

bool tg_cuda_start_runner(struct tg_cuda_device *d)
{
    pthread_t thread;
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->change, NULL);
    if (pthread_create(&thread, NULL, wait_for_runs, d) != 0)
        return false;
    pthread_detach(thread);
    return true;
}

/* ── the start ─────────────────────────────────────────────────────────────────────────── */

/* The image whose kernels the launch uses, and whose orchestration. */
static const struct tg_cuda_image *find_image(const struct tg_cuda_device *d, uint32_t kernel,
                                              uint32_t n_kernels)
{
    for (const struct tg_cuda_image *i = d->images; i != NULL; i = i->next)
        if (n_kernels == UINT32_MAX
                ? kernel >= i->first && kernel < i->first + i->workload->n_kernels
                : kernel == i->first && n_kernels == i->workload->n_kernels)
            return i;
    return d->images;
}

static CUresult set_stack(struct tg_cuda_device *d, size_t bytes)
{
    if (d->stack >= bytes)
        return CUDA_SUCCESS;
    d->stack = bytes;
    return tg_cuda.context_limit(CU_LIMIT_STACK_SIZE, bytes);
}

static CUresult start(struct tg_cuda_device *d, uint64_t address, const struct tg_launch *launch,
                      const struct tg_cuda_image *image)
{
    bool orchestrates = launch->runtime != TG_RUNTIME_HOST_BUILD_GRAPH;
    struct tg_cuda_launch l = {
        .engine = d->engine,
        .status = (uint64_t)(uintptr_t)d->head + d->head->status,
        .words = (uint64_t)(uintptr_t)d->words,
        .launch = address,
        .table = image->table,
        .number = image->number,
        .site = image->site,
        .n_kernels = image->workload->n_kernels,
        .first_kernel = image->first,
        .orchestration = image->orchestration,
        .n_cores = d->n_cores,
        .n_schedulers = d->n_schedulers,
        .is_new = !d->laid_out,
    };
    void *arguments[] = {&l};
    d->laid_out = true;
    unsigned blocks = d->head->n_lanes + d->n_schedulers + 1;
    CUresult result = set_stack(d, orchestrates ? image->orchestration_stack : image->kernel_stack);
    if (result == CUDA_SUCCESS)
        result = tg_cuda.launch(image->prepare, 1, 1, 1, TG_CUDA_PREPARE, 1, 1, 0, d->runner,
                                arguments, NULL);
    if (result == CUDA_SUCCESS)
        result = tg_cuda.launch_cooperative(image->main, blocks, 1, 1, TG_CUDA_BLOCK, 1, 1,
                                            TG_CUDA_SHARED, d->runner, arguments);
    return result;
}

void tg_cuda_run(struct tg_cuda_device *d, uint64_t address)
{
    struct tg_launch launch;
    const struct tg_cuda_image *image = NULL;
    CUresult result;
    __atomic_store_n(&d->words->stop, 0u, __ATOMIC_RELAXED);
    __atomic_store_n(&d->words->phase, 0u, __ATOMIC_RELEASE);
    result = tg_cuda.copy_out(&launch, address, sizeof launch);
    if (result == CUDA_SUCCESS && d->images->next == NULL) {
        image = d->images;
    } else if (result == CUDA_SUCCESS && launch.orchestration != 0) {
        uint32_t which[2]; /* first_kernel, n_kernels */
        result = tg_cuda.copy_out(
            which, launch.orchestration + offsetof(struct tg_orchestration, first_kernel),
            sizeof which);
        image = find_image(d, which[0], which[1]);
    } else if (result == CUDA_SUCCESS) {
        struct tg_task_desc first = {.kernel = {0, TG_NO_KERNEL, TG_NO_KERNEL}};
        uint32_t part = 0;
        if (launch.n_tasks > 0)
            result = tg_cuda.copy_out(&first, launch.desc, sizeof first);
        while (part + 1 < TG_PARTS && first.kernel[part] == TG_NO_KERNEL)
            part++;
        image = find_image(d, first.kernel[part], UINT32_MAX);
    }
    if (result == CUDA_SUCCESS && launch.runtime != TG_RUNTIME_HOST_BUILD_GRAPH &&
        image->orchestration == UINT32_MAX)
        die(d, "the image does not have the orchestration: is it static?");
    if (result == CUDA_SUCCESS)
        result = start(d, address, &launch, image);
    if (result != CUDA_SUCCESS)
        tg_cuda_die(d, result);
    pthread_mutex_lock(&d->lock);
    d->running = true;
    pthread_cond_signal(&d->change);
    pthread_mutex_unlock(&d->lock);
}
