/* SPDX-License-Identifier: Apache-2.0 */
/* The transport over shared memory: its table of functions, and how an end is opened and closed. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "comm/local_state.h"

static void close_all(const struct tg_local_end *end)
{
    for (uint32_t i = 0; i < end->ranks; i++)
        if (end->socket[i] >= 0)
            close(end->socket[i]);
    close(end->memory);
}

static int add_peer(struct tg_local *local, uint32_t rank, int fd)
{
    struct epoll_event wanted = {.events = EPOLLIN, .data.u32 = rank};
    const int room = 1 << 20;
    struct local_peer *peer = &local->peer[rank];
    peer->fd = fd;
    peer->free_slots = (1u << local->ring.slots) - 1;
    peer->out_ring = local->memory + tg_local_ring_at(local->ranks, local->rank, rank);
    peer->in_ring = local->memory + tg_local_ring_at(local->ranks, rank, local->rank);
    /* The kernel gives as much of it as it allows; less only means more waiting packets here. */
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    return epoll_ctl(local->epoll, EPOLL_CTL_ADD, fd, &wanted) != 0 ? errno : 0;
}

/* The descriptors come from a launcher; anything else under these numbers is refused, and stays open:
 * whatever the cause, they are then not the job's. */
static int check_end(const struct tg_local_end *end)
{
    struct stat status;
    if (fstat(end->memory, &status) != 0)
        return EBADF;
    if (!S_ISREG(status.st_mode) || (uint64_t)status.st_size != tg_local_memory(end->ranks))
        return EBADF;
    for (uint32_t i = 0; i < end->ranks; i++) {
        int type = 0;
        socklen_t size = sizeof type;
        if (i == end->rank)
            continue;
        if (getsockopt(end->socket[i], SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
            type != SOCK_SEQPACKET)
            return EBADF;
        /* A device's process must not keep them open: their end says that this process ended. */
        if (fcntl(end->socket[i], F_SETFD, FD_CLOEXEC) != 0)
            return errno;
    }
    return fcntl(end->memory, F_SETFD, FD_CLOEXEC) != 0 ? errno : 0;
}

static int build(struct tg_local *local, const struct tg_local_end *end)
{
    local->bytes = tg_local_memory(end->ranks);
    local->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (local->epoll < 0)
        return errno;
    local->memory = mmap(NULL, local->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, end->memory, 0);
    if (local->memory == MAP_FAILED) {
        local->memory = NULL;
        return errno;
    }
    for (uint32_t i = 0; i < end->ranks; i++) {
        const int cause = i == end->rank ? 0 : add_peer(local, i, end->socket[i]);
        if (cause != 0)
            return cause;
    }
    return 0;
}

static void forget(void *state, uint32_t rank)
{
    struct tg_local *local = state;
    tg_local_forget_events(local, rank); /* they point to its messages */
    tg_local_forget_peer(&local->peer[rank]);
}

static void free_all(struct tg_local *local)
{
    for (uint32_t i = 0; i < local->ranks; i++)
        forget(local, i);
    if (local->memory)
        munmap(local->memory, local->bytes);
    if (local->epoll >= 0)
        close(local->epoll);
    free(local->events.item);
    free(local->peer);
    free(local);
}

tg_status tg_local_open(const struct tg_local_end *end, void **state, struct tg_error *error)
{
    struct tg_local *local = calloc(1, sizeof *local);
    int cause = check_end(end);
    *state = NULL;
    if (local && cause == 0) {
        local->rank = end->rank;
        local->ranks = end->ranks;
        local->epoll = -1;
        local->ring = tg_local_ring_of(end->ranks);
        local->peer = calloc(end->ranks, sizeof *local->peer);
        for (uint32_t i = 0; local->peer && i < end->ranks; i++)
            local->peer[i] = (struct local_peer){.rank = i, .fd = -1};
        cause = local->peer ? build(local, end) : ENOMEM;
    }
    if (!local || cause != 0) {
        if (cause != EBADF) /* else they are not the job's */
            close_all(end);
        if (local && local->peer) {
            for (uint32_t i = 0; i < end->ranks; i++)
                local->peer[i].fd = -1; /* closed above */
            free_all(local);
        } else {
            free(local);
        }
        return tg_error_set(error, cause == EBADF ? TG_BAD_ARGUMENT : TG_NO_MEMORY,
                            "cannot join the other ranks over shared memory: %s%s",
                            strerror(cause ? cause : ENOMEM),
                            cause == EBADF ? "; the launcher's descriptors are not open here, or "
                                             "this process has joined before"
                                           : "");
    }
    close(end->memory);
    *state = local;
    return TG_OK;
}

static tg_status open_from_environment(void **state, struct tg_error *error)
{
    struct tg_local_end end;
    const char *text = secure_getenv(TG_LOCAL_VARIABLE);
    if (!text)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "no launcher started this process: " TG_LOCAL_VARIABLE
                            " is not set; use `taskglass run --ranks N`");
    tg_status status = tg_local_read_end(text, &end, error);
    return status != TG_OK ? status : tg_local_open(&end, state, error);
}

/* The last packets may say why this rank leaves, so they get a moment to go out. */
static void close_local(void *state, bool failed)
{
    struct tg_local *local = state;
    const int limit_ms = failed ? 200 : 1000;
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (uint32_t i = 0; i < local->ranks; i++) {
        struct local_peer *peer = &local->peer[i];
        while (peer->fd >= 0 && peer->first) {
            struct pollfd wait = {.fd = peer->fd, .events = POLLOUT};
            clock_gettime(CLOCK_MONOTONIC, &now);
            const int64_t spent =
                (now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000;
            if (spent >= limit_ms || poll(&wait, 1, 20) < 0)
                break;
            tg_local_flush(local, peer);
        }
    }
    free_all(local);
}

static uint32_t rank_of(const void *state)
{
    return ((const struct tg_local *)state)->rank;
}

static uint32_t ranks_of(const void *state)
{
    return ((const struct tg_local *)state)->ranks;
}

static void local_of(const void *state, uint32_t *rank, uint32_t *ranks)
{
    *rank = rank_of(state);
    *ranks = ranks_of(state);
}

static const char *about(const void *state)
{
    (void)state;
    return "shared memory";
}

static int fd_of(const void *state)
{
    return ((const struct tg_local *)state)->epoll;
}

static void poll_local(void *state, struct tg_comm_event *event)
{
    struct tg_local *local = state;
    struct epoll_event ready[16];
    if (local->events.first == local->events.last) {
        const int count = epoll_wait(local->epoll, ready, 16, 0);
        for (int i = 0; i < count; i++) {
            struct local_peer *peer = &local->peer[ready[i].data.u32];
            if (ready[i].events & EPOLLOUT)
                tg_local_flush(local, peer);
            if (ready[i].events & ~(uint32_t)EPOLLOUT)
                tg_local_read(local, peer);
        }
    }
    tg_local_next_event(local, event);
}

const struct tg_comm_ops tg_comm_local = {
    .abi = TG_COMM_ABI,
    .size = sizeof(struct tg_comm_ops),
    .name = "local",
    .open = open_from_environment,
    .close = close_local,
    .rank = rank_of,
    .ranks = ranks_of,
    .local = local_of,
    .about = about,
    .send = tg_local_send,
    .receive = tg_local_receive,
    .poll = poll_local,
    .fd = fd_of,
    .forget = forget,
};
