/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which other processes of this machine are still there. MPI does not tell that a rank has died, so this
 * end looks now and then: at the ranks of the same machine that see the same process numbers.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "mpi/mpi_state.h"

#define LOOK_SECONDS 0.25
/* Nobody polls less often than once in a millisecond. */
enum { POLLS_PER_LOOK = 32 };
/* What a process sent before it ended may still be on its way, a word of farewell among it. */
#define FAREWELL_SECONDS 0.5

struct introduction {
    int64_t rank, pid, name_space;
};

double tg_mpi_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Ranks in different containers of a machine have different ones, and other numbers for processes. */
static int64_t name_space(void)
{
    struct stat info;
    return stat("/proc/self/ns/pid", &info) == 0 ? (int64_t)info.st_ino : 0;
}

bool tg_mpi_meet_peers(struct tg_mpi *mpi, MPI_Comm local)
{
    struct introduction mine = {mpi->rank, getpid(), name_space()};
    struct introduction *all = calloc(mpi->local_ranks, sizeof *all);
    if (!all)
        return false;
    bool is_good = MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, local) ==
                   MPI_SUCCESS;
    for (uint32_t i = 0; is_good && i < mpi->local_ranks; i++)
        if (all[i].rank >= 0 && all[i].rank < mpi->ranks && all[i].rank != mpi->rank &&
            all[i].name_space == mine.name_space && mine.name_space != 0)
            mpi->peer[all[i].rank].pid = all[i].pid;
    free(all);
    return is_good;
}

/* A process that has ended stays in the table until its parent asks for its status. */
static bool is_zombie(int64_t pid)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    const char *end = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    fclose(file);
    return end && end[1] == ' ' && (end[2] == 'Z' || end[2] == 'X');
}

static bool is_gone(int64_t pid)
{
    return (kill((pid_t)pid, 0) != 0 && errno == ESRCH) || is_zombie(pid);
}

void tg_mpi_look_at_peers(struct tg_mpi *mpi)
{
    if (++mpi->polls % POLLS_PER_LOOK != 0) /* the clock costs as much as a poll */
        return;
    double now = tg_mpi_now();
    if (now - mpi->looked_at < LOOK_SECONDS)
        return;
    mpi->looked_at = now;
    for (uint32_t r = 0; r < mpi->ranks; r++) {
        struct tg_mpi_peer *peer = &mpi->peer[r];
        char why[120];
        if (peer->pid <= 0 || peer->lost || !is_gone(peer->pid))
            continue;
        if (peer->gone_since == 0)
            peer->gone_since = now;
        snprintf(why, sizeof why, "its process, %lld, is gone", (long long)peer->pid);
        if (now - peer->gone_since >= FAREWELL_SECONDS)
            tg_mpi_lose(mpi, r, why);
    }
}
