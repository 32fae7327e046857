/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limit.h"

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"

/* A limit is counted in this many steps or more, so that one step is a small part of it. */
#define STEPS 16
#define LONGEST_TICK 0.1
#define SHORTEST_TICK 1e-3
/* A step that took longer than this many ticks was interrupted. */
#define MOST_TICKS 2
/* After this time without a restart the other process is looked at: seconds, or a part of the limit. */
#define QUIET_SECONDS 0.5
#define QUIET_PART 0.25
/* A child that is found stopped more often than this without a restart stops on purpose. */
#define MOST_STOPS 3

double tg_limit_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ── the other process ─────────────────────────────────────────────────────────────────── */

/* Reads the beginning of a small file of /proc. False if it cannot be read. */
static bool read_proc(const char *path, char *text, size_t room)
{
    ssize_t size;
    int fd;
    if (tg_file_open(path, TG_LINKS_FOLLOW, false, &fd, NULL) != 0)
        return false;
    size = read(fd, text, room - 1);
    close(fd);
    text[size > 0 ? size : 0] = '\0';
    return size > 0;
}

/* What follows `name` in /proc/PID/status; "" if there is no such line. */
static const char *line_of(const char *status, const char *name)
{
    const char *line = strstr(status, name);
    return line ? line + strlen(name) : "";
}

/* Calls `each` for every thread of the process, until it returns false. */
static void for_each_thread(pid_t pid, bool (*each)(const char *thread, void *context),
                            void *context)
{
    char path[320];
    struct dirent *entry;
    DIR *threads;
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    threads = opendir(path);
    while (threads != NULL && (entry = readdir(threads)) != NULL) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
            continue;
        snprintf(path, sizeof path, "/proc/%ld/task/%s", (long)pid, entry->d_name);
        if (!each(path, context))
            break;
    }
    if (threads != NULL)
        closedir(threads);
}

/* A thread's schedstat: nanoseconds on a CPU, nanoseconds in the queue for one, turns on a CPU. */
static bool add_cpu_time(const char *thread, void *context)
{
    struct tg_cpu_time *sum = context;
    char path[340], text[128], *end;
    snprintf(path, sizeof path, "%s/schedstat", thread);
    if (!read_proc(path, text, sizeof text))
        return true; /* the thread may have ended */
    sum->got_ns += strtoull(text, &end, 10);
    sum->waited_ns += strtoull(end, &end, 10);
    sum->turns += strtoull(end, NULL, 10);
    sum->known = true;
    return true;
}

static double seconds_between(uint64_t last_ns, uint64_t now_ns)
{
    return now_ns > last_ns ? (double)(now_ns - last_ns) * 1e-9 : 0; /* threads may have ended */
}

struct search {
    char state;
    bool found;
};

/* The state of a thread follows its name, which is in parentheses and may contain any character. */
static bool look_for_state(const char *thread, void *context)
{
    struct search *search = context;
    char path[340], text[512];
    const char *name_end;
    snprintf(path, sizeof path, "%s/stat", thread);
    name_end = read_proc(path, text, sizeof text) ? strrchr(text, ')') : NULL;
    search->found = name_end != NULL && name_end[1] == ' ' && name_end[2] == search->state;
    return !search->found;
}

static bool has_thread_in_state(pid_t pid, char state)
{
    struct search search = {.state = state};
    for_each_thread(pid, look_for_state, &search);
    return search.found;
}

/* A control group may be frozen (systemctl freeze, docker pause). The process then waits in the function
 * of the kernel that would handle a signal; nothing else waits there that is not stopped. */
static bool is_frozen(pid_t pid)
{
    static const char *const places[] = {"__refrigerator", "do_freezer_trap", "get_signal"};
    char path[64], place[64];
    bool frozen = false;
    snprintf(path, sizeof path, "/proc/%ld/wchan", (long)pid);
    if (!read_proc(path, place, sizeof place))
        return false;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        frozen |= strcmp(place, places[i]) == 0;
    return frozen;
}

/*
 * The part of a step in which the process wanted a CPU and got none. What its threads have waited counts
 * as lost only as far as all of them together got less than one CPU: with more threads than CPUs some of
 * them always wait.
 *
 * The system adds up what a thread has waited when the wait is over. Until then the thread shows by its
 * state that it waits, if no thread of the process had a turn since the last look. When the wait is over,
 * its sum may be longer than the step, and takes back what earlier steps have counted.
 */
static double starved(struct tg_limit *limit, pid_t pid, double step)
{
    struct tg_cpu_time now = {0}, *last = &limit->last;
    double got, waited, lost = limit->lost;
    bool was_known = last->known, no_turn;
    for_each_thread(pid, add_cpu_time, &now);
    got = seconds_between(last->got_ns, now.got_ns);
    waited = fmax(0, seconds_between(last->waited_ns, now.waited_ns) - limit->pending);
    no_turn = now.turns == last->turns;
    *last = now;
    if (!was_known || !now.known)
        return 0;
    if (no_turn && has_thread_in_state(pid, 'R')) {
        waited = step;
        limit->pending += step;
    } else if (!no_turn) {
        limit->pending = 0;
    }
    limit->without_cpu += step - fmin(step, got);
    limit->lost = fmin(limit->without_cpu, lost + waited);
    return limit->lost - lost;
}

pid_t tg_limit_parent_of(pid_t pid)
{
    char path[64], status[1024];
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    if (!read_proc(path, status, sizeof status))
        return 0;
    return (pid_t)strtol(line_of(status, "\nPPid:\t"), NULL, 10);
}

/* The part of a step in which the process could run. */
static double part_it_ran(struct tg_limit *limit, pid_t pid, double step)
{
    pid_t parent = limit->parent != 0 ? limit->parent : getpid();
    char path[64], status[1024];
    char state;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    if (!read_proc(path, status, sizeof status) ||
        strtol(line_of(status, "\nPPid:\t"), NULL, 10) != (long)parent)
        return step;
    state = line_of(status, "\nState:\t")[0];
    if (state == 'T') {
        if (parent != getpid())
            kill(parent, SIGCONT); /* they stop together, and it continues its child */
        kill(pid, SIGCONT);
        return limit->stops++ < MOST_STOPS ? 0 : step;
    }
    if (state == 't' || is_frozen(pid) ||
        (strtol(line_of(status, "\nTracerPid:\t"), NULL, 10) != 0 && has_thread_in_state(pid, 't')))
        return 0;
    return step - starved(limit, pid, step);
}

/* ── counting ──────────────────────────────────────────────────────────────────────────── */

void tg_limit_start(struct tg_limit *limit, double seconds)
{
    *limit = (struct tg_limit){.seconds = seconds, .at = tg_limit_now()};
}

double tg_limit_tick(const struct tg_limit *limit)
{
    return fmax(SHORTEST_TICK, fmin(LONGEST_TICK, limit->seconds / STEPS));
}

int tg_limit_poll(const struct tg_limit *limit)
{
    return (int)ceil(tg_limit_tick(limit) * 1e3);
}

bool tg_limit_look(struct tg_limit *limit, pid_t pid)
{
    double now = tg_limit_now();
    double step = fmin(now - limit->at, MOST_TICKS * tg_limit_tick(limit));
    limit->at = now;
    if (pid != 0 && limit->counted >= fmin(QUIET_SECONDS, QUIET_PART * limit->seconds))
        step = part_it_ran(limit, pid, step);
    limit->counted += step;
    return limit->counted > limit->seconds;
}
