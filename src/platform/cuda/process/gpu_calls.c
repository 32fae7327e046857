/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads carry calls of communication between the GPU's rings and the host's socket
 * (platform/cuda/calls.h): one what the GPU posts, one what the host has done. */
#define _GNU_SOURCE
#include "common/atomic.h"
#include "platform/cuda/process/gpu_process.h"
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

/* After so many looks in vain it naps between them. */
enum { EAGER_ROUNDS = 200, NAP_NS = 10000 };

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

/* ── a run ─────────────────────────────────────────────────────────────────────────────── */

CUresult tg_cuda_calls_begin(struct tg_cuda_device *d, uint64_t setup, uint32_t run)
{
    struct tg_comm_setup comm = {.first_kernel = TG_NO_KERNEL};
    CUresult result = CUDA_SUCCESS;
    if (setup != 0)
        result = tg_cuda.copy_out(&comm, setup, sizeof comm);
    if (result != CUDA_SUCCESS || comm.first_kernel == TG_NO_KERNEL)
        return result;
    pthread_mutex_lock(&d->calls_lock);
    memset(d->calls, 0, sizeof *d->calls);
    d->calls_run = run;
    pthread_cond_signal(&d->calls_change);
    pthread_mutex_unlock(&d->calls_lock);
    return result;
}

void tg_cuda_calls_end(struct tg_cuda_device *d)
{
    pthread_mutex_lock(&d->calls_lock);
    d->calls_run = 0;
    pthread_mutex_unlock(&d->calls_lock);
}

/* ── the threads ───────────────────────────────────────────────────────────────────────── */

/* Sends the next post, if there is one and the socket takes it. */
static bool carry_post(struct tg_cuda_calls *calls)
{
    const struct tg_cuda_post *place = &calls->post[calls->taken % TG_CUDA_POSTS];
    struct tg_comm_post post;
    if (tg_load_acquire_host(&place->number) != calls->taken + 1) /* P1 */
        return false;
    post = place->post;
    if (send(TG_PROCESS_CALLS_FD, &post, sizeof post, MSG_NOSIGNAL | MSG_DONTWAIT) !=
        (ssize_t)sizeof post)
        return false; /* full: later. If the host is gone, the main thread ends the process */
    tg_store_release_host(&calls->taken, calls->taken + 1); /* P2 */
    return true;
}

/* Nobody tells the process of a post: it has to look. */
static void *carry_posts(void *argument)
{
    struct tg_cuda_device *d = argument;
    uint32_t idle = 0;
    (void)prctl(PR_SET_TIMERSLACK, 1UL); /* as short naps as the system has */
    for (;;) {
        bool carried;
        pthread_mutex_lock(&d->calls_lock);
        while (d->calls_run == 0)
            pthread_cond_wait(&d->calls_change, &d->calls_lock);
        carried = carry_post(d->calls);
        pthread_mutex_unlock(&d->calls_lock);
        if (carried)
            idle = 0;
        else if (idle++ < EAGER_ROUNDS)
            sched_yield();
        else
            nap();
    }
    return NULL;
}

/* Gives the GPU a call that is done. An answer to an earlier run is for no task. Returns false if the ring
 * is full. */
static bool give_done(struct tg_cuda_device *d, const struct tg_process_call *call)
{
    struct tg_cuda_calls *calls = d->calls;
    bool given = true;
    pthread_mutex_lock(&d->calls_lock);
    if (d->calls_run != 0 && d->calls_run == call->run) {
        given = calls->n_done - tg_load_acquire_host(&calls->heard) < TG_CUDA_DONES; /* P4 */
        if (given) {
            calls->done[calls->n_done % TG_CUDA_DONES] = call->slot;
            tg_store_release_host(&calls->n_done, calls->n_done + 1); /* P3 */
        }
    }
    pthread_mutex_unlock(&d->calls_lock);
    return given;
}

/* Reads whatever the host says, between runs too: the host waits while the socket is full. */
static void *carry_dones(void *argument)
{
    struct tg_cuda_device *d = argument;
    struct tg_process_call call;
    for (;;) {
        ssize_t got = recv(TG_PROCESS_CALLS_FD, &call, sizeof call, 0);
        if (got == 0 || (got < 0 && errno != EINTR && errno != ENOMEM && errno != ENOBUFS))
            return NULL; /* the host is gone, and the main thread ends the process */
        while (got == (ssize_t)sizeof call && !give_done(d, &call))
            nap();
    }
}

bool tg_cuda_start_calls(struct tg_cuda_device *d)
{
    pthread_t posts, dones;
    pthread_mutex_init(&d->calls_lock, NULL);
    pthread_cond_init(&d->calls_change, NULL);
    if (pthread_create(&posts, NULL, carry_posts, d) != 0)
        return false;
    pthread_detach(posts);
    if (pthread_create(&dones, NULL, carry_dones, d) != 0)
        return false;
    pthread_detach(dones);
    return true;
}
