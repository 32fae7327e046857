/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The questions that were asked: each is a process of the command line. Two run at a time, the others wait; a question
 * that was asked before, of files that did not change since, is not asked again. One thread starts the processes, reads
 * what they print, ends them when their time is over, and waits for them. Any thread may call these functions.
 */
#ifndef TG_SERVE_JOBS_H
#define TG_SERVE_JOBS_H

#include "serve/job.h"

struct serve_jobs;

/* `program` is the command line's, which must outlive the jobs. NULL: no memory or no thread. */
struct serve_jobs *serve_jobs_start(const char *program);
/* Ends all processes; from then on no question is taken. NULL is allowed. */
void serve_jobs_stop(struct serve_jobs *jobs);
/* Behind serve_jobs_stop, when nobody uses a job any more. NULL is allowed. */
void serve_jobs_free(struct serve_jobs *jobs);

/* Takes a job, with its command and generation, or forgets it and finds the same one that was asked before. The caller
 * gives back what is returned. NULL: too many wait. */
struct serve_job *serve_jobs_add(struct serve_jobs *jobs, struct serve_job *job);
/* The job of that number, which the caller gives back; `cancels`: it is told to end. NULL: there is none. */
struct serve_job *serve_jobs_find(struct serve_jobs *jobs, unsigned number, bool cancels);
void serve_jobs_give_back(struct serve_jobs *jobs, struct serve_job *job);

/* serve_job_write under the lock. True: the job is done, and what it has printed (`out`) changes no more. */
bool serve_jobs_write(struct serve_jobs *jobs, const struct serve_job *job, FILE *file);

#endif
