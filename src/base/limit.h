/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long one process waits for another before it gives up. A limit counts only time in which both
 * could run: the one that waits, and the one that it waits for.
 *
 *     the waiting process was stopped, suspended, or     it looks at the clock in small steps, and a step
 *     got no CPU                                         counts for little more than it should take
 *     the other one is held by a debugger, or frozen     the step does not count
 *     the other one, a child or a child's child, is      the step does not count; it is continued,
 *     stopped                                            because it stops only with this process
 *     it is found stopped again and again                the step counts: it stops itself, and would
 *                                                        never be late otherwise
 *     the other one's threads wanted a CPU and           the time that they waited for a CPU does not
 *     got none                                           count
 *     the other one sleeps, or computes                  the step counts
 *
 * The state of the other process comes from /proc. Where that cannot be read, only the first line of the
 * table applies. The clock is CLOCK_MONOTONIC, which stands still while the machine is suspended.
 */
#ifndef TG_BASE_LIMIT_H
#define TG_BASE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Of all threads of a process together. */
struct tg_cpu_time {
    bool known;
    uint64_t got_ns;    /* on a CPU */
    uint64_t waited_ns; /* for one; without waits that last */
    uint64_t turns;     /* how often a thread got one */
};

/* One thread uses it at a time. */
struct tg_limit {
    double seconds; /* the limit */
    double counted; /* of it, so far */
    double at;      /* the last look at the clock */
    pid_t parent;   /* of the other process: its number is not believed otherwise. 0: this process,
                     else a child of it */
    /* the other process, since the first look at it */
    struct tg_cpu_time last; /* at the last look */
    double without_cpu;      /* seconds in which it had no CPU */
    double lost;             /* of these, those in which it wanted one */
    double pending;          /* of these, those of a wait that is not over */
    uint64_t stops;          /* how often it was found stopped, and continued */
};

/* Seconds on the clock of all limits. */
double tg_limit_now(void);

/* The parent of a process; 0 if that is not known. */
pid_t tg_limit_parent_of(pid_t pid);

/* Begins to count, or begins again. */
void tg_limit_start(struct tg_limit *limit, double seconds);
/* Seconds after which to look again; also how long a step should take. */
double tg_limit_tick(const struct tg_limit *limit);
/* The same for poll(): milliseconds, at least 1. */
int tg_limit_poll(const struct tg_limit *limit);
/* Counts the time since the last look. Looks at the process `pid` only after some time without a
 * restart, because that costs some system calls per thread; 0: there is none to look at. True if the
 * limit is over. */
bool tg_limit_look(struct tg_limit *limit, pid_t pid);

#endif
