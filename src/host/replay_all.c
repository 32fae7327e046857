/* SPDX-License-Identifier: Apache-2.0 */
/* Runs all recorded tasks again, each alone, on several devices. */
#include "host/replay_all.h"

#include "base/error.h"
#include "host/device.h"
#include "host/replay.h"
#include "recording/extents.h"
#include "recording/reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct telling {
    struct tg_replay_job *job;
    const struct tg_replay_all_config *config;
    tg_replay_fn tell;
    void *context;
    struct tg_replay_summary *summary;
};

/* ── telling ───────────────────────────────────────────────────────────────────────────── */

static int tell_verdict(void *context, struct tg_batch *batch, uint32_t i)
{
    const struct telling *telling = context;
    struct tg_replay_told *told = (struct tg_replay_told *)batch->result + i;
    int is_enough;
    told->is.why = *told->why ? told->why : NULL;
    telling->summary->tasks++;
    telling->summary->count[told->is.is]++;
    is_enough = telling->tell(telling->context, &told->is);
    free(told->finding);
    told->finding = NULL;
    return is_enough;
}

static int show_progress(void *context, uint64_t done)
{
    const struct telling *telling = context;
    const struct tg_replay_all_config *config = telling->config;
    return config->progress
               ? config->progress(config->progress_context, done, telling->job->batches.tasks)
               : 0;
}

/* Findings that were not told, because the replay has ended before. */
static void free_findings(struct tg_batches *batches)
{
    for (uint32_t b = 0; batches->batch != NULL && b < batches->n_batches; b++) {
        struct tg_replay_told *told = batches->batch[b].result;
        for (uint32_t i = 0; told != NULL && i < TG_BATCH_TASKS; i++)
            free(told[i].finding);
    }
}

/* ── the lanes ─────────────────────────────────────────────────────────────────────────── */

static int is_stopped(void *batches)
{
    return tg_batches_stopped(batches);
}

/* A replayed task needs one block of cores. More of them would only take memory and time, in each of many
 * devices. */
static void choose_cores(struct tg_plan *plan)
{
    const struct tg_platform_ops *ops = tg_platform_named(plan->device.platform);
    if (plan->device.cores == 0 && ops != NULL && !ops->decides_cores)
        plan->device.cores = TG_PARTS;
}

/* One process holds a GPU, and starting it takes long. */
static uint32_t workers_for(const struct tg_plan *plan, uint32_t wanted)
{
    const struct tg_platform_ops *ops = tg_platform_named(plan->device.platform);
    return wanted == 0 && ops != NULL && ops->slow_to_open ? 1 : wanted;
}

static tg_status run_lanes(struct tg_replay_job *job, struct tg_replay_lane *lane, uint32_t n,
                           struct telling *telling, struct tg_error *error)
{
    struct tg_batch_sink sink = {tell_verdict, show_progress, telling};
    tg_status status;
    for (uint32_t i = 0; i < n; i++) {
        lane[i].job = job;
        tg_replay_stage_init(&lane[i].stage, job->plan, job->trusted, is_stopped, &job->batches);
    }
    status = tg_batches_run(&job->batches, tg_replay_lane_run, lane, sizeof *lane, n, &sink, error);
    for (uint32_t i = 0; i < n; i++) {
        telling->summary->devices += lane[i].stage.opened;
        telling->summary->has_pages |= lane[i].has_pages;
    }
    telling->summary->workers = n;
    free_findings(&job->batches);
    return status;
}

static tg_status replay_records(struct tg_replay_job *job, const struct tg_task_records *records,
                                struct telling *telling, struct tg_error *error)
{
    const struct tg_replay_all_config *config = telling->config;
    struct tg_guard guard = {config->guard, config->guard_context};
    uint32_t n = tg_batches_lanes(records, workers_for(job->plan, config->workers));
    struct tg_replay_lane *lane = calloc(n, sizeof *lane);
    void *library = NULL;
    tg_status status = TG_OK;
    if (lane == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    status = tg_replay_load(job->trusted, &guard, &library, error);
    if (status == TG_OK)
        status = tg_batches_begin(&job->batches, records, n, sizeof(struct tg_replay_told), error);
    if (status == TG_OK)
        status = run_lanes(job, lane, n, telling, error);
    tg_batches_end(&job->batches);
    tg_replay_unload(&guard, library);
    free(lane);
    return status;
}

/* ── the call ──────────────────────────────────────────────────────────────────────────── */

static tg_status replay_all(struct tg_replay_job *job, const struct tg_settings *settings,
                            struct telling *telling, struct tg_error *error)
{
    const struct tg_replay_all_config *config = telling->config;
    struct tg_trusted module = {.path = ""};
    struct tg_task_records records;
    uint64_t allowed = tg_replay_allowed_memory(settings);
    tg_status status = tg_task_records_sort(job->recording, config->query, &records, error);
    if (status == TG_OK && records.count == 0 && !tg_query_is_empty(config->query))
        status = tg_error_set(error, TG_NOT_FOUND,
                              "the filters select no recorded task; `taskglass view` lists them");
    if (status == TG_OK)
        telling->summary->communication = tg_task_records_drop_calls(job->recording, &records);
    if (status == TG_OK && records.count > 0)
        status = tg_trust_choose(job->recording, config->module, config->ask, config->ask_context,
                                 &module, error);
    job->trusted = &module;
    job->memory_limit = tg_recording_memory_limit(job->recording);
    job->memory_limit = allowed > job->memory_limit ? allowed : job->memory_limit;
    if (status == TG_OK && records.count > 0)
        status = replay_records(job, &records, telling, error);
    tg_task_records_free(&records);
    return tg_recording_conclude(job->recording, status, error);
}

tg_status tg_replay_all(const struct tg_settings *settings, const struct tg_recording *recording,
                        const struct tg_replay_all_config *config, tg_replay_fn tell, void *context,
                        struct tg_replay_summary *summary, struct tg_error *error)
{
    TG_REFUSE_NULL(error, settings);
    TG_REFUSE_NULL(error, recording);
    TG_REFUSE_NULL(error, tell);
    static const struct tg_replay_all_config defaults;
    struct tg_replay_summary unread;
    struct tg_plan plan;
    struct tg_replay_job *job;
    config = config ? config : &defaults;
    summary = summary ? summary : &unread;
    memset(summary, 0, sizeof *summary);
    summary->guarded = config->guarded;
    tg_status status = tg_plan_make(settings, &plan, error);
    if (status != TG_OK)
        return status;
    snprintf(summary->platform, sizeof summary->platform, "%s", plan.device.platform);
    tg_recorded_run_value(recording, "platform", summary->recorded_on, sizeof summary->recorded_on);
    choose_cores(&plan);
    job = calloc(1, sizeof *job);
    if (job == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    *job = (struct tg_replay_job){.recording = recording,
                                  .plan = &plan,
                                  .guarded = config->guarded,
                                  .was_filtered = tg_recording_was_filtered(recording),
                                  .repeat = config->repeat ? config->repeat : 1,
                                  .large = PTHREAD_MUTEX_INITIALIZER,
                                  .belief.lock = PTHREAD_MUTEX_INITIALIZER};
    struct telling telling = {job, config, tell, context, summary};
    status = replay_all(job, settings, &telling, error);
    free(job);
    return status;
}
