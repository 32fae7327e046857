/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the memory and sockets of a job on one machine, and hands them to its processes. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/words.h"
#include "comm/comm.h"
#include "comm/local.h"

enum { FULL_CHUNK = 128 << 10, FEW_RANKS = 16 };

struct tg_local_job {
    uint32_t ranks;
    struct tg_local_end *ends;
};

struct tg_local_ring tg_local_ring_of(uint32_t ranks)
{
    struct tg_local_ring ring = {.slots = 8, .chunk = FULL_CHUNK};
    for (uint32_t n = FEW_RANKS; n < ranks; n *= 2)
        ring.chunk /= 2;
    return ring;
}

uint64_t tg_local_ring_at(uint32_t ranks, uint32_t from, uint32_t to)
{
    const struct tg_local_ring ring = tg_local_ring_of(ranks);
    return ((uint64_t)from * ranks + to) * ring.slots * ring.chunk;
}

uint64_t tg_local_memory(uint32_t ranks)
{
    return tg_local_ring_at(ranks, ranks, 0);
}

static void close_end(struct tg_local_end *end)
{
    for (uint32_t i = 0; i < end->ranks; i++)
        if (end->socket[i] >= 0)
            close(end->socket[i]);
    if (end->memory >= 0)
        close(end->memory);
    end->memory = -1;
    for (uint32_t i = 0; i < end->ranks; i++)
        end->socket[i] = -1;
}

void tg_local_unmake(uint32_t ranks, struct tg_local_end *ends)
{
    for (uint32_t r = 0; r < ranks; r++)
        close_end(&ends[r]);
}

/* Each end has a descriptor of its own for the memory, so that ends close independently. */
static int make_all(uint32_t ranks, struct tg_local_end *ends)
{
    int memory = memfd_create("taskglass-ranks", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0)
        return errno;
    ends[0].memory = memory;
    /* No rank can cut the memory under the others: that would kill them with SIGBUS. */
    if (ftruncate(memory, (off_t)tg_local_memory(ranks)) != 0 ||
        fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return errno;
    for (uint32_t r = 1; r < ranks; r++) {
        ends[r].memory = fcntl(memory, F_DUPFD_CLOEXEC, 0);
        if (ends[r].memory < 0)
            return errno;
    }
    for (uint32_t a = 0; a < ranks; a++)
        for (uint32_t b = a + 1; b < ranks; b++) {
            int pair[2];
            if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
                return errno;
            ends[a].socket[b] = pair[0];
            ends[b].socket[a] = pair[1];
        }
    return 0;
}

/* A job of many ranks needs more descriptors at once than the usual limit; each rank keeps few. */
static void raise_limit(uint32_t ranks, struct rlimit *before)
{
    struct rlimit raised;
    const rlim_t wanted = (rlim_t)ranks * (ranks + 1) + 256;
    before->rlim_max = 0;
    if (getrlimit(RLIMIT_NOFILE, before) != 0 || before->rlim_cur >= wanted) {
        before->rlim_max = 0;
        return;
    }
    raised = *before;
    raised.rlim_cur = wanted < before->rlim_max ? wanted : before->rlim_max;
    setrlimit(RLIMIT_NOFILE, &raised);
}

tg_status tg_local_make(uint32_t ranks, struct tg_local_end *ends, struct tg_error *error)
{
    struct rlimit before;
    if (ranks < 1 || ranks > TG_LOCAL_MAX_RANKS)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "a job of %u ranks over shared memory is not possible; it has 1 to %d",
                            ranks, TG_LOCAL_MAX_RANKS);
    for (uint32_t r = 0; r < ranks; r++) {
        ends[r] = (struct tg_local_end){.rank = r, .ranks = ranks, .memory = -1};
        for (uint32_t i = 0; i < TG_LOCAL_MAX_RANKS; i++)
            ends[r].socket[i] = -1;
    }
    raise_limit(ranks, &before);
    const int cause = make_all(ranks, ends);
    if (before.rlim_max != 0)
        setrlimit(RLIMIT_NOFILE, &before);
    if (cause == 0)
        return TG_OK;
    tg_local_unmake(ranks, ends);
    return tg_error_set(error, tg_cause_status(cause),
                        "cannot make memory and sockets for %u ranks: %s", ranks, strerror(cause));
}

tg_status tg_local_job_create(uint32_t ranks, struct tg_local_job **job, struct tg_error *error)
{
    struct tg_local_job *made = calloc(1, sizeof *made);
    *job = NULL;
    if (!made || !(made->ends = calloc(ranks ? ranks : 1, sizeof *made->ends))) {
        free(made);
        return tg_file_no_memory(error);
    }
    made->ranks = ranks;
    tg_status status = tg_local_make(ranks, made->ends, error);
    if (status != TG_OK) {
        free(made->ends);
        free(made);
        return status;
    }
    *job = made;
    return TG_OK;
}

uint32_t tg_local_job_pass(const struct tg_local_job *job, uint32_t rank, int *fds, uint32_t room,
                           char text[4096])
{
    uint32_t count = 0;
    text[0] = '\0';
    if (rank >= job->ranks)
        return 0;
    const struct tg_local_end *end = &job->ends[rank];
    tg_local_write_end(end, text);
    if (count < room)
        fds[count++] = end->memory;
    for (uint32_t i = 0; i < end->ranks; i++)
        if (end->socket[i] >= 0 && count < room)
            fds[count++] = end->socket[i];
    return count;
}

void tg_local_job_destroy(struct tg_local_job *job)
{
    if (!job)
        return;
    tg_local_unmake(job->ranks, job->ends);
    free(job->ends);
    free(job);
}

/* "1:RANK:RANKS:MEMORY:SOCKET,SOCKET,…", with "-" in the rank's own place. */
void tg_local_write_end(const struct tg_local_end *end, char text[4096])
{
    int at = snprintf(text, 4096, "1:%u:%u:%d:", end->rank, end->ranks, end->memory);
    for (uint32_t i = 0; i < end->ranks; i++) {
        if (i == end->rank)
            at += snprintf(text + at, 4096 - (size_t)at, "%s-", i ? "," : "");
        else
            at += snprintf(text + at, 4096 - (size_t)at, "%s%d", i ? "," : "", end->socket[i]);
    }
}

static bool read_number(struct tg_word *rest, char separator, uint64_t most, uint64_t *number)
{
    struct tg_word piece;
    return tg_word_next(rest, separator, &piece) && tg_word_number(piece, number) &&
           *number <= most;
}

static bool read_sockets(struct tg_word *rest, struct tg_local_end *end)
{
    for (uint32_t i = 0; i < end->ranks; i++) {
        struct tg_word piece;
        uint64_t fd;
        if (!tg_word_next(rest, ',', &piece) || (i == end->rank) != tg_word_is(piece, "-"))
            return false;
        if (i != end->rank && (!tg_word_number(piece, &fd) || fd > 1 << 20))
            return false;
        end->socket[i] = i == end->rank ? -1 : (int)fd;
    }
    return rest->length == 0;
}

tg_status tg_local_read_end(const char *text, struct tg_local_end *end, struct tg_error *error)
{
    struct tg_word rest = tg_word_of(text);
    uint64_t version, rank, ranks, memory;
    for (uint32_t i = 0; i < TG_LOCAL_MAX_RANKS; i++)
        end->socket[i] = -1;
    bool good = read_number(&rest, ':', 1, &version) && version == 1 &&
                read_number(&rest, ':', TG_LOCAL_MAX_RANKS - 1, &rank) &&
                read_number(&rest, ':', TG_LOCAL_MAX_RANKS, &ranks) && rank < ranks &&
                read_number(&rest, ':', 1 << 20, &memory);
    if (good) {
        end->rank = (uint32_t)rank;
        end->ranks = (uint32_t)ranks;
        end->memory = (int)memory;
        good = read_sockets(&rest, end);
    }
    return good ? TG_OK
                : tg_error_set(error, TG_BAD_ARGUMENT,
                               TG_LOCAL_VARIABLE " is '%s', which no launcher wrote; unset it",
                               text);
}
