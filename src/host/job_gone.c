/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which ranks are gone, without their help. mpirun tells a rank to stop because another one died, but not
 * which one; the ranks told each other their processes when they met.
 */
#define _GNU_SOURCE 1
#include "host/job_gone.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The letter after the name in /proc/PID/stat; 0: there is no such process. */
static char state_of(uint64_t pid)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return '\0';
    const char *name_end = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    fclose(file);
    return name_end && name_end[1] == ' ' ? name_end[2] : '\0';
}

bool tg_process_is_gone(uint64_t pid)
{
    if (pid == 0 || pid > INT32_MAX)
        return false;
    if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
        return true;
    char state = state_of(pid);
    return state == 'Z' || state == 'X';
}

void tg_job_find_gone(struct tg_job *job, tg_status status, const char *text)
{
    struct tg_ranks_rank *own = &job->all[job->rank];
    for (uint32_t r = 0; r < job->ranks; r++) {
        struct tg_ranks_rank *rank = &job->all[r];
        if (r == job->rank || rank->pid == 0)
            continue;
        if (strcmp(rank->host, own->host) == 0 && tg_process_is_gone(rank->pid)) {
            job->lost[r] = true;
            snprintf(rank->error, sizeof rank->error, "its process, %llu on %.60s, is gone",
                     (unsigned long long)rank->pid, rank->host);
        } else if (rank->status == TG_OK) {
            rank->status = TG_CANCELLED;
            snprintf(rank->error, sizeof rank->error, "it did not say how it ended");
        }
    }
    own->status = status;
    snprintf(own->error, sizeof own->error, "%s", status == TG_OK ? "" : text);
}
