/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the ranks of a job as processes of this machine and waits for them.
 *
 *     launcher ── fork, exec ──► rank 0      standard streams are the launcher's own
 *              ── fork, exec ──► rank N      both streams go through a pipe, and get "rank N: " in front
 *              ◄── a line ──────  rank 0     the directory, so that the launcher can complete ranks.json
 *
 * The ranks talk to each other without the launcher (src/comm) and notice by themselves if one dies.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <taskglass/comm.h>
#include <taskglass/job.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limit.h"
#include "comm/comm.h"
#include "host/job_launch.h"
#include "host/job_lines.h"
#include "host/text.h"

/* After the first rank that failed, the others have so long until the next ends; then they are asked, and
 * after as long again killed. */
#define PATIENCE 10.0
/* How long to wait at most for a stream after its process has ended: another process may hold it. */
#define LAST_LINES 0.5
enum { LOOK_MS = 50, MORE_FDS = 16 };

struct rank {
    pid_t pid; /* 0: it has not started; -1: it has ended */
    int status;
    bool has_ended, was_stopped;
    struct tg_lines lines; /* what it prints; not rank 0's */
};

struct launcher {
    const struct tg_job_config *launch;
    struct rank *rank;
    int *fds; /* that the rank which is being started keeps: a few, and some for each rank */
    uint32_t started, running;
    int told[2];   /* a pipe: rank 0 tells the directory */
    int passed_on; /* the signal that the ranks got; 0: none */
    bool has_failed;
    double ended_at; /* when the last rank ended */
    enum { WAITS, ASKED, KILLED } step;
    struct tg_job_result *result;
};

/* ── in the child ──────────────────────────────────────────────────────────────────────── */

struct variables {
    char **all;        /* for execve; those of this process, and two more */
    char *rank, *tell; /* the two */
};

static void free_variables(struct variables *variables)
{
    free(variables->all);
    free(variables->rank);
    free(variables->tell);
}

static bool make_variables(const char *local, int told, struct variables *made)
{
    size_t n = 0, kept = 0;
    while (environ && environ[n])
        n++;
    char **own = calloc(n + 3, sizeof *own);
    *made = (struct variables){.all = own,
                               .rank = tg_text_format("TASKGLASS_LOCAL_RANK=%s", local),
                               .tell = tg_text_format(TG_LAUNCHER_VARIABLE "=%d", told)};
    if (!own || !made->rank || !made->tell) {
        free_variables(made);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "TASKGLASS_LOCAL_RANK=", strlen("TASKGLASS_LOCAL_RANK=")) != 0 &&
            strncmp(environ[i], TG_LAUNCHER_VARIABLE "=", strlen(TG_LAUNCHER_VARIABLE "=")) != 0)
            own[kept++] = environ[i];
    own[kept++] = made->rank;
    own[kept++] = made->tell;
    own[kept] = NULL;
    return true;
}

static void inherit(int fd)
{
    int flags = fcntl(fd, F_GETFD);
    if (flags >= 0)
        (void)fcntl(fd, F_SETFD, flags & ~FD_CLOEXEC);
}

/* Never returns. A process whose launcher was killed is told to end as by the user. The launcher may be
 * process 1, as in a container. */
static void become(const struct launcher *l, pid_t launcher, uint32_t n_fds, char **variables,
                   int output)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != launcher)
        _exit(127);
    for (uint32_t i = 0; i < n_fds; i++)
        inherit(l->fds[i]);
    inherit(l->told[1]);
    if (output >= 0) {
        int none = open("/dev/null", O_RDONLY);
        if (none < 0 || dup2(none, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
            dup2(output, STDERR_FILENO) < 0)
            _exit(127);
        close(none);
    }
    execve(l->launch->program ? l->launch->program : "/proc/self/exe",
           (char *const *)l->launch->argv, variables);
    _exit(127);
}

/* ── starting ──────────────────────────────────────────────────────────────────────────── */

static tg_status start_one(struct launcher *l, const struct tg_local_job *job, uint32_t r,
                           struct tg_error *error)
{
    char text[4096];
    int output[2] = {-1, -1};
    uint32_t n = tg_local_job_pass(job, r, l->fds, l->launch->ranks + MORE_FDS, text);
    struct variables variables;
    if (!make_variables(text, l->told[1], &variables))
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory for the variables of a rank");
    if (r > 0 && pipe2(output, O_CLOEXEC) != 0) {
        free_variables(&variables);
        return tg_error_set(error, TG_IO_ERROR, "cannot make a pipe for rank %u: %s", r,
                            strerror(errno));
    }
    fflush(NULL);
    pid_t launcher = getpid(), pid = fork();
    int cause = errno;
    if (pid == 0)
        become(l, launcher, n, variables.all, output[1]);
    free_variables(&variables);
    if (output[1] >= 0)
        close(output[1]);
    tg_lines_start(&l->rank[r].lines, output[0], r);
    if (pid < 0) {
        tg_lines_end(&l->rank[r].lines);
        return tg_error_set(error, TG_NO_MEMORY, "cannot start rank %u: %s", r, strerror(cause));
    }
    l->rank[r].pid = pid;
    l->started++;
    l->running++;
    return TG_OK;
}

static tg_status start_all(struct launcher *l, struct tg_error *error)
{
    struct tg_local_job *job;
    tg_status status = tg_local_job_create(l->launch->ranks, &job, error);
    if (status != TG_OK)
        return status;
    for (uint32_t r = 0; r < l->launch->ranks && status == TG_OK; r++)
        status = start_one(l, job, r, error);
    tg_local_job_destroy(job); /* so that the end of a rank's sockets is seen by the others */
    return status;
}

/* ── waiting ───────────────────────────────────────────────────────────────────────────── */

static void signal_all(const struct launcher *l, int number)
{
    for (uint32_t r = 0; r < l->started; r++)
        if (!l->rank[r].has_ended)
            (void)kill(l->rank[r].pid, number);
}

static void note_signal(struct launcher *l, uint32_t r, int number)
{
    struct tg_job_result *result = l->result;
    if (l->step == KILLED && number == SIGKILL) {
        l->rank[r].was_stopped = true;
        result->stopped++;
        return;
    }
    if (l->passed_on != 0 && number == l->passed_on)
        return; /* it ended as it was asked to */
    l->rank[r].was_stopped = l->step != WAITS && number == SIGTERM;
    if (l->rank[r].was_stopped)
        return;
    if (result->killed++ == 0)
        result->first =
            (struct tg_job_exit){.rank = r, .pid = l->rank[r].pid, .code = 0, .signal = number};
}

static void note_end(struct launcher *l, uint32_t r, int status)
{
    struct rank *rank = &l->rank[r];
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 3;
    rank->has_ended = true;
    rank->status = status;
    l->running--;
    l->ended_at = tg_limit_now();
    l->has_failed = l->has_failed || code != 0;
    if (code > l->result->code)
        l->result->code = code;
    if (WIFSIGNALED(status) && r == 0)
        l->result->rank0_signal = WTERMSIG(status);
    if (WIFSIGNALED(status))
        note_signal(l, r, WTERMSIG(status));
}

static void collect(struct launcher *l)
{
    for (uint32_t r = 0; r < l->started; r++) {
        int status;
        if (!l->rank[r].has_ended && waitpid(l->rank[r].pid, &status, WNOHANG) == l->rank[r].pid)
            note_end(l, r, status);
    }
}

static void obey(struct launcher *l)
{
    int number = l->launch->signal ? l->launch->signal(l->launch->context) : 0;
    if (number == 0 || l->passed_on != 0)
        return;
    l->passed_on = number;
    signal_all(l, number);
    l->ended_at = tg_limit_now();
    l->has_failed = true;
}

/* Ends those that do not end by themselves although the job has failed. */
static void hurry(struct launcher *l)
{
    if (!l->has_failed || l->step == KILLED || tg_limit_now() - l->ended_at < PATIENCE)
        return;
    l->step = l->step == WAITS ? ASKED : KILLED;
    l->ended_at = tg_limit_now();
    signal_all(l, l->step == ASKED ? SIGTERM : SIGKILL);
}

static void read_lines(struct launcher *l, struct pollfd *polls, int timeout)
{
    nfds_t n = 0;
    for (uint32_t r = 0; r < l->started; r++)
        if (l->rank[r].lines.fd >= 0)
            polls[n++] = (struct pollfd){.fd = l->rank[r].lines.fd, .events = POLLIN};
    if (poll(polls, n, timeout) <= 0)
        return;
    for (uint32_t r = 0, i = 0; r < l->started; r++)
        if (l->rank[r].lines.fd >= 0 && polls[i++].revents != 0)
            tg_lines_read(&l->rank[r].lines);
}

static bool has_lines(const struct launcher *l)
{
    for (uint32_t r = 0; r < l->started; r++)
        if (l->rank[r].lines.fd >= 0)
            return true;
    return false;
}

static void wait_for_all(struct launcher *l, struct pollfd *polls)
{
    while (l->running > 0) {
        read_lines(l, polls, LOOK_MS);
        collect(l);
        obey(l);
        hurry(l);
    }
    while (has_lines(l) && tg_limit_now() - l->ended_at < LAST_LINES)
        read_lines(l, polls, LOOK_MS);
    for (uint32_t r = 0; r < l->started; r++)
        tg_lines_end(&l->rank[r].lines);
}

/* ── afterwards ────────────────────────────────────────────────────────────────────────── */

static void learn_directory(struct launcher *l)
{
    struct tg_job_result *result = l->result;
    ssize_t got = read(l->told[0], result->output_dir, sizeof result->output_dir - 1);
    result->output_dir[got > 0 ? got : 0] = '\0';
    result->output_dir[strcspn(result->output_dir, "\n")] = '\0';
}

static void complete(struct launcher *l)
{
    struct tg_job_ending *ending = calloc(l->launch->ranks, sizeof *ending);
    learn_directory(l);
    if (!ending || !*l->result->output_dir) {
        free(ending);
        return;
    }
    for (uint32_t r = 0; r < l->started; r++) {
        int status = l->rank[r].status, number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        ending[r] = (struct tg_job_ending){.is_gone = true,
                                           .code = WIFEXITED(status) ? WEXITSTATUS(status) : 3,
                                           .signal = number == l->passed_on ? 0 : number,
                                           .was_stopped = l->rank[r].was_stopped};
    }
    (void)tg_job_complete(l->result->output_dir, ending, l->launch->ranks);
    free(ending);
}

static void stop_started(struct launcher *l, struct pollfd *polls)
{
    signal_all(l, SIGKILL);
    l->step = KILLED;
    wait_for_all(l, polls);
}

tg_status tg_job_launch(const struct tg_job_config *launch, struct tg_job_result *result,
                        struct tg_error *error)
{
    TG_REFUSE_NULL(error, launch);
    TG_REFUSE_NULL(error, result);
    TG_REFUSE_NULL_AS(error, launch->argv, "launch->argv");
    if (launch->ranks == 0 || launch->ranks > TG_COMM_MAX_RANKS)
        return tg_error_set(error, TG_BAD_ARGUMENT, "--ranks %u: from 1 to %d", launch->ranks,
                            TG_COMM_MAX_RANKS);
    *result = (struct tg_job_result){0};
    struct launcher l = {.launch = launch, .result = result, .told = {-1, -1}};
    struct pollfd *polls = calloc(launch->ranks, sizeof *polls);
    l.rank = calloc(launch->ranks, sizeof *l.rank);
    l.fds = calloc(launch->ranks + MORE_FDS, sizeof *l.fds);
    tg_status status = TG_OK;
    if (!l.rank || !l.fds || !polls)
        status =
            tg_error_set(error, TG_NO_MEMORY, "out of host memory for %u ranks", launch->ranks);
    else if (pipe2(l.told, O_CLOEXEC | O_NONBLOCK) != 0)
        status = tg_error_set(error, TG_IO_ERROR, "cannot make a pipe: %s", strerror(errno));
    if (status == TG_OK) {
        status = start_all(&l, error);
        if (status == TG_OK)
            wait_for_all(&l, polls);
        else
            stop_started(&l, polls);
        if (status == TG_OK)
            complete(&l);
        close(l.told[0]);
        close(l.told[1]);
    }
    free(l.rank);
    free(l.fds);
    free(polls);
    return status;
}

void tg_job_tell_launcher(const char *dir)
{
    const char *text = secure_getenv(TG_LAUNCHER_VARIABLE);
    char *here = dir[0] == '/' ? NULL : getcwd(NULL, 0);
    char *line = tg_text_format("%s%s%s\n", here ? here : "", here ? "/" : "", dir);
    long fd = text ? strtol(text, NULL, 10) : -1;
    if (line && fd > STDERR_FILENO && fd <= INT_MAX)
        (void)!write((int)fd, line, strlen(line));
    free(line);
    free(here);
}
