/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job of ranks in one process for the tests of communication: each rank has a fake device, which is plain
 * memory and a list of calls that a test posts.
 */
#ifndef TASKGLASS_TEST_COMM_JOB_H
#define TASKGLASS_TEST_COMM_JOB_H

#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <taskglass/numeric.h>
#include <time.h>
#include <unistd.h>

#include "comm/comm.h"
#include "test.h"

enum { JOB_MAX_RANKS = 8, JOB_MAX_CALLS = 4096, JOB_SECONDS = 60 };

struct job_device {
    struct job *job;
    uint32_t rank;
    bool maps; /* its memory can be mapped */
    int fd;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct tg_comm_call call[JOB_MAX_CALLS];
    uint32_t n_calls, taken, n_done;
    uint32_t asks; /* atomic: how often the rank's thread has begun to look for a call */
    bool done[JOB_MAX_CALLS];
    bool has_failed;
    struct tg_error error;
    struct tg_comm_result result;
    tg_status end_status;
    const char *end_text;
};

struct job {
    uint32_t ranks;
    struct tg_comm *comm[JOB_MAX_RANKS];
    struct job_device device[JOB_MAX_RANKS];
};

TEST_FN_ bool job_take(void *context, struct tg_comm_call *call)
{
    struct job_device *d = context;
    uint64_t ignored;
    ssize_t got = read(d->fd, &ignored, sizeof ignored);
    (void)got;
    __atomic_add_fetch(&d->asks, 1, __ATOMIC_RELEASE);
    pthread_mutex_lock(&d->lock);
    const bool has = d->taken < d->n_calls;
    if (has)
        *call = d->call[d->taken++];
    pthread_mutex_unlock(&d->lock);
    return has;
}

TEST_FN_ void *job_map(void *context, uint64_t address, uint64_t size)
{
    (void)size;
    return ((struct job_device *)context)->maps ? (void *)(uintptr_t)address : NULL;
}

TEST_FN_ tg_status job_copy_in(void *context, uint64_t address, const void *bytes, uint64_t size,
                               struct tg_error *error)
{
    (void)context;
    (void)error;
    memcpy((void *)(uintptr_t)address, bytes, size);
    return TG_OK;
}

TEST_FN_ tg_status job_copy_out(void *context, void *bytes, uint64_t address, uint64_t size,
                                struct tg_error *error)
{
    (void)context;
    (void)error;
    memcpy(bytes, (const void *)(uintptr_t)address, size);
    return TG_OK;
}

TEST_FN_ tg_status job_done(void *context, uint32_t slot, struct tg_error *error)
{
    struct job_device *d = context;
    (void)error;
    pthread_mutex_lock(&d->lock);
    CHECK(slot < d->taken && !d->done[slot]);
    d->done[slot] = true;
    d->n_done++;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
    return TG_OK;
}

TEST_FN_ void job_failed(void *context, const struct tg_error *error)
{
    struct job_device *d = context;
    pthread_mutex_lock(&d->lock);
    CHECK(!d->has_failed);
    d->has_failed = true;
    d->error = *error;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

TEST_FN_ void job_begin_rank(struct job *job, uint32_t rank, const char *log)
{
    struct job_device *d = &job->device[rank];
    struct tg_error error = {TG_OK, ""};
    const struct tg_comm_run_config config = {.log = log};
    const struct tg_comm_port port = {.context = d,
                                      .fd = d->fd,
                                      .take = job_take,
                                      .map = job_map,
                                      .copy_in = job_copy_in,
                                      .copy_out = job_copy_out,
                                      .done = job_done,
                                      .failed = job_failed};
    d->n_calls = d->taken = d->n_done = 0;
    d->has_failed = false;
    d->end_status = TG_OK;
    d->end_text = "";
    memset(d->done, 0, sizeof d->done);
    memset(&d->result, 0, sizeof d->result);
    CHECK_EQ_I(tg_comm_begin(job->comm[rank], &port, &config, &error), TG_OK);
    CHECK_EQ_S(error.text, "");
}

TEST_FN_ void job_device_make(struct job *job, uint32_t rank, bool maps)
{
    struct job_device *d = &job->device[rank];
    d->job = job;
    d->rank = rank;
    d->maps = maps;
    d->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
}

/* `maps`: a bit for each rank whose memory can be mapped. */
TEST_FN_ struct job *job_open(uint32_t ranks, unsigned maps)
{
    struct job *job = calloc(1, sizeof *job);
    struct tg_error error = {TG_OK, ""};
    REQUIRE(job != NULL);
    job->ranks = ranks;
    tg_status status = tg_comm_open_local(ranks, job->comm, &error);
    if (status != TG_OK)
        fprintf(stderr, "%s\n", error.text);
    REQUIRE(status == TG_OK);
    for (uint32_t r = 0; r < ranks; r++)
        job_device_make(job, r, maps >> r & 1);
    return job;
}

TEST_FN_ void job_begin(struct job *job)
{
    for (uint32_t r = 0; r < job->ranks; r++)
        job_begin_rank(job, r, NULL);
}

TEST_FN_ void job_close_rank(struct job *job, uint32_t r)
{
    if (!job->comm[r])
        return;
    tg_comm_close(job->comm[r]);
    job->comm[r] = NULL;
    close(job->device[r].fd);
    pthread_mutex_destroy(&job->device[r].lock);
    pthread_cond_destroy(&job->device[r].changed);
}

TEST_FN_ void job_close(struct job *job)
{
    for (uint32_t r = 0; r < job->ranks; r++)
        job_close_rank(job, r);
    free(job);
}

/* A call without its tensors. */
TEST_FN_ struct tg_comm_call job_call(uint32_t kind, int32_t peer, int32_t tag, int32_t operation,
                                      uint64_t number, const char *site)
{
    struct tg_comm_call call = {
        .kind = kind, .peer = peer, .tag = tag, .operation = operation, .number = number};
    snprintf(call.site, sizeof call.site, "%s", site);
    return call;
}

TEST_FN_ void job_add_tensor(struct tg_comm_call *call, uint32_t role, struct tg_tensor tensor)
{
    call->role[call->n_tensors] = role;
    call->tensor[call->n_tensors++] = tensor;
}

TEST_FN_ struct tg_tensor job_vector(void *bytes, unsigned dtype, int64_t n)
{
    return tg_tensor_make((uint64_t)(uintptr_t)bytes, dtype, 1, &n);
}

TEST_FN_ void job_post(struct job *job, uint32_t rank, struct tg_comm_call call)
{
    struct job_device *d = &job->device[rank];
    const uint64_t one = 1;
    pthread_mutex_lock(&d->lock);
    call.slot = d->n_calls;
    call.task = d->n_calls;
    d->call[d->n_calls++] = call;
    pthread_mutex_unlock(&d->lock);
    ssize_t written = write(d->fd, &one, sizeof one);
    (void)written;
}

/* Waits until the rank's thread has taken so many calls. */
TEST_FN_ void job_wait_taken(struct job *job, uint32_t rank, uint32_t count)
{
    struct job_device *d = &job->device[rank];
    uint32_t taken = 0;
    for (int i = 0; i < JOB_SECONDS * 1000 && taken < count; i++) {
        pthread_mutex_lock(&d->lock);
        taken = d->taken;
        pthread_mutex_unlock(&d->lock);
        if (taken < count)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    CHECK(taken >= count);
}

/* Waits until `count` calls of the rank are done, or its run has failed. True: they are done. */
TEST_FN_ bool job_wait_rank(struct job *job, uint32_t rank, uint32_t count)
{
    struct job_device *d = &job->device[rank];
    struct timespec limit;
    int cause = 0;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += JOB_SECONDS;
    pthread_mutex_lock(&d->lock);
    while (d->n_done < count && !d->has_failed && cause == 0)
        cause = pthread_cond_timedwait(&d->changed, &d->lock, &limit);
    const bool good = d->n_done >= count && !d->has_failed;
    pthread_mutex_unlock(&d->lock);
    CHECK_EQ_I(cause, 0);
    return good;
}

TEST_FN_ bool job_wait(struct job *job)
{
    bool good = true;
    for (uint32_t r = 0; r < job->ranks; r++) {
        const bool rank_good = job_wait_rank(job, r, job->device[r].n_calls);
        good &= rank_good;
        if (!rank_good && job->device[r].has_failed)
            good = TEST_FAIL_("rank %u: %s\n", r, job->device[r].error.text);
    }
    return good;
}

/* Waits until the run of the rank has failed. */
TEST_FN_ bool job_wait_failed(struct job *job, uint32_t rank)
{
    return !job_wait_rank(job, rank, UINT32_MAX) && job->device[rank].has_failed;
}

TEST_FN_ void *job_end_thread(void *context)
{
    struct job_device *d = context;
    tg_comm_end(d->job->comm[d->rank], d->end_status, d->end_text, &d->result);
    return NULL;
}

/* All ranks end at once, each with its end_status; a rank that has failed ends with that. */
TEST_FN_ void job_end_some(struct job *job, unsigned which)
{
    pthread_t thread[JOB_MAX_RANKS];
    for (uint32_t r = 0; r < job->ranks; r++) {
        struct job_device *d = &job->device[r];
        if (!(which >> r & 1))
            continue;
        pthread_mutex_lock(&d->lock);
        if (d->has_failed && d->end_status == TG_OK) {
            d->end_status = d->error.status;
            d->end_text = d->error.text;
        }
        pthread_mutex_unlock(&d->lock);
        pthread_create(&thread[r], NULL, job_end_thread, d);
    }
    for (uint32_t r = 0; r < job->ranks; r++)
        if (which >> r & 1)
            pthread_join(thread[r], NULL);
}

TEST_FN_ void job_end(struct job *job)
{
    job_end_some(job, ~0u);
}

TEST_FN_ void job_end_well(struct job *job)
{
    job_end(job);
    for (uint32_t r = 0; r < job->ranks; r++) {
        CHECK_EQ_I(job->device[r].result.status, TG_OK);
        CHECK_EQ_S(job->device[r].result.text, "");
        CHECK_EQ_U(job->device[r].result.waiting, 0);
    }
}

#endif
