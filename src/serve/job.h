/* SPDX-License-Identifier: Apache-2.0 */
/* One question and what came of it. jobs.c has the list of them, and the lock for all members. */
#ifndef TG_SERVE_JOB_H
#define TG_SERVE_JOB_H

#include "serve/child.h"
#include "serve/questions.h"
#include <stdint.h>

enum serve_job_state {
    SERVE_JOB_WAITS, /* for another one to end */
    SERVE_JOB_RUNS,
    SERVE_JOB_DONE,    /* it has given an answer */
    SERVE_JOB_STOPPED, /* somebody wanted no answer any more */
    SERVE_JOB_FAILED   /* there is no answer, and `error` says why */
};

/* What a process has printed, up to a limit. */
struct serve_output {
    char *bytes;
    size_t used, room;
};

struct serve_job {
    unsigned number;
    enum serve_job_state state;
    struct serve_command command;
    uint64_t generation; /* of the files that it is about */
    struct serve_child child;
    struct serve_output out, err;
    double began, ended; /* serve_now; 0: not yet */
    double told;         /* when it was asked to end; 0: it was not */
    bool is_cancelled, has_exited;
    char error[200];
    unsigned users; /* answers that show it */
    struct serve_job *next;
};

/* Starts the process. If that fails, the job has failed. */
void serve_job_start(struct serve_job *job, const char *program);
/* Takes what the process has printed, sees whether it has ended and whether its time is over. */
void serve_job_look(struct serve_job *job);
/* Ends it: first it is asked to, two seconds later it is killed. `error` is why; NULL: somebody cancelled it. */
void serve_job_stop(struct serve_job *job, const char *error);
bool serve_job_is_over(const struct serve_job *job);
void serve_job_free(struct serve_job *job);

/* Writes the job as JSON, up to its answer: what is missing is the answer, or null, and a '}'. */
void serve_job_write(const struct serve_job *job, FILE *file);

#endif
