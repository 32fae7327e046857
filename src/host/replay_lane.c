/* SPDX-License-Identifier: Apache-2.0 */
/* A lane of tg_replay_all: judges one task after another on a device that it keeps open. */
#include "host/replay_all.h"

#include "base/error.h"
#include "host/replay.h"
#include "recording/extents.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Further runs of a task that differs from its recording: they show whether it differs from itself. */
enum { MORE_RUNS = 4 };

/* ── verdicts ──────────────────────────────────────────────────────────────────────────── */

static void set(struct tg_replay_told *told, enum tg_replay_is is, const char *why)
{
    told->is.is = is;
    snprintf(told->why, sizeof told->why, "%s", why);
}

static void begin_verdict(struct tg_replay_told *told, const struct tg_recorded_task *task)
{
    free(told->finding);
    memset(told, 0, sizeof *told);
    told->is.task = task->id;
    tg_replay_kernel_names(task, told->is.kernel, sizeof told->is.kernel);
}

/* Tasks that ran, but cannot be judged: nothing to compare with. Outputs without elements are as recorded. */
static bool lacks_outputs(const struct tg_recorded_task *task,
                          const struct tg_replay_result *result, char *text, size_t size)
{
    for (uint32_t i = 0; i < result->n_outputs; i++) {
        const struct tg_replay_output *output = &result->output[i];
        if (output->recorded)
            continue;
        snprintf(text, size, "argument %" PRIu32 ", an output: %s", output->argument,
                 task->tensor[output->argument].lacks);
        return true;
    }
    if (result->n_outputs == 0)
        snprintf(text, size, "it has no output to compare");
    return result->n_outputs == 0;
}

/* A task that ran. */
static void judge_outputs(struct tg_replay_lane *lane, const struct tg_recorded_task *task,
                          struct tg_replay_told *told)
{
    const struct tg_replay_result *result = &lane->result;
    char text[sizeof told->why];
    told->is.runs = result->runs;
    if (result->same && result->deterministic) {
        if (lacks_outputs(task, result, text, sizeof text))
            set(told, TG_REPLAY_NOT_KNOWN, text);
        else
            set(told, TG_REPLAY_SAME, "");
        return;
    }
    set(told, result->deterministic ? TG_REPLAY_DIFFERS : TG_REPLAY_VARIES, "");
    for (uint32_t i = 0; i < result->n_outputs; i++) {
        const struct tg_replay_output *output = &result->output[i];
        if (result->deterministic ? output->check.mismatches == 0 : output->varied == 0)
            continue;
        told->is.output = *output;
        break;
    }
}

/* "task 0, kernel add, on core 0 (AIC): Segmentation fault …": the task has another number in the
 * recording, and the core says nothing. */
static const char *without_task(const char *text)
{
    const char *rest = strstr(text, "): ");
    return strncmp(text, "task ", 5) == 0 && rest != NULL ? rest + 3 : text;
}

/* True if this program has no memory left, which says nothing about the task. A device that is too small for
 * a task has the same status, but all messages about the host begin alike. */
static bool host_is_full(tg_status status, const struct tg_error *error)
{
    static const char words[] = "out of host memory";
    return status == TG_NO_MEMORY && strncmp(error->text, words, sizeof words - 1) == 0;
}

/* A task that did not end, or could not begin. Other statuses are not about the task: they are returned. */
static tg_status judge_failure(struct tg_replay_lane *lane, tg_status status,
                               struct tg_replay_told *told, struct tg_error *error)
{
    char text[sizeof told->why];
    told->is.site = lane->result.run.site;
    if (host_is_full(status, error))
        return status;
    switch (status) {
    case TG_NOT_FOUND:
    case TG_BAD_ARGUMENT:
    case TG_NO_MEMORY:
        set(told, TG_REPLAY_NOT_KNOWN, error->text);
        return TG_OK;
    case TG_KERNEL_FAULT:
    case TG_DEVICE_LOST:
        set(told, TG_REPLAY_FAULTS, without_task(error->text));
        return TG_OK;
    case TG_HANG:
        snprintf(text, sizeof text, "it did not return within %g s",
                 lane->job->plan->run.timeout > 0 ? lane->job->plan->run.timeout : 10.0);
        set(told, TG_REPLAY_HANGS, text);
        return TG_OK;
    default:
        return status;
    }
}

/* ── guards ────────────────────────────────────────────────────────────────────────────── */

static tg_status keep_findings(const struct tg_guard_report *report, struct tg_replay_told *told,
                               struct tg_error *error)
{
    uint32_t n = report->n_findings < TG_GUARD_MOST ? report->n_findings : TG_GUARD_MOST;
    told->finding = calloc(n + 1, sizeof *told->finding);
    if (told->finding == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    for (uint32_t i = 0; i < n; i++)
        if (tg_guard_kind_is_misuse(report->finding[i].kind))
            told->finding[told->is.n_findings++] = report->finding[i];
    told->is.more_findings = report->more;
    told->is.finding = told->finding;
    set(told, TG_REPLAY_MISUSE, told->is.n_findings > 0 ? told->finding[0].text : "");
    return TG_OK;
}

/* What else the runs with guards showed of a task that was not accused yet. */
static void take_failures(const struct tg_guard_report *report, struct tg_replay_told *told)
{
    for (uint32_t i = 0; i < report->n_findings && i < TG_GUARD_MOST; i++) {
        const struct tg_guard_finding *finding = &report->finding[i];
        if (finding->kind == TG_GUARD_LOST)
            set(told, TG_REPLAY_FAULTS, finding->text);
        else if (finding->kind == TG_GUARD_HANG)
            set(told, TG_REPLAY_HANGS, finding->text);
    }
    if (!tg_replay_accuses(&told->is) && report->varies)
        set(told, TG_REPLAY_VARIES, "not deterministic: runs with guards gave different outputs");
}

/* Runs the task with guards. What they find is worth more than that its outputs differ; a task that they
 * could not judge is not the same either. */
static tg_status judge_guarded(struct tg_replay_lane *lane, const struct tg_recorded_task *task,
                               struct tg_replay_told *told, struct tg_error *error)
{
    char text[sizeof told->why];
    tg_status status = tg_replay_stage_open(&lane->stage, error);
    if (status == TG_OK && lane->guarded == NULL)
        status = tg_guarded_open(&lane->stage.bench, &lane->guarded, error);
    if (status != TG_OK)
        return status;
    status = tg_guarded_run(lane->guarded, task, &lane->report, error);
    lane->has_pages |= lane->report.has_pages;
    if (!host_is_full(status, error) &&
        (status == TG_NO_MEMORY || status == TG_BAD_ARGUMENT || status == TG_NOT_FOUND)) {
        snprintf(text, sizeof text, "it did not run with guards: %.400s", error->text);
        if (!tg_replay_accuses(&told->is))
            set(told, TG_REPLAY_NOT_KNOWN, text);
        return TG_OK;
    }
    if (status != TG_OK)
        return status;
    if (lane->report.misuse == 0 && lane->report.n_findings > 0 && !tg_replay_accuses(&told->is)) {
        snprintf(text, sizeof text, "with guards it %s: %.400s",
                 tg_guard_kind_name(lane->report.finding[0].kind),
                 without_task(lane->report.finding[0].text));
        set(told, TG_REPLAY_NOT_KNOWN, text);
    }
    if (lane->report.misuse > 0)
        return keep_findings(&lane->report, told, error);
    if (!tg_replay_accuses(&told->is))
        take_failures(&lane->report, told);
    return TG_OK;
}

/* ── one task ──────────────────────────────────────────────────────────────────────────── */

static void close_stage(struct tg_replay_lane *lane)
{
    tg_guarded_close(lane->guarded);
    lane->guarded = NULL;
    tg_replay_stage_close(&lane->stage);
}

static bool is_lost(const struct tg_replay_lane *lane)
{
    struct tg_device_info info = {.lost = true};
    tg_device_get_info(lane->stage.bench.device, &info);
    return info.lost;
}

/* Judges the task on the device that is open. */
static tg_status judge_here(struct tg_replay_lane *lane, const struct tg_recorded_task *task,
                            struct tg_replay_told *told, struct tg_error *error)
{
    struct tg_replay_job *job = lane->job;
    char text[sizeof told->why];
    tg_status status = tg_replay_stage_open(&lane->stage, error);
    begin_verdict(told, task);
    if (status != TG_OK)
        return status;
    tg_replay_stage_lacks(&lane->stage, task, job->was_filtered, text, sizeof text);
    if (*text) {
        set(told, TG_REPLAY_NOT_KNOWN, text);
        return TG_OK;
    }
    status = tg_replay_stage_run(&lane->stage, task, job->repeat, MORE_RUNS, &lane->result, error);
    if (status == TG_OK)
        judge_outputs(lane, task, told);
    else
        status = judge_failure(lane, status, told, error);
    if (is_lost(lane))
        close_stage(lane);
    if (status == TG_OK && job->guarded && told->is.is != TG_REPLAY_HANGS &&
        (lane->result.runs > 0 || told->is.is == TG_REPLAY_FAULTS))
        status = judge_guarded(lane, task, told, error);
    return status;
}

/* Repeats an accusation on a fresh device before it counts. A task that misused memory may have damaged its
 * device, so the next one gets another. */
static tg_status judge(struct tg_replay_lane *lane, const struct tg_recorded_task *task,
                       struct tg_replay_told *told, struct tg_error *error)
{
    struct tg_replay_beliefs *beliefs = &lane->job->belief;
    struct tg_replay_told before = {0};
    bool was_fresh = lane->stage.served == 0;
    tg_status status = judge_here(lane, task, told, error);
    if (status != TG_OK || !tg_replay_accuses(&told->is) ||
        (!was_fresh && tg_replay_believes(beliefs, &told->is)))
        return status;
    if (was_fresh) {
        tg_replay_confirm(beliefs, NULL, &told->is);
    } else {
        before = *told;
        told->finding = NULL;
        close_stage(lane);
        status = judge_here(lane, task, told, error);
        if (status == TG_OK)
            tg_replay_confirm(beliefs, &before.is, &told->is);
        free(before.finding);
    }
    if (told->is.is == TG_REPLAY_MISUSE)
        close_stage(lane);
    return status;
}

/* ── a batch ───────────────────────────────────────────────────────────────────────────── */

static uint64_t memory_of(const struct tg_recorded_task *task)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < task->n_tensors; i++)
        bytes = tg_claims_add(bytes, task->tensor[i].tensor.storage_bytes);
    return bytes;
}

static tg_status judge_laid_out(struct tg_replay_lane *lane, struct tg_recorded_task *task,
                                struct tg_replay_told *told, struct tg_error *error)
{
    struct tg_error why;
    tg_status status = tg_recorded_task_lay_out(task, lane->job->memory_limit, &why);
    if (host_is_full(status, &why))
        return tg_error_set(error, status, "%s", why.text);
    if (status != TG_OK) {
        set(told, TG_REPLAY_NOT_KNOWN, why.text);
        return TG_OK;
    }
    status = judge(lane, task, told, error);
    tg_recorded_task_free(task);
    return status;
}

/* Tasks with much memory are replayed one at a time, so that lanes do not need that much each. */
static tg_status judge_records(struct tg_replay_lane *lane, const struct tg_batch *batch,
                               uint32_t i, struct tg_replay_told *told, struct tg_error *error)
{
    struct tg_replay_job *job = lane->job;
    uint64_t begin = batch->begin[i];
    struct tg_recorded_task task;
    struct tg_error why;
    char text[sizeof told->why];
    tg_status status =
        tg_task_records_read(job->recording, &job->batches.record[begin],
                             batch->begin[i + 1] - begin, job->memory_limit, &task, &why);
    begin_verdict(told, &task);
    if (status != TG_OK) {
        set(told, TG_REPLAY_NOT_KNOWN, why.text);
        return TG_OK;
    }
    if (tg_replay_hangs(&job->belief, told->is.kernel)) {
        snprintf(text, sizeof text,
                 "it was not run, because %d tasks of this kernel had not returned", TG_MOST_HANGS);
        set(told, TG_REPLAY_NOT_KNOWN, text);
        return TG_OK;
    }
    bool is_large = memory_of(&task) > TG_CLAIMS_SMALL;
    if (is_large)
        pthread_mutex_lock(&job->large);
    status = judge_laid_out(lane, &task, told, error);
    if (is_large) {
        close_stage(lane);
        pthread_mutex_unlock(&job->large);
    }
    return status;
}

void *tg_replay_lane_run(void *argument)
{
    struct tg_replay_lane *lane = argument;
    struct tg_batches *batches = &lane->job->batches;
    struct tg_batch *batch;
    while ((batch = tg_batches_take(batches)) != NULL) {
        struct tg_replay_told *told = batch->result;
        struct tg_error error = {TG_OK, ""};
        tg_status status = TG_OK;
        for (uint32_t i = 0; i < batch->n && status == TG_OK; i++) {
            if (tg_batches_stopped(batches))
                status = tg_error_set(&error, TG_CANCELLED, "cancelled");
            else
                status = judge_records(lane, batch, i, &told[i], &error);
        }
        tg_batches_hand_in(batches, batch, status, &error);
    }
    close_stage(lane);
    tg_batches_leave(batches);
    return NULL;
}
