/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting the ranks of a job on this machine, without MPI, as `taskglass run --ranks` does. Each rank is
 * a process that runs the same command; they find each other by tg_comm_open (comm.h).
 */
#ifndef TASKGLASS_JOB_H
#define TASKGLASS_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/api.h>
#include <taskglass/settings.h>
#include <taskglass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* True if this process is one of several ranks, or the setting `comm` says so: mpirun or tg_job_launch
 * has started it. */
TG_API bool tg_job_is_rank(const struct tg_settings *settings);

/* What tg_job_launch starts. */
struct tg_job_config {
    uint32_t ranks;          /* from 1 to TG_COMM_MAX_RANKS */
    const char *program;     /* path; NULL: the program that runs */
    const char *const *argv; /* its command line, with a NULL at the end */
    /* Returns the number of a signal that the launcher was asked to end with; 0: none. It is passed on to
     * the ranks, which end by themselves. NULL: nobody asks. */
    int (*signal)(void *context);
    void *context;
};

/* One rank that has ended. */
struct tg_job_exit {
    uint32_t rank;
    int64_t pid;
    int code;   /* exit code, if signal is 0 */
    int signal; /* that killed it; 0: none */
};

/* How the ranks ended. */
struct tg_job_result {
    int code;                 /* the worst exit code; 3 if a signal ended a rank */
    uint32_t killed;          /* ranks that a signal ended although nobody had asked them to */
    struct tg_job_exit first; /* the first of these */
    uint32_t stopped;         /* ranks that did not end by themselves and were killed at last */
    int rank0_signal;         /* that ended rank 0, which prints for all; 0: none did */
    char output_dir[4096];    /* that the ranks shared, if they came so far; else "" */
};

/*
 * Starts the ranks, waits until all have ended. The standard streams of rank 0 are the caller's; what the
 * others print goes to the caller's standard error, each line with "rank N: " in front. If a rank dies,
 * the others end by themselves; those that do not within 10 s are asked, then killed. Then ranks.json is
 * completed with who was killed by what, and recordings of killed ranks are recovered.
 *
 * The calling process should have no other children and waits in this function. BAD_ARGUMENT: `ranks`;
 * IO_ERROR, NO_MEMORY: not all ranks could be started; those that were have been ended.
 */
TG_API tg_status tg_job_launch(const struct tg_job_config *launch, struct tg_job_result *result,
                               struct tg_error *error);

/* How the process of a rank ended, as far as somebody saw it. */
struct tg_job_ending {
    bool is_gone;     /* it does not run any more */
    int code;         /* its exit code, or -1: not known */
    int signal;       /* that ended it; 0: none, or not known */
    bool was_first;   /* if neither is known: it ended before the other ranks of its machine */
    bool was_stopped; /* the signal was the launcher's, because the rank did not end by itself */
};

/*
 * For the directory of a job whose ranks could not say how they ended: writes into ranks.json what is known
 * about those that have none of their own words there, and recovers their recordings. `ending` has a
 * place for each of `ranks` ranks. Does what it can: a directory without ranks.json stays as it is. True if it
 * has changed ranks.json.
 */
TG_API bool tg_job_complete(const char *dir, const struct tg_job_ending *ending, uint32_t ranks);

#ifdef __cplusplus
}
#endif
#endif
