/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts taskglass-watch. mpirun of MPICH kills all ranks as soon as one dies, so that none of them can
 * report; this process is in a session of its own and stays.
 */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/job_watch.h"
#include "host/paths.h"

static void free_words(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}

/* The program, the directory, and the ranks on the machine of this one. */
static char **make_words(const struct tg_job *job, const char *program)
{
    char **words = calloc((size_t)job->ranks + 3, sizeof *words);
    const char *host = job->all[job->rank].host;
    size_t n = 2;
    if (!words)
        return NULL;
    words[0] = strdup(program);
    words[1] = realpath(job->dir, NULL);
    bool is_good = words[0] && words[1];
    for (uint32_t r = 0; r < job->ranks && is_good; r++)
        if (strcmp(job->all[r].host, host) == 0)
            is_good = asprintf(&words[n++], "%u:%llu", r, (unsigned long long)job->all[r].pid) > 0;
    if (is_good)
        return words;
    free_words(words);
    return NULL;
}

/* A child of a child, so that the program never has a child that it does not know. */
static void start(char **words)
{
    pid_t pid = fork();
    if (pid == 0) {
        if (setsid() < 0 || fork() != 0)
            _exit(0);
        execv(words[0], words);
        _exit(127);
    }
    if (pid > 0)
        (void)waitpid(pid, NULL, 0);
}

void tg_job_start_watching(const struct tg_job *job)
{
    struct tg_error error;
    char *program = NULL;
    if (strcmp(job->info.transport, "mpi") != 0 || job->all[job->rank].local_rank != 0 ||
        tg_paths_find("taskglass-watch", &program, &error) != TG_OK)
        return;
    char **words = make_words(job, program);
    if (words)
        start(words);
    free_words(words);
    free(program);
}
