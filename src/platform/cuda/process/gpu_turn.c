/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel on the GPU: a run is rung for if a kernel of its image has stayed, and otherwise launched.
 * While a kernel is there, the driver does not do what it does only between kernels, such as loading a
 * module, so the kernel is sent away first.
 */
#include "platform/cuda/bell.h"
#include "platform/cuda/process/gpu_process.h"
#include <sched.h>

/* Waits until no kernel is on the GPU, which takes some microseconds: one that waits for a run leaves at once. */
static CUresult wait_for_stream(struct tg_cuda_device *d)
{
    CUresult result;
    while ((result = tg_cuda.stream_query(d->runner)) == CUDA_ERROR_NOT_READY)
        sched_yield();
    return result;
}

/* The caller holds the lock, and no run is under way. */
static CUresult end_kernel(struct tg_cuda_device *d)
{
    CUresult result = CUDA_SUCCESS;
    if (d->turn.image == NULL)
        return result;
    tg_bell_dismiss(d->words);
    result = wait_for_stream(d);
    if (result == CUDA_SUCCESS)
        d->turn.image = NULL;
    return result;
}

void tg_cuda_send_away(struct tg_cuda_device *d)
{
    pthread_mutex_lock(&d->turn.lock);
    if (d->turn.running)
        tg_bell_dismiss(d->words);
    else
        (void)end_kernel(
            d); /* the driver remembers a lost GPU, and whatever comes next reports it */
    pthread_mutex_unlock(&d->turn.lock);
}

static CUresult launch(struct tg_cuda_device *d, const struct tg_cuda_image *image)
{
    struct tg_cuda_launch l = {
        .engine = d->engine,
        .status = (uint64_t)(uintptr_t)d->head + d->head->status,
        .words = (uint64_t)(uintptr_t)d->words,
        .calls = (uint64_t)(uintptr_t)d->calls,
        .feed = (uint64_t)(uintptr_t)d->feed,
        .launch = d->turn.launch,
        .table = image->table,
        .number = image->number,
        .site = image->site,
        .n_kernels = image->workload->n_kernels,
        .first_kernel = image->first,
        .orchestration = image->orchestration,
        .n_cores = d->n_cores,
        .n_schedulers = d->n_schedulers,
        .is_new = !d->laid_out,
        .call = tg_bell_call(d->turn.run),
        .linger_ns = d->linger_ns,
    };
    void *arguments[] = {&l};
    unsigned blocks = d->head->n_lanes + d->n_schedulers + 1;
    CUresult result;
    tg_bell_hang(d->words, d->turn.run);
    tg_bell_ring(d->words, d->turn.run, d->turn.launch);
    result = tg_cuda.launch_cooperative(image->main, blocks, 1, 1, TG_CUDA_BLOCK, 1, 1,
                                        TG_CUDA_SHARED, d->runner, arguments);
    d->laid_out |= result == CUDA_SUCCESS;
    d->turn.image = result == CUDA_SUCCESS ? image : NULL;
    return result;
}

CUresult tg_cuda_turn_start(struct tg_cuda_device *d, const struct tg_cuda_image *image)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&d->turn.lock);
    d->turn.lingered = d->linger_ns > 0 && d->turn.image == image && !tg_bell_is_gone(d->words);
    if (d->turn.lingered)
        tg_bell_ring(d->words, d->turn.run, d->turn.launch);
    else
        result = end_kernel(d);
    if (result == CUDA_SUCCESS && !d->turn.lingered)
        result = launch(d, image);
    d->turn.running = result == CUDA_SUCCESS;
    pthread_mutex_unlock(&d->turn.lock);
    return result;
}
