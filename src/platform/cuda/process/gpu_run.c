/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run is two launches on one stream. A thread waits for their end and tells the host. A kernel
 * that traps makes the CUDA context unusable: the process writes what it knows into shared memory
 * and ends.
 */
#define _GNU_SOURCE
#include "platform/cuda/process/gpu_process.h"
#include "platform/process/device/link.h"
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <taskglass/wire/orchestration.h>
#include <time.h>
#include <unistd.h>

/* Poll without sleeping for this long, so that the end of a short run is seen at once. */
#define EAGER_NS 2000000

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ── ending a run ──────────────────────────────────────────────────────────────────────── */

static struct tg_worker_status *status_of(const struct tg_cuda_device *d)
{
    return (struct tg_worker_status *)((char *)d->head + d->head->status);
}

/* The worker that failed. The driver does not say which block it was, so this is known only if
 * exactly one task was running. The parts of a mix count as one task; the orchestrator is the last
 * worker. */
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

/* Any thread may be the first to see the failure. Only a kernel's fault is blamed on a worker. */
static _Noreturn void die(struct tg_cuda_device *d, tg_status status, const char *text)
{
    struct tg_fault_record *fault = &d->head->fault;
    static int dying;
    if (__atomic_exchange_n(&dying, 1, __ATOMIC_ACQ_REL) != 0)
        for (;;)
            pause();
    snprintf(fault->text, sizeof fault->text, "%s", text);
    fault->signal = status == TG_KERNEL_FAULT ? 0 : status;
    fault->worker = UINT32_MAX;
    if (status == TG_KERNEL_FAULT)
        blame(d, fault);
    __atomic_store_n(&fault->valid, 1u, __ATOMIC_RELEASE);
    _exit(TG_PROCESS_EXIT_FAULT);
}

/* Turns a driver error into a status and a message. */
static tg_status explain(const struct tg_cuda_device *d, CUresult result, const char *what,
                         char *why, size_t size)
{
    unsigned blocks = d->head->n_lanes + d->n_schedulers + 1;
    char words[200];
    tg_cuda_explain(result, words, sizeof words);
    if (tg_cuda_is_fault(result)) {
        snprintf(why, size, "%s", words);
        return TG_KERNEL_FAULT;
    }
    if (result != CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE &&
        result != CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
        return tg_cuda_failed(result, what, why, size);
    snprintf(why, size, "%u blocks do not fit on the GPU at the same time; lower --cores", blocks);
    return TG_BAD_ARGUMENT;
}

void tg_cuda_die(struct tg_cuda_device *d, CUresult result)
{
    char why[200];
    tg_status status = explain(d, result, "finish the run", why, sizeof why);
    die(d, status, why);
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
    CUresult used = tg_cuda.context_use(d->context);
    for (;;) {
        CUresult result;
        pthread_mutex_lock(&d->lock);
        while (!d->running)
            pthread_cond_wait(&d->change, &d->lock);
        pthread_mutex_unlock(&d->lock);
        result = used == CUDA_SUCCESS ? wait_for_end(d) : used;
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

/* ── starting a run ────────────────────────────────────────────────────────────────────── */

/* The image that has this kernel; or, with n_kernels given, the image of exactly these kernels. */
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

/* With several modules, chooses that of the orchestration, or else that of the first task. */
static CUresult choose_image(const struct tg_cuda_device *d, const struct tg_launch *launch,
                             const struct tg_cuda_image **image)
{
    CUresult result = CUDA_SUCCESS;
    *image = d->images;
    if (d->images->next == NULL)
        return result;
    if (launch->orchestration != 0) {
        uint32_t which[2]; /* first_kernel, n_kernels */
        result = tg_cuda.copy_out(
            which, launch->orchestration + offsetof(struct tg_orchestration, first_kernel),
            sizeof which);
        if (result == CUDA_SUCCESS)
            *image = find_image(d, which[0], which[1]);
    } else {
        struct tg_task_desc first = {.kernel = {0, TG_NO_KERNEL, TG_NO_KERNEL}};
        uint32_t part = 0;
        if (launch->n_tasks > 0)
            result = tg_cuda.copy_out(&first, launch->desc, sizeof first);
        while (part + 1 < TG_PARTS && first.kernel[part] == TG_NO_KERNEL)
            part++;
        *image = find_image(d, first.kernel[part], UINT32_MAX);
    }
    return result;
}

static CUresult start(struct tg_cuda_device *d, uint64_t address, const struct tg_cuda_image *image)
{
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
    unsigned blocks = d->head->n_lanes + d->n_schedulers + 1;
    CUresult result = tg_cuda.launch(image->prepare, 1, 1, 1, TG_CUDA_PREPARE, 1, 1, 0, d->runner,
                                     arguments, NULL);
    if (result == CUDA_SUCCESS)
        result = tg_cuda.launch_cooperative(image->main, blocks, 1, 1, TG_CUDA_BLOCK, 1, 1,
                                            TG_CUDA_SHARED, d->runner, arguments);
    d->laid_out = true;
    return result;
}

/* Does everything that can fail before the run starts. */
static tg_status try_to_start(struct tg_cuda_device *d, uint64_t address, char *why, size_t size)
{
    struct tg_launch launch;
    const struct tg_cuda_image *image;
    bool orchestrates;
    tg_status status;
    CUresult result = tg_cuda.copy_out(&launch, address, sizeof launch);
    if (result == CUDA_SUCCESS)
        result = choose_image(d, &launch, &image);
    if (result != CUDA_SUCCESS)
        return explain(d, result, "read the launch", why, size);
    orchestrates = launch.orchestration != 0;
    if (orchestrates && image->orchestration == UINT32_MAX) {
        snprintf(why, size, "the image does not have the orchestration; do not declare it static");
        return TG_BAD_ARGUMENT;
    }
    status = tg_cuda_set_stack(d, orchestrates ? image->orchestration_stack : image->kernel_stack,
                               why, size);
    if (status != TG_OK)
        return status;
    result = start(d, address, image);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return tg_cuda_no_stack(d, d->stack, why, size);
    return result == CUDA_SUCCESS ? TG_OK : explain(d, result, "start the run", why, size);
}

void tg_cuda_run(struct tg_cuda_device *d, uint64_t address)
{
    char why[200];
    tg_status status;
    __atomic_store_n(&d->words->stop, 0u, __ATOMIC_RELAXED);
    __atomic_store_n(&d->words->phase, 0u, __ATOMIC_RELEASE);
    status = try_to_start(d, address, why, sizeof why);
    if (status != TG_OK)
        die(d, status, why);
    pthread_mutex_lock(&d->lock);
    d->running = true;
    pthread_cond_signal(&d->change);
    pthread_mutex_unlock(&d->lock);
}
