/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "serve/jobs.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    MOST_RUNNING = 2,
    MOST_WAITING = 16,
    MOST_KEPT = 32, /* finished ones */
    LOOK_MILLISECONDS = 100
};
#define MOST_KEPT_BYTES ((size_t)128 << 20) /* of their answers */

struct serve_jobs {
    pthread_mutex_t lock;   /* for everything below */
    struct serve_job *list; /* the newest first */
    unsigned last_number;
    bool ends;
    /* not changed */
    const char *program;
    int wake; /* an eventfd: there is something to do for the thread */
    pthread_t thread;
};

/* ── the thread ────────────────────────────────────────────────────────────────────────── */

static unsigned count(const struct serve_jobs *jobs, enum serve_job_state state)
{
    unsigned n = 0;
    for (const struct serve_job *job = jobs->list; job != NULL; job = job->next)
        n += job->state == state;
    return n;
}

/* The one that has waited for the longest time. */
static struct serve_job *next_waiting(const struct serve_jobs *jobs)
{
    struct serve_job *found = NULL;
    for (struct serve_job *job = jobs->list; job != NULL; job = job->next)
        if (job->state == SERVE_JOB_WAITS)
            found = job;
    return found;
}

static void look_at_all(struct serve_jobs *jobs)
{
    struct serve_job *next;
    for (struct serve_job *job = jobs->list; job != NULL; job = job->next) {
        if (jobs->ends)
            serve_job_stop(job, NULL);
        serve_job_look(job);
    }
    while (!jobs->ends && count(jobs, SERVE_JOB_RUNS) < MOST_RUNNING &&
           (next = next_waiting(jobs)) != NULL)
        serve_job_start(next, jobs->program);
}

/* Forgets the oldest finished jobs, those that nobody looks at now. */
static void forget(struct serve_jobs *jobs)
{
    unsigned kept = 0;
    size_t bytes = 0;
    for (struct serve_job **at = &jobs->list; *at != NULL;) {
        struct serve_job *job = *at;
        bool is_over = serve_job_is_over(job);
        kept += is_over;
        bytes += is_over ? job->out.room + job->err.room : 0;
        if (is_over && job->users == 0 && (kept > MOST_KEPT || bytes > MOST_KEPT_BYTES)) {
            *at = job->next;
            serve_job_free(job);
        } else {
            at = &job->next;
        }
    }
}

/* Which descriptors to wait for. */
static nfds_t collect(const struct serve_jobs *jobs, struct pollfd *fds)
{
    nfds_t n = 0;
    fds[n++] = (struct pollfd){.fd = jobs->wake, .events = POLLIN};
    for (const struct serve_job *job = jobs->list; job != NULL; job = job->next)
        if (job->state == SERVE_JOB_RUNS) {
            fds[n++] = (struct pollfd){.fd = job->child.out, .events = POLLIN};
            fds[n++] = (struct pollfd){.fd = job->child.err, .events = POLLIN};
        }
    return n;
}

/* Only this thread starts processes, closes their pipes and waits for them, so the descriptors stay open while it
 * waits without the lock. */
static void *work(void *context)
{
    struct serve_jobs *jobs = context;
    struct pollfd fds[1 + 2 * MOST_RUNNING];
    pthread_mutex_lock(&jobs->lock);
    for (;;) {
        look_at_all(jobs);
        forget(jobs);
        nfds_t n = collect(jobs, fds);
        if (jobs->ends && n == 1)
            break;
        pthread_mutex_unlock(&jobs->lock);
        uint64_t woken;
        /* Without a job nothing changes until somebody asks. */
        if (poll(fds, n, n > 1 ? LOOK_MILLISECONDS : -1) > 0 && fds[0].revents != 0)
            (void)!read(jobs->wake, &woken, sizeof woken);
        pthread_mutex_lock(&jobs->lock);
    }
    pthread_mutex_unlock(&jobs->lock);
    return NULL;
}

static void wake(struct serve_jobs *jobs)
{
    (void)!write(jobs->wake, &(uint64_t){1}, sizeof(uint64_t));
}

struct serve_jobs *serve_jobs_start(const char *program)
{
    struct serve_jobs *jobs = calloc(1, sizeof *jobs);
    if (jobs == NULL)
        return NULL;
    jobs->program = program;
    jobs->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&jobs->lock, NULL);
    if (jobs->wake >= 0 && pthread_create(&jobs->thread, NULL, work, jobs) == 0)
        return jobs;
    if (jobs->wake >= 0)
        close(jobs->wake);
    pthread_mutex_destroy(&jobs->lock);
    free(jobs);
    return NULL;
}

void serve_jobs_stop(struct serve_jobs *jobs)
{
    if (jobs == NULL)
        return;
    pthread_mutex_lock(&jobs->lock);
    jobs->ends = true;
    pthread_mutex_unlock(&jobs->lock);
    wake(jobs);
    pthread_join(jobs->thread, NULL);
}

void serve_jobs_free(struct serve_jobs *jobs)
{
    if (jobs == NULL)
        return;
    while (jobs->list != NULL) {
        struct serve_job *job = jobs->list;
        jobs->list = job->next;
        serve_job_free(job);
    }
    close(jobs->wake);
    pthread_mutex_destroy(&jobs->lock);
    free(jobs);
}

/* ── the list ──────────────────────────────────────────────────────────────────────────── */

static bool is_same(const struct serve_job *a, const struct serve_job *b)
{
    if (a->generation != b->generation || a->command.n != b->command.n)
        return false;
    for (unsigned i = 0; i < a->command.n; i++)
        if (strcmp(a->command.argv[i], b->command.argv[i]) != 0)
            return false;
    return true;
}

/* One that was asked before, and that has or will have an answer. */
static struct serve_job *find_same(const struct serve_jobs *jobs, const struct serve_job *wanted)
{
    for (struct serve_job *job = jobs->list; job != NULL; job = job->next)
        if ((job->state == SERVE_JOB_DONE || !serve_job_is_over(job)) && !job->is_cancelled &&
            is_same(job, wanted))
            return job;
    return NULL;
}

struct serve_job *serve_jobs_add(struct serve_jobs *jobs, struct serve_job *job)
{
    pthread_mutex_lock(&jobs->lock);
    struct serve_job *taken = find_same(jobs, job);
    if (taken == NULL && !jobs->ends && count(jobs, SERVE_JOB_WAITS) < MOST_WAITING) {
        taken = job;
        job->number = ++jobs->last_number;
        job->next = jobs->list;
        jobs->list = job;
        wake(jobs);
    }
    if (taken != job)
        serve_job_free(job);
    if (taken != NULL)
        taken->users++;
    pthread_mutex_unlock(&jobs->lock);
    return taken;
}

struct serve_job *serve_jobs_find(struct serve_jobs *jobs, unsigned number, bool cancels)
{
    struct serve_job *job;
    pthread_mutex_lock(&jobs->lock);
    for (job = jobs->list; job != NULL && job->number != number; job = job->next) {
    }
    if (job != NULL)
        job->users++;
    if (job != NULL && cancels) {
        serve_job_stop(job, NULL);
        wake(jobs);
    }
    pthread_mutex_unlock(&jobs->lock);
    return job;
}

bool serve_jobs_write(struct serve_jobs *jobs, const struct serve_job *job, FILE *file)
{
    pthread_mutex_lock(&jobs->lock);
    serve_job_write(job, file);
    bool is_done = job->state == SERVE_JOB_DONE;
    pthread_mutex_unlock(&jobs->lock);
    return is_done;
}

void serve_jobs_give_back(struct serve_jobs *jobs, struct serve_job *job)
{
    pthread_mutex_lock(&jobs->lock);
    job->users--;
    pthread_mutex_unlock(&jobs->lock);
}
