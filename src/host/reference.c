/* SPDX-License-Identifier: Apache-2.0 */
/* Computes recorded tasks again on the host, with the reference functions of their kernels. */
#include "host/reference.h"

#include "base/error.h"
#include "host/paths.h"
#include "host/replay.h"
#include "recording/reader.h"
#include <math.h>
#include <stdlib.h>

#define DEFAULT_LIMIT 10.0
#define LONGEST_LIMIT 1e6

struct telling {
    struct tg_reference_job *job;
    const struct tg_reference_config *config;
    tg_reference_fn tell;
    void *context;
};

static int tell_verdict(void *context, struct tg_batch *batch, uint32_t i)
{
    const struct telling *telling = context;
    struct tg_task_verdict *verdict = (struct tg_task_verdict *)batch->result + i;
    verdict->is.why = *verdict->why ? verdict->why : NULL;
    return telling->tell(telling->context, &verdict->is);
}

/* Other than 0: the caller wants to stop. */
static int show_progress(void *context, uint64_t checked)
{
    const struct telling *telling = context;
    const struct tg_reference_config *config = telling->config;
    return config->progress
               ? config->progress(config->progress_context, checked, telling->job->batches.tasks)
               : 0;
}

static int show_start(void *telling)
{
    return show_progress(telling, 0);
}

/* ── a check ───────────────────────────────────────────────────────────────────────────── */

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
}

/* The first process says which references there are; the first lane then uses it. */
static tg_status check_with(struct tg_reference_job *job, struct tg_lane *lane, uint32_t n,
                            struct telling *telling, struct tg_error *error)
{
    struct tg_reference_about *about = NULL;
    struct tg_batch_sink sink = {tell_verdict, show_progress, telling};
    tg_status status;
    for (uint32_t i = 0; i < n; i++) {
        lane[i].job = job;
        tg_reference_process_init(&lane[i].process, job->program, job->module, job->limit,
                                  telling->config->sandbox, &job->batches.stop);
    }
    lane[0].process.idle = show_start;
    lane[0].process.idle_context = telling;
    status = tg_reference_process_start(&lane[0].process, &about, &job->n_about, error);
    lane[0].process.idle = NULL; /* it is for the caller's thread alone */
    job->about = about;
    job->loops = calloc(job->n_about + 1u, sizeof *job->loops);
    if (status == TG_OK && job->loops == NULL)
        status = no_memory(error);
    if (status == TG_OK)
        status = tg_batches_run(&job->batches, tg_lane_run, lane, sizeof *lane, n, &sink, error);
    for (uint32_t i = 0; i < n; i++)
        tg_reference_process_end(&lane[i].process);
    free(job->loops);
    free(about);
    return status;
}

static tg_status check(struct tg_reference_job *job, const struct tg_task_records *records,
                       struct telling *telling, struct tg_error *error)
{
    uint32_t n = tg_batches_lanes(records, telling->config->workers);
    struct tg_lane *lane = calloc(n, sizeof *lane);
    tg_status status = lane ? TG_OK : no_memory(error);
    if (status == TG_OK)
        status = tg_batches_begin(&job->batches, records, n, sizeof(struct tg_task_verdict), error);
    if (status == TG_OK)
        status = check_with(job, lane, n, telling, error);
    tg_batches_end(&job->batches);
    free(lane);
    return status;
}

static tg_status check_config(const struct tg_reference_config *config, struct tg_error *error)
{
    if (isfinite(config->limit) && config->limit >= 0 && config->limit <= LONGEST_LIMIT)
        return TG_OK;
    return tg_error_set(error, TG_BAD_ARGUMENT, "a limit of %g s: must be more than 0, at most %g",
                        config->limit, LONGEST_LIMIT);
}

tg_status tg_reference_run(const struct tg_recording *recording,
                           const struct tg_reference_config *config, tg_reference_fn tell,
                           void *context, struct tg_error *error)
{
    static const struct tg_reference_config defaults;
    config = config ? config : &defaults;
    struct tg_reference_job job = {.recording = recording,
                                   .limit = config->limit > 0 ? config->limit : DEFAULT_LIMIT};
    struct telling telling = {&job, config, tell, context};
    struct tg_trusted module = {.path = ""};
    struct tg_task_records records;
    char *program = NULL;
    tg_status status;
    if (recording == NULL || tell == NULL)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "tg_reference_run needs a recording and a function");
    status = check_config(config, error);
    if (status == TG_OK)
        status = tg_task_records_sort(recording, NULL, &records, error);
    if (status != TG_OK)
        return status;
    job.was_filtered = tg_recording_was_filtered(recording);
    if (records.count > 0)
        status = tg_trust_choose(recording, config->module, config->ask, config->ask_context,
                                 &module, error);
    if (status == TG_OK)
        status = tg_paths_find("taskglass-reference", &program, error);
    job.module = &module;
    job.program = program;
    if (status == TG_OK && records.count > 0)
        status = check(&job, &records, &telling, error);
    free(program);
    tg_task_records_free(&records);
    return tg_recording_conclude(recording, status, error);
}

tg_status tg_reference_check(const struct tg_recording *recording, const char *module,
                             tg_reference_fn tell, void *context, struct tg_error *error)
{
    struct tg_reference_config config = {.module = module};
    return tg_reference_run(recording, &config, tell, context, error);
}
