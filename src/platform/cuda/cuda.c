/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda: a GPU. As with the simulators the device is a process (taskglass-cuda); only this process
 * calls NVIDIA's driver. Starting, running, cancelling and killing it is the simulators' code
 * (platform/process). The difference is memory. The host sees the memory that it shares with the
 * GPU (control area, recording streams). Tensors and graphs are in the GPU's own memory; the
 * device's process copies their bytes for the host, through a part of the shared memory.
 */
#define _GNU_SOURCE
#include "base/error.h"
#include "platform/cuda/launch.h"
#include "platform/cuda/library.h"
#include "platform/process/protocol.h"
#include "platform/process/state.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* Address space for shared memory; the system provides memory when it is used. */
#define SHARED_SIZE (UINT64_C(64) << 30)
#define PAGE UINT64_C(4096)
/* With three schedulers and the orchestrator these are as many workers as the engine has room for. */
enum { MOST_LANES = 1020 };
#define ANSWER_SECONDS 30.0
#define END_SECONDS 2.0 /* how long a process may take to end after its socket is closed */
/* To wake a thread takes longer than a small run on a kernel that has stayed. */
#define EAGER_SECONDS 0.01

/* Shared memory that was freed stays registered, up to so many bytes: to provide and register new memory
 * costs about 0.3 ms per MiB, and the next recorded run wants the same again. */
#define KEPT_BYTES (UINT64_C(640) << 20)
enum { MOST_KEPT = 8 };

/* A piece of shared memory that nobody uses. The heap counts it as taken. */
struct kept {
    uint64_t offset, size;
};

struct tg_cuda {
    struct tg_process process; /* must be first: its functions get a pointer to this struct */
    struct tg_heap hidden;     /* the heap of the GPU's own memory */
    void *reserved;            /* keeps the addresses of `hidden` unused in the host, or NULL */
    size_t reserved_size;
    pthread_mutex_t moving; /* held during a request: the process answers one at a time */
    bool gave_up;           /* no request waits any more: neither for an answer nor for the end */
    struct kept kept[MOST_KEPT]; /* the oldest first */
    uint32_t n_kept;
    uint64_t kept_bytes;
};

/* ── looking for a GPU ─────────────────────────────────────────────────────────────────── */

/* Looks for a GPU's device files and the driver's library. Does not call the driver, which would
 * take a second; `open` finds out the rest. */
static tg_status probe(struct tg_error *error)
{
#if defined(TG_WITHOUT_CUDA)
    return tg_error_set(error, TG_UNSUPPORTED,
                        "platform cuda: this build has no code for a GPU; install nvcc and build "
                        "again");
#else
    void *driver;
    if (!tg_cuda_named_library() && access("/dev/nvidiactl", F_OK) != 0 &&
        access("/dev/dxg", F_OK) != 0)
        return tg_error_set(
            error, TG_UNSUPPORTED,
            "platform cuda: this machine has no NVIDIA GPU, or its kernel driver is "
            "not loaded (no /dev/nvidiactl)");
    driver = dlopen(tg_cuda_library(), RTLD_LAZY | RTLD_LOCAL);
    if (driver == NULL)
        return tg_error_set(error, TG_UNSUPPORTED, "platform cuda: no NVIDIA driver: %s",
                            dlerror());
    dlclose(driver);
    return TG_OK;
#endif
}

/* ── requests ──────────────────────────────────────────────────────────────────────────── */

/* The socket closes a moment before the process has ended: the driver gives the GPU back in between. The
 * caller holds `moving`. */
static tg_status gone(struct tg_cuda *c, struct tg_error *error)
{
    int number = c->gave_up ? 0 : tg_process_signal(&c->process, END_SECONDS);
    char how[96] = "has ended";
    if (number != 0)
        tg_process_say_signal(number, how, sizeof how);
    c->gave_up |= number == 0;
    return tg_error_set(error, TG_DEVICE_LOST,
                        "the device %s, and the GPU's memory is lost with it", how);
}

/* Closes the socket, because a late answer would be taken for the answer to the next request. */
static tg_status give_up_asking(struct tg_cuda *c, struct tg_error *error)
{
    shutdown(c->process.mover, SHUT_RDWR);
    c->gave_up = true;
    return tg_error_set(error, TG_DEVICE_LOST, "the device has not answered for %g s",
                        ANSWER_SECONDS);
}

/* Sends a request and waits for its answer. The caller holds `moving`. */
static tg_status ask(struct tg_cuda *c, struct tg_process_message *m, struct tg_error *error)
{
    if (tg_process_send(c->process.mover, m) != 0)
        return gone(c, error);
    if (!tg_process_await(&c->process, c->process.mover, ANSWER_SECONDS))
        return give_up_asking(c, error);
    if (tg_process_receive(c->process.mover, m, MSG_DONTWAIT) != 1 || m->type != TG_PROCESS_MOVED)
        return gone(c, error);
    if (m->status != TG_OK)
        return tg_error_set(error, (tg_status)m->status, "%s", m->text);
    return TG_OK;
}

static tg_status request(struct tg_cuda *c, struct tg_process_message *m, struct tg_error *error)
{
    tg_status status;
    pthread_mutex_lock(&c->moving);
    status = ask(c, m, error);
    pthread_mutex_unlock(&c->moving);
    return status;
}

/* ── memory ────────────────────────────────────────────────────────────────────────────── */

static bool is_hidden(const struct tg_cuda *c, uint64_t address, uint64_t size)
{
    return address >= c->process.hidden_at && address - c->process.hidden_at <= c->process.hidden &&
           size <= c->process.hidden - (address - c->process.hidden_at);
}

static tg_status outside(const struct tg_cuda *c, const char *what, uint64_t address, uint64_t size,
                         struct tg_error *error)
{
    return tg_error_set(
        error, TG_BAD_ARGUMENT, "%s: 0x%llx + %llu bytes is outside device memory (0x%llx + %llu)",
        what, (unsigned long long)address, (unsigned long long)size,
        (unsigned long long)c->process.hidden_at, (unsigned long long)c->process.hidden);
}

static tg_status alloc_hidden(void *state, uint64_t bytes, uint64_t *address,
                              struct tg_error *error)
{
    struct tg_cuda *c = state;
    uint64_t offset;
    if (!tg_heap_take(&c->hidden, bytes, &offset))
        return tg_heap_full(&c->hidden, bytes, c->process.hidden, error);
    *address = c->process.hidden_at + offset;
    return TG_OK;
}

/* Whole pages, in steps of a sixteenth to an eighth of the size, so that a run that needs a little more than
 * the last one finds room in what is kept. What is too large to be kept gets no more pages than it needs. */
static uint64_t in_steps(uint64_t bytes)
{
    uint64_t step = PAGE;
    while (bytes <= KEPT_BYTES && step < bytes / 16)
        step *= 2;
    return bytes ? (bytes + step - 1) / step * step : PAGE;
}

/* Gives memory back to the system. */
static void give_back(struct tg_cuda *c, uint64_t offset)
{
    uint64_t size = tg_heap_give(&c->process.heap, offset);
    (void)madvise(c->process.map + offset, size, MADV_REMOVE);
}

/* Allocates pages and has the driver register them, so that the GPU can use them. */
static tg_status pin_new(struct tg_cuda *c, uint64_t size, uint64_t *offset, struct tg_error *error)
{
    struct tg_process_message pin = {.type = TG_PROCESS_PIN, .size = size};
    tg_status status;
    if (!tg_heap_take(&c->process.heap, size, offset))
        return tg_heap_full(&c->process.heap, size, c->process.size, error);
    pin.address = c->process.base + *offset;
    status = request(c, &pin, error);
    if (status != TG_OK)
        give_back(c, *offset); /* the process has touched it already */
    return status;
}

/* What the driver still has stays taken until the device closes: it would not register it again. */
static void unpin(struct tg_cuda *c, uint64_t offset)
{
    struct tg_process_message m = {.type = TG_PROCESS_UNPIN,
                                   .address = c->process.base + offset,
                                   .size = tg_heap_size(&c->process.heap, offset)};
    bool has_ended = c->process.pid == 0; /* it needs no unpin */
    if (has_ended || request(c, &m, NULL) == TG_OK)
        give_back(c, offset);
}

static struct kept take_kept(struct tg_cuda *c, uint32_t i)
{
    struct kept k = c->kept[i];
    c->n_kept--;
    c->kept_bytes -= k.size;
    memmove(&c->kept[i], &c->kept[i + 1], (c->n_kept - i) * sizeof k);
    return k;
}

/* Takes the smallest piece that is large enough, but none of more than four times the size. */
static bool reuse(struct tg_cuda *c, uint64_t size, uint64_t *offset)
{
    uint32_t best = MOST_KEPT;
    for (uint32_t i = 0; i < c->n_kept; i++)
        if (c->kept[i].size >= size && c->kept[i].size / 4 <= size &&
            (best == MOST_KEPT || c->kept[i].size < c->kept[best].size))
            best = i;
    if (best == MOST_KEPT)
        return false;
    *offset = take_kept(c, best).offset;
    return true;
}

static void keep(struct tg_cuda *c, uint64_t offset, uint64_t size)
{
    while (c->n_kept > 0 && (c->n_kept == MOST_KEPT || c->kept_bytes + size > KEPT_BYTES))
        unpin(c, take_kept(c, 0).offset);
    c->kept[c->n_kept++] = (struct kept){offset, size};
    c->kept_bytes += size;
}

static tg_status alloc_shared(void *state, uint64_t bytes, uint64_t *address,
                              struct tg_error *error)
{
    struct tg_cuda *c = state;
    uint64_t size = in_steps(bytes), offset;
    tg_status status = TG_OK;
    if (!reuse(c, size, &offset)) {
        status = pin_new(c, size, &offset, error);
        while (status == TG_NO_MEMORY && c->n_kept > 0) { /* what is kept may be what is missing */
            unpin(c, take_kept(c, 0).offset);
            status = pin_new(c, size, &offset, error);
        }
    }
    if (status == TG_OK)
        *address = c->process.base + offset;
    return status;
}

static bool is_kept(const struct tg_cuda *c, uint64_t offset)
{
    for (uint32_t i = 0; i < c->n_kept; i++)
        if (c->kept[i].offset == offset)
            return true;
    return false;
}

static tg_status free_shared(struct tg_cuda *c, uint64_t address, struct tg_error *error)
{
    uint64_t offset = address - c->process.base, size = tg_heap_size(&c->process.heap, offset);
    if (size == 0 || is_kept(c, offset))
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "free: 0x%llx is not the start of an allocation",
                            (unsigned long long)address);
    if (c->process.pid != 0 && size <= KEPT_BYTES)
        keep(c, offset, size);
    else
        unpin(c, offset);
    return TG_OK;
}

static tg_status free_either(void *state, uint64_t address, struct tg_error *error)
{
    struct tg_cuda *c = state;
    if (tg_process_in_memory(&c->process, address, 0))
        return free_shared(c, address, error);
    if (is_hidden(c, address, 0) && tg_heap_give(&c->hidden, address - c->process.hidden_at) != 0)
        return TG_OK;
    return tg_error_set(error, TG_BAD_ARGUMENT, "free: 0x%llx is not the start of an allocation",
                        (unsigned long long)address);
}

/* Copies through the bounce buffer, one buffer's worth at a time. */
static tg_status move(struct tg_cuda *c, uint32_t type, uint64_t address, char *bytes,
                      uint64_t size, struct tg_error *error)
{
    uint64_t place = c->process.taken - TG_CUDA_BOUNCE;
    tg_status status = TG_OK;
    pthread_mutex_lock(&c->moving);
    for (uint64_t done = 0; done < size && status == TG_OK;) {
        uint64_t n = size - done < TG_CUDA_BOUNCE ? size - done : TG_CUDA_BOUNCE;
        struct tg_process_message m = {
            .type = type, .address = address + done, .size = n, .place = place};
        if (type == TG_PROCESS_COPY_IN)
            memcpy(c->process.map + place, bytes + done, n);
        status = ask(c, &m, error);
        if (type == TG_PROCESS_COPY_OUT && status == TG_OK)
            memcpy(bytes + done, c->process.map + place, n);
        done += n;
    }
    pthread_mutex_unlock(&c->moving);
    return status;
}

static tg_status copy_in(void *state, uint64_t address, const void *bytes, uint64_t size,
                         struct tg_error *error)
{
    struct tg_cuda *c = state;
    if (tg_process_in_memory(&c->process, address, size))
        return tg_process_write_mapped(state, address, bytes, size, error);
    if (!is_hidden(c, address, size))
        return outside(c, "copy in", address, size, error);
    return move(c, TG_PROCESS_COPY_IN, address, (char *)bytes, size, error);
}

static tg_status copy_out(void *state, void *bytes, uint64_t address, uint64_t size,
                          struct tg_error *error)
{
    struct tg_cuda *c = state;
    if (tg_process_in_memory(&c->process, address, size))
        return tg_process_read_mapped(state, bytes, address, size, error);
    if (!is_hidden(c, address, size))
        return outside(c, "copy out", address, size, error);
    return move(c, TG_PROCESS_COPY_OUT, address, bytes, size, error);
}

/* ── open and close ────────────────────────────────────────────────────────────────────── */

/* The driver chose these addresses in the device's process. Nothing of the host's should come to lie there,
 * so that a device pointer which is followed on the host faults, as on a simulator. Returns false if the host has
 * something there already. If it has no address space left, the addresses stay as they are. */
static bool reserve_hidden(struct tg_cuda *c)
{
    uint64_t first = c->process.hidden_at / PAGE * PAGE;
    uint64_t end = (c->process.hidden_at + c->process.hidden + PAGE - 1) / PAGE * PAGE;
    void *wanted = (void *)(uintptr_t)first, *got;
    if (first == 0 || end <= first)
        return true;
    got = mmap(wanted, end - first, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == MAP_FAILED)
        return errno != EEXIST;
    if (got != wanted) { /* Linux before 4.17 takes the address for a hint */
        munmap(got, end - first);
        return false;
    }
    c->reserved = got;
    c->reserved_size = end - first;
    return true;
}

static void close_gpu(void *state)
{
    struct tg_cuda *c = state;
    tg_process_tear_down(&c->process);
    if (c->reserved != NULL)
        munmap(c->reserved, c->reserved_size);
    tg_heap_destroy(&c->hidden);
    pthread_mutex_destroy(&c->moving);
    free(c);
}

static tg_status open_once(const struct tg_platform_config *config, struct tg_cuda **opened,
                           struct tg_error *error)
{
    struct tg_cuda *c = calloc(1, sizeof *c);
    tg_status status;
    if (c == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    pthread_mutex_init(&c->moving, NULL);
    c->process.memory_fd = c->process.socket = c->process.calls = c->process.pidfd = -1;
    c->process.mover = -1;
    c->process.eager_seconds = EAGER_SECONDS;
    c->process.size = SHARED_SIZE;
    c->process.hidden = config->memory / PAGE * PAGE;
    status = tg_process_set_up(&c->process, config, true, error);
    if (status == TG_OK && !tg_heap_init(&c->hidden, 0, c->process.hidden))
        status = tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    if (status != TG_OK) {
        close_gpu(c);
        return status;
    }
    *opened = c;
    return TG_OK;
}

/* The device's process leaves out the addresses that the host used when it looked (gpu_place.c). The host may
 * have taken more since then, or not be shown to it; the addresses of both processes are random, so the next
 * process has others. If it has the same, another one would have them too. */
static tg_status open_gpu(const struct tg_platform_config *config, void **state,
                          struct tg_error *error)
{
    enum { TRIES = 4 };
    struct tg_cuda *c = NULL;
    uint64_t last = 0;
    tg_status status = probe(error);
    for (int tries = 1; status == TG_OK; tries++) {
        status = open_once(config, &c, error);
        if (status != TG_OK || reserve_hidden(c) || tries == TRIES || c->process.hidden_at == last)
            break;
        last = c->process.hidden_at;
        close_gpu(c);
    }
    if (status == TG_OK)
        *state = c;
    return status;
}

static void describe(const void *state, struct tg_platform_about *about)
{
    const struct tg_cuda *c = state;
    tg_process_describe(&c->process, about);
    about->memory_used = c->process.hidden - c->hidden.bytes_free;
}

const struct tg_platform_ops tg_platform_cuda = {
    TG_PROCESS_START_OPS,
    .name = "cuda",
    .summary = "an NVIDIA GPU: cores are thread blocks of one persistent kernel",
    .program = "taskglass-cuda",
    .max_blocks = MOST_LANES / TG_PARTS,
    .max_schedulers = 3,
    .memory_dies = true,
    .slow_to_open = true,
    .decides_cores = true,
    .copies_in_turn = true,
    .cores_wait_at_tasks = true,
    .orchestrates_beside = true,
    .locates_beside = true,
    .probe = probe,
    .open = open_gpu,
    .close = close_gpu,
    .describe = describe,
    .alloc = alloc_hidden,
    .alloc_shared = alloc_shared,
    .free = free_either,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .map = tg_process_map,
    .locate = tg_process_locate,
};
