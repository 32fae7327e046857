/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lane checks one batch after another. All tasks of a batch use one runner, because a process per task
 * would cost more than most tasks. References that damage the process they share must not cost another
 * task its good name, so a bad verdict only counts if the runner had called no other reference before:
 * where it had, the lane repeats the call in a fresh runner.
 */
#include "host/reference.h"

#include <stdio.h>

/* ── suspects ──────────────────────────────────────────────────────────────────────────── */

struct turn {
    struct tg_lane *lane;
    struct tg_batch *batch;
    uint32_t since; /* the first task that the present runner has served */
};

static tg_status judge(struct turn *turn, uint32_t i, struct tg_task_verdict *verdict,
                       struct tg_error *error)
{
    const struct tg_reference_job *job = turn->lane->job;
    uint64_t begin = turn->batch->begin[i];
    struct tg_recorded_task task;
    uint32_t def;
    tg_reference_look(job, &job->record[begin], turn->batch->begin[i + 1] - begin, &task, &def,
                      verdict);
    if (def == UINT32_MAX)
        return TG_OK;
    return tg_reference_judge(turn->lane, &task, def, verdict, error);
}

static bool was_called(const struct tg_task_verdict *verdict)
{
    return verdict->is.is == TG_REFERENCE_AGREES || verdict->is.is == TG_REFERENCE_DIFFERS ||
           verdict->is.is == TG_REFERENCE_EMPTY;
}

/* Has a fresh runner check two tasks. *seen is the verdict of the one that failed, else of the second. */
static tg_status judge_after(struct turn *turn, uint32_t first, uint32_t second,
                             struct tg_task_verdict *seen, struct tg_error *error)
{
    tg_status status = tg_reference_process_renew(&turn->lane->process, error);
    if (status == TG_OK)
        status = judge(turn, first, seen, error);
    if (status == TG_OK && was_called(seen))
        status = judge(turn, second, seen, error);
    return status;
}

/* Task `victim` failed, but not in a fresh runner. Looks for the task before it after which it fails. It
 * accuses nobody if the victim's reference also fails after itself: then it cannot be called twice. */
static tg_status find_culprit(struct turn *turn, uint32_t victim, struct tg_error *error)
{
    struct tg_batch *batch = turn->batch;
    struct tg_task_verdict seen;
    tg_status status = judge_after(turn, victim, victim, &seen, error);
    if (status != TG_OK || !was_called(&seen))
        return status;
    for (uint32_t i = victim; i-- > turn->since && status == TG_OK;) {
        struct tg_task_verdict *verdict = &batch->verdict[i];
        if (!was_called(verdict))
            continue;
        status = judge_after(turn, i, victim, &seen, error);
        if (status != TG_OK || was_called(&seen))
            continue;
        verdict->is.is = TG_REFERENCE_FAILED;
        snprintf(verdict->why, sizeof verdict->why,
                 "damaged its process: after it the reference of kernel %.100s %.150s",
                 seen.is.kernel, seen.why);
        break;
    }
    return status;
}

/* ── a batch ───────────────────────────────────────────────────────────────────────────── */

static tg_status check_task(struct turn *turn, uint32_t i, struct tg_error *error)
{
    struct tg_reference_process *process = &turn->lane->process;
    struct tg_task_verdict *verdict = &turn->batch->verdict[i], first;
    bool was_fresh = process->pid == 0 || process->fresh;
    tg_status status;
    if (was_fresh)
        turn->since = i;
    status = judge(turn, i, verdict, error);
    if (status != TG_OK || was_fresh ||
        (verdict->is.is != TG_REFERENCE_FAILED && verdict->is.is != TG_REFERENCE_DIFFERS))
        return status;
    first = *verdict;
    status = tg_reference_process_renew(process, error);
    if (status == TG_OK)
        status = judge(turn, i, verdict, error);
    if (status == TG_OK && first.is.is == TG_REFERENCE_FAILED && was_called(verdict))
        status = find_culprit(turn, i, error);
    turn->since = i;
    return status;
}

static tg_status check_batch(struct tg_lane *lane, struct tg_batch *batch, struct tg_error *error)
{
    struct turn turn = {lane, batch, 0};
    tg_status status = TG_OK;
    if (lane->process.pid != 0) /* else the first call starts it */
        status = tg_reference_process_renew(&lane->process, error);
    for (uint32_t i = 0; i < batch->n && status == TG_OK; i++)
        status = check_task(&turn, i, error);
    return status;
}

/* Cuts the next batch from the records. Called with the lock. */
static void cut(struct tg_reference_job *job, struct tg_batch *batch)
{
    uint64_t at = job->next, bytes = 0;
    batch->n = 0;
    batch->is_done = false;
    while (at < job->n_records && batch->n < TG_BATCH_TASKS && bytes < TG_BATCH_BYTES) {
        uint64_t task = job->record[at].task;
        batch->begin[batch->n++] = at;
        for (; at < job->n_records && job->record[at].task == task; at++)
            bytes += job->record[at].bytes;
    }
    batch->begin[batch->n] = at;
    job->next = at;
}

/* NULL: there are no more, or the job stops. */
static struct tg_batch *take_batch(struct tg_reference_job *job)
{
    struct tg_batch *batch = NULL;
    pthread_mutex_lock(&job->lock);
    while (!__atomic_load_n(&job->stop, __ATOMIC_RELAXED) && job->next < job->n_records &&
           job->taken - job->told >= job->n_batches)
        pthread_cond_wait(&job->changed, &job->lock);
    if (!__atomic_load_n(&job->stop, __ATOMIC_RELAXED) && job->next < job->n_records) {
        batch = &job->batch[job->taken++ % job->n_batches];
        cut(job, batch);
    }
    pthread_mutex_unlock(&job->lock);
    return batch;
}

static void hand_in(struct tg_reference_job *job, struct tg_batch *batch, tg_status status,
                    const struct tg_error *error)
{
    pthread_mutex_lock(&job->lock);
    batch->is_done = status == TG_OK;
    if (status != TG_OK && job->error.status == TG_OK) {
        job->error = *error;
        __atomic_store_n(&job->stop, 1, __ATOMIC_RELAXED);
    }
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->lock);
}

void *tg_lane_run(void *argument)
{
    struct tg_lane *lane = argument;
    struct tg_reference_job *job = lane->job;
    struct tg_batch *batch;
    while ((batch = take_batch(job)) != NULL) {
        struct tg_error error = {TG_OK, ""};
        tg_status status = check_batch(lane, batch, &error);
        hand_in(job, batch, status, &error);
    }
    tg_reference_process_end(&lane->process);
    pthread_mutex_lock(&job->lock);
    job->n_lanes--;
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->lock);
    return NULL;
}
