/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* The host's side of a device that is a process: opens, runs and closes it. */
#include "platform/process/process.h"
#include "base/error.h"
#include "base/files.h"
#include "base/limit.h"
#include "platform/process/protocol.h"
#include "platform/process/state.h"
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLOSE_SECONDS 2.0

/* ── open and close ────────────────────────────────────────────────────────────────────── */

static tg_status make_memory(struct tg_process *process, struct tg_error *error)
{
    process->memory_fd = memfd_create("taskglass-device-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (process->memory_fd <= TG_PROCESS_MOVER_FD)
        process->memory_fd = tg_file_above(process->memory_fd, TG_PROCESS_MOVER_FD);
    if (process->memory_fd < 0)
        return tg_error_set(error, tg_cause_status(errno), "cannot make device memory: %s",
                            strerror(errno));
    if (ftruncate(process->memory_fd, (off_t)process->size) != 0)
        return tg_error_set(error, TG_NO_MEMORY, "cannot make %llu bytes of device memory: %s",
                            (unsigned long long)process->size, strerror(errno));
    /* Seal the size: if the device shrank its memory, the host's mapping would raise SIGBUS. */
    (void)fcntl(process->memory_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    /* Reserve the addresses that the device will use and leave them empty here. If the host follows
     * a device pointer, it faults at once instead of reaching the host's own memory. */
    process->reserved =
        mmap(NULL, process->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (process->reserved == MAP_FAILED) {
        process->reserved = NULL;
        return tg_error_set(error, TG_NO_MEMORY, "cannot reserve %llu bytes of address space: %s",
                            (unsigned long long)process->size, strerror(errno));
    }
    return TG_OK;
}

static tg_status map_memory(struct tg_process *process, struct tg_error *error)
{
    void *map =
        mmap(NULL, process->size, PROT_READ | PROT_WRITE, MAP_SHARED, process->memory_fd, 0);
    if (map == MAP_FAILED)
        return tg_error_set(error, TG_NO_MEMORY, "cannot map device memory: %s", strerror(errno));
    process->map = map;
    return TG_OK;
}

/* On every simulator: the rings are no memory of the device that a workload could use. */
static tg_status map_rings(struct tg_process *process, struct tg_error *error)
{
    const uint64_t size = sizeof *process->rings, at = process->rings_at;
    void *map = MAP_FAILED;
    if (at % 4096 != 0 || at > process->size || size > process->size - at)
        return tg_error_set(error, TG_DEVICE_LOST, "the device has no place for its calls");
    map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, process->memory_fd, (off_t)at);
    if (map == MAP_FAILED)
        return tg_error_set(error, TG_NO_MEMORY, "cannot map device memory: %s", strerror(errno));
    process->rings = map;
    return TG_OK;
}

/* Makes the heap of all memory behind the control area, which belongs to the device. */
static tg_status take_over(struct tg_process *process, struct tg_error *error)
{
    struct tg_control_head head;
    tg_status status = tg_process_read_copied(process, &head, process->base, sizeof head, error);
    uint64_t taken;
    if (status != TG_OK)
        return status;
    taken = process->taken > head.control_size ? process->taken : head.control_size;
    if (head.magic != TG_CONTROL_MAGIC || head.version != TG_CONTROL_VERSION ||
        head.control_size < sizeof head || taken > process->size)
        return tg_error_set(
            error, TG_ABI_MISMATCH,
            "the device program does not match this library (its control area differs); "
            "use both from one version");
    if (!tg_heap_init(&process->heap, taken, process->size - taken))
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    return TG_OK;
}

tg_status tg_process_set_up(struct tg_process *process, const struct tg_platform_config *config,
                            bool mapped, struct tg_error *error)
{
    tg_status status = make_memory(process, error);
    process->load_seconds = config->load_seconds;
    process->watch = config->watch;
    /* Before the device starts: a GPU's memory is not to lie where the host has this mapping. */
    if (status == TG_OK && mapped)
        status = map_memory(process, error);
    if (status == TG_OK)
        status = tg_process_start(process, config, error);
    if (status == TG_OK)
        status = take_over(process, error);
    if (status == TG_OK && process->rings_at != 0)
        status = map_rings(process, error);
    return status;
}

tg_status tg_process_open(const struct tg_platform_config *config, bool mapped, void **state,
                          struct tg_error *error)
{
    const uint64_t page = 4096;
    struct tg_process *process = calloc(1, sizeof *process);
    tg_status status;
    if (process == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    process->memory_fd = process->socket = process->calls = process->pidfd = process->mover = -1;
    process->size = config->memory / page * page;
    status = tg_process_set_up(process, config, mapped, error);
    if (status != TG_OK) {
        tg_process_close(process);
        return status;
    }
    *state = process;
    return TG_OK;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

void tg_process_tear_down(struct tg_process *process)
{
    struct tg_process_message bye = {.type = TG_PROCESS_BYE};
    if (process->pid != 0) {
        tg_process_send(process->socket, &bye);
        tg_process_reap(process, CLOSE_SECONDS);
    }
    close_fd(process->socket);
    close_fd(process->calls);
    close_fd(process->pidfd);
    if (process->map != NULL)
        munmap(process->map, process->size);
    if (process->rings != NULL)
        munmap(process->rings, sizeof *process->rings);
    free(process->calls_late);
    if (process->reserved != NULL)
        munmap(process->reserved, process->size);
    close_fd(process->memory_fd);
    close_fd(process->mover);
    tg_heap_destroy(&process->heap);
}

void tg_process_close(void *state)
{
    tg_process_tear_down(state);
    free(state);
}

void tg_process_describe(const void *state, struct tg_platform_about *about)
{
    const struct tg_process *process = state;
    *about = (struct tg_platform_about){
        .control = process->base,
        .memory_used = process->size - process->heap.bytes_free,
        .pid = process->pid,
        .sandbox = process->sandbox,
        .gpu = process->gpu,
        .begun = process->begun,
    };
}

/* ── requests to the device ────────────────────────────────────────────────────────────── */

void tg_process_note_refusal(struct tg_process *process, int cause)
{
    if (cause == ENOMEM || cause == ENOBUFS)
        process->refusal = cause;
}

tg_status tg_process_gone(struct tg_process *process, struct tg_error *error)
{
    struct tg_autopsy autopsy;
    tg_process_note_refusal(process, errno); /* of the message that could not be sent or received */
    tg_process_reap(process, 1);
    tg_process_autopsy(process, &autopsy);
    return tg_error_set(error, TG_DEVICE_LOST, "the device %s", autopsy.cause);
}

/* Ends the device: its late answer would be taken for the answer to the next request. */
static tg_status give_up_loading(struct tg_process *process, const char *path,
                                 struct tg_error *error)
{
    tg_process_reap(process, 0);
    return tg_error_set(error, TG_DEVICE_LOST,
                        "the device has not loaded %s within %g s, and was stopped; if loading it "
                        "takes longer, raise --load-timeout",
                        path, process->load_seconds);
}

tg_status tg_process_load(void *state, const char *path, uint32_t first, uint32_t count,
                          struct tg_error *error)
{
    struct tg_process *process = state;
    struct tg_process_message message = {.type = TG_PROCESS_LOAD, .first = first, .count = count};
    if (strlen(path) >= sizeof message.text)
        return tg_error_set(error, TG_BAD_ARGUMENT, "module path is longer than %zu bytes",
                            sizeof message.text - 1);
    memcpy(message.text, path, strlen(path) + 1);
    if (tg_process_send(process->socket, &message) != 0)
        return tg_process_gone(process, error);
    int heard = tg_process_hear(process, &message, process->load_seconds);
    if (heard == 0)
        return give_up_loading(process, path, error);
    if (heard == TG_HEARD_STOP) {
        tg_process_reap(process, 0);
        return tg_error_set(error, TG_CANCELLED, "cancelled while the device loaded %s", path);
    }
    if (heard < 0 || message.type != TG_PROCESS_LOADED)
        return tg_process_gone(process, error);
    if (message.status != TG_OK)
        return tg_error_set(error, (tg_status)message.status, "%s: %s", path, message.text);
    return TG_OK;
}

tg_status tg_process_launch(void *state, const struct tg_platform_launch *launch,
                            struct tg_error *error)
{
    struct tg_process *process = state;
    uint32_t run = __atomic_add_fetch(&process->launches, 1u, __ATOMIC_RELEASE);
    struct tg_process_message message = {
        .type = TG_PROCESS_LAUNCH,
        .address = launch->address,
        .count = run,
        .first = launch->first_kernel,
        .kernels = launch->n_kernels,
        .is_built = launch->is_built,
        .is_beside = launch->is_beside,
        .comm = launch->comm,
    };
    process->begun = (struct tg_platform_begun){0};
    process->launched_at = tg_limit_now();
    return tg_process_send(process->socket, &message) == 0 ? TG_OK
                                                           : tg_process_gone(process, error);
}

static enum tg_poll look(struct tg_process *process, int milliseconds)
{
    struct tg_process_message message;
    struct pollfd fds[] = {{.fd = process->socket, .events = POLLIN},
                           {.fd = process->pidfd, .events = POLLIN}};
    if (process->pid == 0)
        return TG_POLL_LOST;
    if (poll(fds, process->pidfd >= 0 ? 2 : 1, milliseconds) <= 0)
        return TG_POLL_RUNNING;
    /* Read the message before checking for death: a device that finished and then died has
     * finished. */
    int got = tg_process_receive(process->socket, &message, MSG_DONTWAIT);
    if (got == 1 && message.type == TG_PROCESS_DONE) {
        process->begun = (struct tg_platform_begun){message.address, message.count != 0};
        return message.status ? TG_POLL_STOPPED : TG_POLL_OVER;
    }
    if (got < 0)
        tg_process_note_refusal(process, errno);
    tg_process_reap(process, 1);
    return TG_POLL_LOST;
}

/* For a while after a launch it does not sleep, if to sleep until a message comes would take longer than a
 * short run. */
enum tg_poll tg_process_poll(void *state, int milliseconds)
{
    struct tg_process *process = state;
    double now = tg_limit_now(), end = now + milliseconds * 1e-3;
    double sleeps = process->launched_at + process->eager_seconds;
    if (process->eager_seconds <= 0)
        return look(process, milliseconds);
    while (now < end && now < sleeps) {
        enum tg_poll poll = look(process, 0);
        if (poll != TG_POLL_RUNNING)
            return poll;
        sched_yield();
        now = tg_limit_now();
    }
    return look(process, now < end ? (int)ceil((end - now) * 1e3) : 0);
}

void tg_process_cancel(void *state)
{
    struct tg_process *process = state;
    struct tg_process_message stop = {.type = TG_PROCESS_STOP};
    tg_process_send(process->socket, &stop);
}

void tg_process_locate(void *state)
{
    struct tg_process *process = state;
    struct tg_process_message locate = {.type = TG_PROCESS_LOCATE};
    tg_process_send(process->socket, &locate);
}

/* The list takes the way of all bulk data: device memory. */
static tg_status send_protections(struct tg_process *process, uint64_t address, uint64_t size,
                                  struct tg_error *error)
{
    struct tg_process_message message = {
        .type = TG_PROCESS_PROTECT, .address = address, .size = size};
    if (tg_process_send(process->socket, &message) != 0)
        return tg_process_gone(process, error);
    int heard = tg_process_hear(process, &message, process->load_seconds);
    if (heard == TG_HEARD_STOP || heard == 0) {
        tg_process_reap(process, 0);
        return tg_error_set(error, heard == 0 ? TG_DEVICE_LOST : TG_CANCELLED,
                            heard == 0 ? "the device does not answer, and was stopped"
                                       : "cancelled while the device protected memory");
    }
    if (heard < 0 || message.type != TG_PROCESS_PROTECTED)
        return tg_process_gone(process, error);
    if (message.status != TG_OK)
        return tg_error_set(error, (tg_status)message.status, "%s", message.text);
    return TG_OK;
}

tg_status tg_process_protect(void *state, const struct tg_protection *piece, uint32_t count,
                             struct tg_error *error)
{
    struct tg_process *process = state;
    uint64_t address, size = count * sizeof *piece;
    if (process->pid == 0)
        return tg_error_set(error, TG_DEVICE_LOST, "the device is lost; open it again");
    tg_status status = tg_process_alloc(process, size, &address, error);
    if (status != TG_OK)
        return status;
    status = tg_process_write_copied(process, address, piece, size, error);
    if (status == TG_OK)
        status = send_protections(process, address, size, error);
    (void)tg_process_free(process, address, NULL);
    return status;
}

void tg_process_kill(void *state)
{
    tg_process_reap(state, 0);
}

void tg_process_say_signal(int number, char *text, size_t size)
{
    const char *name = sigabbrev_np(number); /* NULL for a realtime signal */
    snprintf(text, size, name ? "was killed by signal %d (SIG%s)" : "was killed by signal %d",
             number, name);
}

void tg_process_autopsy(void *state, struct tg_autopsy *autopsy)
{
    const struct tg_process *process = state;
    int status = process->wait_status;
    bool known = process->pid == 0 && !process->was_reaped_elsewhere;
    /* If the host's program has taken the exit status, only the fault record can tell. */
    autopsy->crashed = known ? WIFEXITED(status) && WEXITSTATUS(status) == TG_PROCESS_EXIT_FAULT
                             : process->was_reaped_elsewhere && !process->killed_by_us;
    if (process->refusal != 0 && process->killed_by_us)
        snprintf(autopsy->cause, sizeof autopsy->cause, "cannot be reached: %s",
                 strerror(process->refusal));
    else if (!known)
        snprintf(autopsy->cause, sizeof autopsy->cause, "ended");
    else if (WIFSIGNALED(status))
        tg_process_say_signal(WTERMSIG(status), autopsy->cause, sizeof autopsy->cause);
    else
        snprintf(autopsy->cause, sizeof autopsy->cause, "exited with status %d",
                 WEXITSTATUS(status));
}
