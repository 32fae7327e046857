/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taskglass-watch DIR RANK:PID…: waits until these processes have ended, then completes the directory of the
 * job: what the ranks did not say because they were killed, and what is left of their recordings.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <taskglass/job.h>
#include <taskglass/ranks.h>
#include <time.h>
#include <unistd.h>

/* Where the system cannot tell when a process ends, look this often. */
enum { LOOK_MS = 100 };
enum { MOST_LOCAL = 4096 };

struct watched {
    uint32_t rank;
    pid_t pid;
    int fd; /* of the process; -1: look at its number */
    bool is_gone;
    unsigned order; /* 1: it went first, or together with others */
};

static bool read_one(const char *word, struct watched *one)
{
    char *end;
    errno = 0;
    unsigned long rank = strtoul(word, &end, 10);
    if (errno != 0 || end == word || *end != ':' || rank >= MOST_LOCAL)
        return false;
    const char *digits = end + 1;
    long pid = strtol(digits, &end, 10);
    if (errno != 0 || end == digits || *end != '\0' || pid <= 1 || pid > INT32_MAX)
        return false;
    *one = (struct watched){.rank = (uint32_t)rank, .pid = (pid_t)pid};
    one->fd = (int)syscall(SYS_pidfd_open, one->pid, 0);
    one->is_gone = one->fd < 0 && errno == ESRCH;
    return true;
}

static void look(struct watched *one, short seen)
{
    one->is_gone = one->fd >= 0 ? seen != 0 : kill(one->pid, 0) != 0 && errno == ESRCH;
}

/* Notes who has gone, and returns how many are left. */
static unsigned look_at_all(struct watched *all, nfds_t n, const struct pollfd *polls,
                            unsigned order)
{
    unsigned left = 0;
    for (nfds_t i = 0; i < n; i++) {
        if (!all[i].is_gone)
            look(&all[i], polls[i].revents);
        if (all[i].is_gone && all[i].order == 0)
            all[i].order = order;
        left += !all[i].is_gone;
    }
    return left;
}

static void wait_for_all(struct watched *all, nfds_t n, struct pollfd *polls)
{
    for (unsigned order = 1; look_at_all(all, n, polls, order) > 0; order++) {
        bool has_fds = true;
        for (nfds_t i = 0; i < n; i++) {
            polls[i] = (struct pollfd){.fd = all[i].is_gone ? -1 : all[i].fd, .events = POLLIN};
            has_fds = has_fds && (all[i].is_gone || all[i].fd >= 0);
        }
        (void)poll(polls, n, has_fds ? -1 : LOOK_MS);
    }
}

/* Says on standard error what is known, if somebody still reads it. */
static void report(const char *dir)
{
    struct tg_ranks *ranks;
    struct tg_ranks_rank rank;
    struct tg_error error;
    if (tg_ranks_open(dir, &ranks, &error) != TG_OK)
        return;
    for (uint32_t r = 0; tg_ranks_get(ranks, r, &rank); r++)
        if (rank.has_status && rank.status != TG_OK)
            fprintf(stderr, "taskglass: rank %u (pid %llu on %s): %s: %s\n", r,
                    (unsigned long long)rank.pid, rank.host, tg_status_name(rank.status),
                    rank.error);
    fprintf(stderr, "  files    %s\n", dir);
    tg_ranks_close(ranks);
}

static bool complete(const char *dir, const struct watched *all, size_t n)
{
    struct tg_job_ending *ending = calloc(MOST_LOCAL, sizeof *ending);
    unsigned first = 0;
    if (!ending)
        return false;
    for (size_t i = 0; i < n; i++)
        first = first == 0 || all[i].order < first ? all[i].order : first;
    for (size_t i = 0; i < n; i++)
        ending[all[i].rank] =
            (struct tg_job_ending){.is_gone = true, .code = -1, .was_first = all[i].order == first};
    bool changed = tg_job_complete(dir, ending, MOST_LOCAL);
    free(ending);
    return changed;
}

/* The arguments: the job's directory, then its ranks on this machine. */
static bool watch(char **argv, size_t n, struct watched *all, struct pollfd *polls)
{
    for (size_t i = 0; i < n; i++)
        if (!read_one(argv[i + 2], &all[i]))
            return false;
    wait_for_all(all, n, polls);
    if (complete(argv[1], all, n))
        report(argv[1]);
    return true;
}

int main(int argc, char **argv)
{
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    size_t n = argc > 2 ? (size_t)argc - 2 : 0;
    struct watched *all = calloc(n + 1, sizeof *all);
    struct pollfd *polls = calloc(n + 1, sizeof *polls);
    bool good = n > 0 && all && polls;
    if (!good)
        fputs("taskglass-watch is started by the library alone\n", stderr);
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        signal(ignored[i], SIG_IGN); /* they are for the ranks */
    good = good && watch(argv, n, all, polls);
    free(all);
    free(polls);
    return good ? 0 : 2;
}
