/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs, from the host's message to the message that they are over. The main thread looks at words that the
 * kernel writes, because a kernel that stays does not end with its run, and at the driver, because a kernel
 * that traps writes no word. It makes the CUDA context unusable: the process then writes what it knows into
 * shared memory and ends.
 */
#define _GNU_SOURCE
#include "platform/cuda/bell.h"
#include "platform/cuda/process/gpu_process.h"
#include "platform/process/device/link.h"
#include <sched.h>
#include <stdio.h>
#include <taskglass/wire/orchestration.h>
#include <time.h>
#include <unistd.h>

/* Look without sleeping for this long, so that the end of a short run is seen at once, and the next run that
 * comes soon after it. */
#define EAGER_NS 10000000
/* Between looks after that, and how many looks come before one at the driver, which costs more. */
enum { NAP_NS = 20000, LOOKS_PER_QUERY = 16 };

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

/* What the last worker wrote came before the driver knew of a stray store of the same run. */
static void finish(struct tg_cuda_device *d, bool stopped)
{
    CUresult result = tg_cuda.stream_query(d->runner);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY)
        tg_cuda_die(d, result);
    pthread_mutex_lock(&d->turn.lock);
    d->turn.running = false;
    pthread_mutex_unlock(&d->turn.lock);
    d->turn.since = now();
    tg_cuda_calls_end(d);
    tg_link_done_begun(stopped, d->turn.began, d->turn.lingered);
}

/* The kernel left before it heard of the run. */
static void start_again(struct tg_cuda_device *d)
{
    CUresult result = tg_cuda_turn_start(d, d->turn.image);
    if (result != CUDA_SUCCESS)
        tg_cuda_die(d, result);
}

/* The words come first: a kernel that has just ended has written all of them. */
static void query(struct tg_cuda_device *d)
{
    CUresult result = tg_cuda.stream_query(d->runner);
    if (result == CUDA_SUCCESS) {
        enum tg_bell_news news = tg_bell_ask(d->words, d->turn.run);
        if (news == TG_BELL_RINGS || news == TG_BELL_RUNS)
            result = CUDA_ERROR_UNKNOWN; /* it has ended in no way that there is */
    }
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY)
        tg_cuda_die(d, result);
}

void tg_cuda_look(struct tg_cuda_device *d)
{
    enum tg_bell_news news;
    if (!d->turn.running)
        return;
    news = tg_bell_ask(d->words, d->turn.run);
    if (news != TG_BELL_RINGS && news != TG_BELL_MISSED && d->turn.began == 0)
        d->turn.began = now();
    if (news == TG_BELL_MISSED)
        start_again(d);
    else if ((news == TG_BELL_OVER || news == TG_BELL_STOPPED) && tg_cuda_beside_has_ended(d))
        finish(d, news == TG_BELL_STOPPED);
    else if (++d->turn.looks % LOOKS_PER_QUERY == 0 || tg_cuda_patience(d) > 0)
        query(d);
}

uint64_t tg_cuda_patience(const struct tg_cuda_device *d)
{
    uint64_t passed = now() - d->turn.since;
    if (d->turn.running)
        return passed < EAGER_NS ? 0 : NAP_NS;
    return passed < EAGER_NS && passed < d->linger_ns ? 0 : UINT64_MAX;
}

/* ── starting a run ────────────────────────────────────────────────────────────────────── */

/* The image of exactly these kernels. */
static const struct tg_cuda_image *find_image(const struct tg_cuda_device *d, uint32_t first,
                                              uint32_t n_kernels)
{
    for (const struct tg_cuda_image *i = d->images; i != NULL; i = i->next)
        if (i->first == first && i->workload->n_kernels == n_kernels)
            return i;
    return NULL;
}

/* Does everything that can fail before the run starts. */
static tg_status try_to_start(struct tg_cuda_device *d, const struct tg_process_message *m,
                              char *why, size_t size)
{
    const struct tg_cuda_image *image = find_image(d, m->first, m->kernels);
    tg_status status;
    CUresult result = CUDA_SUCCESS;
    if (image == NULL) {
        snprintf(why, size, "the run is of a module that is not loaded");
        return TG_BAD_ARGUMENT;
    }
    if (m->is_built && image->orchestration == UINT32_MAX) {
        snprintf(why, size, "the image does not have the orchestration; do not declare it static");
        return TG_BAD_ARGUMENT;
    }
    result = tg_cuda_calls_begin(d, m->comm, m->count);
    if (result != CUDA_SUCCESS)
        return explain(d, result, "read how the run communicates", why, size);
    status = tg_cuda_set_stack(d, m->is_built ? image->orchestration_stack : image->kernel_stack,
                               why, size);
    if (status == TG_OK && m->is_beside)
        status = tg_cuda_beside_start(d, m->address, image->workload, why, size);
    if (status != TG_OK)
        return status;
    result = tg_cuda_turn_start(d, image);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return tg_cuda_no_stack(d, d->stack, why, size);
    return result == CUDA_SUCCESS ? TG_OK : explain(d, result, "start the run", why, size);
}

void tg_cuda_run(struct tg_cuda_device *d, const struct tg_process_message *launch)
{
    char why[200];
    tg_status status;
    tg_bell_allow(d->words);
    d->turn.launch = launch->address;
    d->turn.run = launch->count;
    d->turn.began = 0;
    d->turn.since = now();
    status = try_to_start(d, launch, why, sizeof why);
    if (status != TG_OK)
        die(d, status, why);
}
