/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exchange with the other ranks that the user can end. tg_comm_exchange waits for ranks that may take
 * minutes to prepare, so a thread of its own calls it. If the user wants to stop, the thread has a moment
 * more, because the others were often told to stop too; then it is left behind with all that it uses.
 */
#define _GNU_SOURCE 1
#include "host/job_exchange.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/limit.h"
#include "comm/comm.h"

#define LOOK_NS 50000000L /* between two questions whether to go on */

/* Owned by whoever of the two comes last. */
struct exchange {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool is_done, is_left;
    struct tg_comm *comm;
    void *mine, *all;
    bool *lost;
    uint32_t size;
    double seconds;
    tg_status status;
    struct tg_error error;
};

static void destroy(struct exchange *x)
{
    if (!x)
        return;
    pthread_cond_destroy(&x->ended);
    pthread_mutex_destroy(&x->lock);
    free(x->mine);
    free(x->all);
    free(x->lost);
    free(x);
}

static struct exchange *create(struct tg_job *job, const void *mine, uint32_t size, double seconds)
{
    struct exchange *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    pthread_mutex_init(&x->lock, NULL);
    pthread_cond_init(&x->ended, NULL);
    x->comm = job->comm;
    x->size = size;
    x->seconds = seconds;
    x->mine = malloc(size);
    x->all = calloc(job->ranks, size);
    x->lost = calloc(job->ranks, sizeof *x->lost);
    if (!x->mine || !x->all || !x->lost) {
        destroy(x);
        return NULL;
    }
    memcpy(x->mine, mine, size);
    return x;
}

static void *work(void *argument)
{
    struct exchange *x = argument;
    tg_status status =
        tg_comm_exchange(x->comm, x->mine, x->size, x->all, x->lost, x->seconds, &x->error);
    pthread_mutex_lock(&x->lock);
    x->status = status;
    x->is_done = true;
    bool is_left = x->is_left;
    pthread_cond_signal(&x->ended);
    pthread_mutex_unlock(&x->lock);
    if (is_left)
        destroy(x);
    return NULL;
}

static void nap(struct exchange *x)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&x->ended, &x->lock, &until);
}

/* False: the thread goes on without us. */
static bool wait_for(struct tg_job *job, struct exchange *x)
{
    double stopped = 0;
    pthread_mutex_lock(&x->lock);
    while (!x->is_done && !x->is_left) {
        nap(x);
        pthread_mutex_unlock(&x->lock);
        if (stopped == 0 && job->goes_on && !job->goes_on(job->context))
            stopped = tg_limit_now();
        pthread_mutex_lock(&x->lock);
        x->is_left = !x->is_done && stopped > 0 && tg_limit_now() - stopped > TG_JOB_LAST_WORD;
    }
    bool is_done = x->is_done;
    pthread_mutex_unlock(&x->lock);
    return is_done;
}

tg_status tg_job_exchange(struct tg_job *job, const void *mine, uint32_t size, void *all,
                          double seconds, struct tg_error *error)
{
    pthread_t thread;
    if (job->is_stuck)
        return tg_error_set(error, TG_CANCELLED, "stopped while waiting for other ranks");
    struct exchange *x = create(job, mine, size, seconds);
    int cause = x ? pthread_create(&thread, NULL, work, x) : ENOMEM;
    if (cause != 0) {
        destroy(x);
        return tg_error_set(error, TG_NO_MEMORY, "cannot talk to the other ranks: %s",
                            strerror(cause));
    }
    if (!wait_for(job, x)) {
        pthread_detach(thread);
        job->is_stuck = true;
        return tg_error_set(error, TG_CANCELLED, "stopped while waiting for other ranks");
    }
    pthread_join(thread, NULL);
    memcpy(all, x->all, (size_t)size * job->ranks);
    for (uint32_t r = 0; r < job->ranks; r++)
        job->lost[r] = job->lost[r] || x->lost[r];
    tg_status status = x->status;
    if (status != TG_OK && error)
        *error = x->error;
    destroy(x);
    return status;
}
