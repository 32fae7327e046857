/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Opening, running and closing a simulated device from the host. */
#include "platform/sim/sim.h"
#include "base/error.h"
#include "platform/sim/protocol.h"
#include "platform/sim/state.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CLOSE_MILLISECONDS = 2000, LOAD_MILLISECONDS = 30000 };

/* ── open and close ────────────────────────────────────────────────────────────────────── */

static tg_status make_memory(struct tg_sim *sim, struct tg_error *error)
{
    sim->memory_fd = memfd_create("taskglass-device-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (sim->memory_fd >= 0 && sim->memory_fd <= TG_SIM_MOVER_FD) {
        int moved = fcntl(sim->memory_fd, F_DUPFD_CLOEXEC, TG_SIM_MOVER_FD + 1);
        close(sim->memory_fd);
        sim->memory_fd = moved;
    }
    if (sim->memory_fd < 0 || ftruncate(sim->memory_fd, (off_t)sim->size) != 0)
        return tg_error_set(error, TG_NO_MEMORY, "cannot make %llu bytes of device memory: %s",
                            (unsigned long long)sim->size, strerror(errno));
    /* A device that made its memory smaller would have the host's mapping end in a SIGBUS. */
    (void)fcntl(sim->memory_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    /* Address space that stays empty here and that the device uses: a device pointer followed on
     * the host faults at once instead of hitting something of ours. */
    sim->reserved =
        mmap(NULL, sim->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (sim->reserved == MAP_FAILED) {
        sim->reserved = NULL;
        return tg_error_set(error, TG_NO_MEMORY, "cannot reserve %llu bytes of address space: %s",
                            (unsigned long long)sim->size, strerror(errno));
    }
    return TG_OK;
}

static tg_status map_memory(struct tg_sim *sim, struct tg_error *error)
{
    void *map = mmap(NULL, sim->size, PROT_READ | PROT_WRITE, MAP_SHARED, sim->memory_fd, 0);
    if (map == MAP_FAILED)
        return tg_error_set(error, TG_NO_MEMORY, "cannot map device memory: %s", strerror(errno));
    sim->map = map;
    return TG_OK;
}

/* The control area is the device's; what comes after it can be handed out. */
static tg_status take_over(struct tg_sim *sim, struct tg_error *error)
{
    struct tg_control_head head;
    tg_status status = tg_sim_read_copied(sim, &head, sim->base, sizeof head, error);
    uint64_t taken;
    if (status != TG_OK)
        return status;
    taken = sim->taken > head.control_size ? sim->taken : head.control_size;
    if (head.magic != TG_CONTROL_MAGIC || head.version != TG_CONTROL_VERSION ||
        head.control_size < sizeof head || taken > sim->size)
        return tg_error_set(error, TG_ABI_MISMATCH,
                            "the device's control area is not one this library knows");
    if (!tg_heap_init(&sim->heap, taken, sim->size - taken))
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    return TG_OK;
}

tg_status tg_sim_set_up(struct tg_sim *sim, const struct tg_platform_config *config, bool mapped,
                        struct tg_error *error)
{
    tg_status status = make_memory(sim, error);
    if (status == TG_OK)
        status = tg_sim_start(sim, config, error);
    if (status == TG_OK)
        status = take_over(sim, error);
    if (status == TG_OK && mapped)
        status = map_memory(sim, error);
    return status;
}

tg_status tg_sim_open(const struct tg_platform_config *config, bool mapped, void **state,
                      struct tg_error *error)
{
    const uint64_t page = 4096;
    struct tg_sim *sim = calloc(1, sizeof *sim);
    tg_status status;
    if (sim == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    sim->memory_fd = sim->socket = sim->pidfd = sim->mover = -1;
    sim->size = config->memory / page * page;
    status = tg_sim_set_up(sim, config, mapped, error);
    if (status != TG_OK) {
        tg_sim_close(sim);
        return status;
    }
    *state = sim;
    return TG_OK;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

void tg_sim_tear_down(struct tg_sim *sim)
{
    struct tg_sim_message bye = {.type = TG_SIM_BYE};
    if (sim->pid != 0) {
        tg_sim_send(sim->socket, &bye);
        tg_sim_reap(sim, CLOSE_MILLISECONDS);
    }
    close_fd(sim->socket);
    close_fd(sim->pidfd);
    if (sim->map != NULL)
        munmap(sim->map, sim->size);
    if (sim->reserved != NULL)
        munmap(sim->reserved, sim->size);
    close_fd(sim->memory_fd);
    close_fd(sim->mover);
    tg_heap_destroy(&sim->heap);
}

void tg_sim_close(void *state)
{
    tg_sim_tear_down(state);
    free(state);
}

void tg_sim_describe(const void *state, uint64_t *control, uint64_t *memory_used, int *pid)
{
    const struct tg_sim *sim = state;
    *control = sim->base;
    *memory_used = sim->size - sim->heap.bytes_free;
    *pid = sim->pid;
}

/* ── what it is asked to do ────────────────────────────────────────────────────────────── */

tg_status tg_sim_gone(struct tg_sim *sim, struct tg_error *error)
{
    struct tg_autopsy autopsy;
    tg_sim_reap(sim, 1000);
    tg_sim_autopsy(sim, &autopsy);
    return tg_error_set(error, TG_DEVICE_LOST, "the device %s", autopsy.cause);
}

tg_status tg_sim_load(void *state, const char *path, uint32_t first, uint32_t count,
                      struct tg_error *error)
{
    struct tg_sim *sim = state;
    struct tg_sim_message message = {.type = TG_SIM_LOAD, .first = first, .count = count};
    if (strlen(path) >= sizeof message.text)
        return tg_error_set(error, TG_BAD_ARGUMENT, "module path is longer than %zu bytes",
                            sizeof message.text - 1);
    memcpy(message.text, path, strlen(path) + 1);
    if (tg_sim_send(sim->socket, &message) != 0 ||
        tg_sim_hear(sim, &message, LOAD_MILLISECONDS) != 1 || message.type != TG_SIM_LOADED)
        return tg_sim_gone(sim, error);
    if (message.status != TG_OK)
        return tg_error_set(error, (tg_status)message.status, "%s: %s", path, message.text);
    return TG_OK;
}

tg_status tg_sim_launch(void *state, uint64_t launch, struct tg_error *error)
{
    struct tg_sim *sim = state;
    struct tg_sim_message message = {.type = TG_SIM_LAUNCH, .address = launch};
    return tg_sim_send(sim->socket, &message) == 0 ? TG_OK : tg_sim_gone(sim, error);
}

enum tg_poll tg_sim_poll(void *state, int milliseconds)
{
    struct tg_sim *sim = state;
    struct tg_sim_message message;
    struct pollfd fds[] = {{.fd = sim->socket, .events = POLLIN},
                           {.fd = sim->pidfd, .events = POLLIN}};
    if (sim->pid == 0)
        return TG_POLL_LOST;
    if (poll(fds, sim->pidfd >= 0 ? 2 : 1, milliseconds) <= 0)
        return TG_POLL_RUNNING;
    /* A device that finished and died at once has still finished: its word counts first. */
    if (tg_sim_receive(sim->socket, &message, MSG_DONTWAIT) == 1 && message.type == TG_SIM_DONE)
        return message.status ? TG_POLL_STOPPED : TG_POLL_OVER;
    tg_sim_reap(sim, 1000);
    return TG_POLL_LOST;
}

void tg_sim_cancel(void *state)
{
    struct tg_sim *sim = state;
    struct tg_sim_message stop = {.type = TG_SIM_STOP};
    tg_sim_send(sim->socket, &stop);
}

void tg_sim_kill(void *state)
{
    tg_sim_reap(state, 0);
}

void tg_sim_autopsy(void *state, struct tg_autopsy *autopsy)
{
    const struct tg_sim *sim = state;
    int status = sim->wait_status;
    bool known = sim->pid == 0 && !sim->was_reaped_elsewhere;
    /* Where somebody else has the status, the fault record alone tells. */
    autopsy->crashed = known ? WIFEXITED(status) && WEXITSTATUS(status) == TG_SIM_EXIT_FAULT
                             : sim->was_reaped_elsewhere && !sim->killed_by_us;
    if (!known)
        snprintf(autopsy->cause, sizeof autopsy->cause, "ended");
    else if (WIFSIGNALED(status))
        snprintf(autopsy->cause, sizeof autopsy->cause, "was killed by signal %d (%s)",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(autopsy->cause, sizeof autopsy->cause, "exited with status %d",
                 WEXITSTATUS(status));
}
