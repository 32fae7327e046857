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
    tg_reference_look(job, &job->batches.record[begin], turn->batch->begin[i + 1] - begin, &task,
                      &def, verdict);
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
    struct tg_task_verdict *verdicts = turn->batch->result, seen;
    tg_status status = judge_after(turn, victim, victim, &seen, error);
    if (status != TG_OK || !was_called(&seen))
        return status;
    for (uint32_t i = victim; i-- > turn->since && status == TG_OK;) {
        struct tg_task_verdict *verdict = &verdicts[i];
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
    struct tg_task_verdict *verdict = (struct tg_task_verdict *)turn->batch->result + i, first;
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

void *tg_lane_run(void *argument)
{
    struct tg_lane *lane = argument;
    struct tg_batches *batches = &lane->job->batches;
    struct tg_batch *batch;
    while ((batch = tg_batches_take(batches)) != NULL) {
        struct tg_error error = {TG_OK, ""};
        tg_status status = check_batch(lane, batch, &error);
        tg_batches_hand_in(batches, batch, status, &error);
    }
    tg_reference_process_end(&lane->process);
    tg_batches_leave(batches);
    return NULL;
}
