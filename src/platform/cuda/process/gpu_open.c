/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a GPU: chooses it, its cores and memory, and lays out the memory shared with the host. */
#include "device/engine.h"
#include "platform/cuda/process/gpu_place.h"
#include "platform/cuda/process/gpu_process.h"
#include "platform/process/device/link.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct tg_control_head) + TG_MAX_WORKERS * sizeof(struct tg_worker_status) <=
                   TG_CUDA_WORDS,
               "the status of all workers fits");

tg_status tg_cuda_failed(CUresult result, const char *what, char *why, size_t size)
{
    char text[200];
    tg_cuda_explain(result, text, sizeof text);
    snprintf(why, size, "cannot %s: %s%s", what, text,
             result == CUDA_ERROR_OUT_OF_MEMORY ? "; lower --device-memory" : "");
    return result == CUDA_ERROR_OUT_OF_MEMORY ? TG_NO_MEMORY
           : result == CUDA_ERROR_NO_DEVICE   ? TG_UNSUPPORTED
                                              : TG_DEVICE_LOST;
}

static int attribute(const struct tg_cuda_device *d, CUdevice_attribute which, CUresult *result)
{
    int value = 0;
    if (*result == CUDA_SUCCESS)
        *result = tg_cuda.device_attribute(&value, which, d->gpu);
    return value;
}

/* Checks that the GPU has the features that a run needs. */
static tg_status check_abilities(struct tg_cuda_device *d, char *why, size_t size)
{
    CUresult result = CUDA_SUCCESS, unknown = CUDA_SUCCESS;
    int major = attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &result);
    int minor = attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &result);
    int cooperates = attribute(d, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, &result);
    int shares = attribute(d, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, &result);
    d->multiprocessors = attribute(d, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &result);
    d->threads = attribute(d, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &unknown);
    d->threads = d->threads > 0 ? d->threads : 2048; /* as most GPUs; only a message uses it */
    d->capability = 10 * major + minor;
    if (result != CUDA_SUCCESS)
        return tg_cuda_failed(result, "query the GPU", why, size);
    if (d->capability < 80)
        snprintf(why, size, "%s has compute capability %d.%d: 8.0 or newer is needed", d->name,
                 major, minor);
    else if (!cooperates)
        snprintf(why, size,
                 "%s cannot launch a kernel whose blocks wait for each other (cooperative launch)",
                 d->name);
    else if (!shares)
        snprintf(why, size, "%s cannot use the host's memory at the host's addresses", d->name);
    return d->capability < 80 || !cooperates || !shares ? TG_UNSUPPORTED : TG_OK;
}

/* Takes the GPU that the host asks for, of those that the environment allows (CUDA_VISIBLE_DEVICES). If there
 * are fewer, it counts on from the first: ranks of a machine share its GPUs then. */
static CUresult take_gpu(struct tg_cuda_device *d, uint32_t wanted)
{
    int count = 0;
    if (tg_cuda.device_count(&count) != CUDA_SUCCESS || count < 1)
        count = 1; /* the first one will do, or says what is wrong */
    d->count = (uint32_t)count;
    d->index = wanted % d->count;
    return tg_cuda.device_get(&d->gpu, (int)d->index);
}

/* Its place on the machine's buses, which does not depend on the GPUs that the environment allows. Parts of
 * one GPU (MIG) have the same place. 0: not known. */
static uint64_t identify(const struct tg_cuda_device *d)
{
    CUresult result = CUDA_SUCCESS;
    uint64_t domain = (uint32_t)attribute(d, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, &result);
    uint64_t bus = (uint32_t)attribute(d, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, &result);
    uint64_t slot = (uint32_t)attribute(d, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, &result);
    return result == CUDA_SUCCESS ? UINT64_C(1) << 63 | domain << 16 | bus << 8 | slot : 0;
}

static tg_status find_gpu(struct tg_cuda_device *d, uint32_t wanted, char *why, size_t size)
{
    CUresult result;
    if (!tg_cuda_load_driver(why, size))
        return TG_UNSUPPORTED;
    /* With lazy loading, the first use of a module could wait for the running kernel. */
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    /* The driver makes channels for as many streams, one by one and one process at a time, which takes most
     * of the time of opening a GPU. Here are two, and each must have its own: copies go on beside a kernel. */
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "2", 1);
    result = tg_cuda.init(0);
    if (result == CUDA_SUCCESS)
        result = take_gpu(d, wanted);
    if (result == CUDA_ERROR_NO_DEVICE || result == CUDA_ERROR_INVALID_DEVICE) {
        const char *shown = getenv("CUDA_VISIBLE_DEVICES");
        snprintf(why, size, "the driver offers no GPU%s%.60s",
                 shown ? ": CUDA_VISIBLE_DEVICES is " : "",
                 shown && *shown ? shown
                 : shown         ? "empty"
                                 : "");
        return TG_UNSUPPORTED;
    }
    if (result != CUDA_SUCCESS) {
        char words[200];
        tg_cuda_explain(result, words, sizeof words);
        snprintf(why, size, "the driver finds no GPU: %s", words);
        return TG_UNSUPPORTED;
    }
    if (tg_cuda.device_name(d->name, sizeof d->name, d->gpu) != CUDA_SUCCESS)
        snprintf(d->name, sizeof d->name, "the GPU");
    return check_abilities(d, why, size);
}

/* A block for each lane, each scheduler and the orchestrator must be resident at the same time. By
 * default each core gets a multiprocessor of its own. */
static tg_status count_cores(struct tg_cuda_device *d, const struct tg_process_message *init,
                             char *why, size_t size)
{
    uint32_t room = TG_CUDA_RESIDENT * (uint32_t)d->multiprocessors;
    uint32_t lanes, spare = init->schedulers + 1;
    if (room > TG_MAX_WORKERS)
        room = TG_MAX_WORKERS;
    d->n_schedulers = init->schedulers;
    d->n_cores = init->cores;
    if (d->n_cores == 0) {
        uint32_t whole = (uint32_t)d->multiprocessors;
        d->n_cores = whole > spare + TG_PARTS ? (whole - spare) / TG_PARTS * TG_PARTS : TG_PARTS;
    }
    lanes = (d->n_cores + TG_PARTS - 1) / TG_PARTS * TG_PARTS;
    if (lanes + spare > room) {
        uint32_t left = room > spare ? (room - spare) / TG_PARTS * TG_PARTS : 0;
        snprintf(why, size, "--cores %u: %s has room for %u with %u schedulers", d->n_cores,
                 d->name, left, d->n_schedulers);
        return TG_BAD_ARGUMENT;
    }
    return TG_OK;
}

static tg_status open_context(struct tg_cuda_device *d, char *why, size_t size)
{
    CUresult result = tg_cuda.context_flags(d->gpu, CU_CTX_SCHED_YIELD);
    if (result == CUDA_SUCCESS)
        result = tg_cuda.context_retain(&d->context, d->gpu);
    if (result == CUDA_SUCCESS)
        result = tg_cuda.context_use(d->context);
    if (result == CUDA_SUCCESS)
        result = tg_cuda.stream_create(&d->runner, CU_STREAM_NON_BLOCKING);
    if (result == CUDA_SUCCESS)
        result = tg_cuda.stream_create(&d->mover, CU_STREAM_NON_BLOCKING);
    return result == CUDA_SUCCESS ? TG_OK : tg_cuda_failed(result, "open the GPU", why, size);
}

/* At addresses that the host does not use. If those that are kept free of it are what is missing, anywhere:
 * then the host opens another process, or lives with it. */
static CUresult place_memory(struct tg_cuda_device *d, uint64_t bytes, int32_t host_pid)
{
    struct tg_cuda_kept kept;
    CUresult result;
    tg_cuda_keep_clear(&kept, host_pid);
    result = tg_cuda.alloc(&d->memory, bytes);
    tg_cuda_keep_no_more(&kept);
    return result == CUDA_SUCCESS ? result : tg_cuda.alloc(&d->memory, bytes);
}

/* Allocates the GPU's memory and clears it, because new device memory is zero on every platform. */
static tg_status take_memory(struct tg_cuda_device *d, uint64_t bytes, int32_t host_pid, char *why,
                             size_t size)
{
    CUresult result = place_memory(d, bytes, host_pid);
    if (result == CUDA_SUCCESS)
        result = tg_cuda_finish_write(tg_cuda.set(d->memory, 0, bytes));
    d->memory_size = bytes;
    if (result != CUDA_SUCCESS) {
        char what[96];
        size_t free = 0, total = 0;
        (void)tg_cuda.memory_info(&free, &total);
        snprintf(what, sizeof what, "allocate %llu bytes of the GPU's memory, %llu are free",
                 (unsigned long long)bytes, (unsigned long long)free);
        return tg_cuda_failed(result, what, why, size);
    }
    return TG_OK;
}

/* Called before the driver is loaded: the driver takes free addresses of this process for the GPU's
 * memory, and these must not overlap the shared memory. */
static tg_status map_shared(struct tg_cuda_device *d, const struct tg_process_message *init,
                            char *why, size_t size)
{
    d->shared = tg_link_map(init);
    d->shared_size = init->size;
    if (d->shared == NULL) {
        snprintf(why, size, "cannot map shared memory: %s", strerror(errno));
        return TG_NO_MEMORY;
    }
    d->words = (struct tg_cuda_words *)(d->shared + TG_CUDA_WORDS);
    d->calls = (struct tg_cuda_calls *)(d->shared + TG_CUDA_WORDS + sizeof *d->words);
    return TG_OK;
}

/* Out of memory here means host memory: the driver must lock the shared pages. */
static tg_status cannot_share(CUresult result, char *why, size_t size)
{
    char words[200];
    if (result != CUDA_ERROR_OUT_OF_MEMORY)
        return tg_cuda_failed(result, "share memory with the GPU", why, size);
    tg_cuda_explain(result, words, sizeof words);
    snprintf(why, size,
             "cannot lock %u MiB of the host's memory for the GPU: %s; free some host memory",
             (TG_CUDA_BOUNCE >> 20) + 2, words);
    return TG_NO_MEMORY;
}

/* Shared memory: [head][status ...] | pages at TG_CUDA_WORDS: [words][calls] | [feed] | [bounce] */
static tg_status lay_out(struct tg_cuda_device *d, struct tg_process_message *init, char *why,
                         size_t size)
{
    const uint64_t page = 4096;
    uint32_t n_lanes = (d->n_cores + TG_PARTS - 1) / TG_PARTS * TG_PARTS;
    uint64_t status = sizeof *d->head;
    uint64_t words = sizeof *d->words + sizeof *d->calls;
    uint64_t feed = TG_CUDA_WORDS + (words + page - 1) / page * page;
    uint64_t taken = feed + (sizeof *d->feed + page - 1) / page * page + TG_CUDA_BOUNCE;
    CUresult result;
    result = tg_cuda.host_register(d->shared, taken,
                                   CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
    if (result != CUDA_SUCCESS)
        return cannot_share(result, why, size);
    d->head = (struct tg_control_head *)d->shared;
    d->feed = (struct tg_feed_ring *)(d->shared + feed);
    *d->head = (struct tg_control_head){
        .magic = TG_CONTROL_MAGIC,
        .version = TG_CONTROL_VERSION,
        .head_size = sizeof *d->head,
        .base = (uint64_t)(uintptr_t)d->shared,
        .control_size = TG_CUDA_WORDS,
        .memory_size = d->memory_size,
        .memory_start = d->memory,
        .memory_end = d->memory + d->memory_size,
        .n_lanes = n_lanes,
        .n_schedulers = d->n_schedulers,
        .n_cores = d->n_cores,
        .status = status,
        .status_size = sizeof(struct tg_worker_status),
    };
    init->address = (uint64_t)(uintptr_t)d->shared;
    init->memory = d->memory;
    init->free = taken;
    init->gpu = d->index;
    init->gpus = d->count;
    init->gpu_id = identify(d);
    return TG_OK;
}

tg_status tg_cuda_open(struct tg_cuda_device *d, struct tg_process_message *init, char *why,
                       size_t size)
{
    tg_status status = map_shared(d, init, why, size);
    d->linger_ns = init->linger_ns;
    pthread_mutex_init(&d->turn.lock, NULL);
    if (status == TG_OK)
        status = find_gpu(d, init->gpu, why, size);
    if (status == TG_OK)
        status = count_cores(d, init, why, size);
    if (status == TG_OK)
        status = open_context(d, why, size);
    if (status == TG_OK)
        status = take_memory(d, init->memory, init->host_pid, why, size);
    if (status == TG_OK)
        status = lay_out(d, init, why, size);
    return status;
}
