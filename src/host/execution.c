/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "host/execution.h"

#include "host/job.h"
#include "host/run.h"
#include <stdlib.h>
#include <string.h>

static void free_running(struct tg_execution *e)
{
    for (uint32_t i = 0; i < e->run.n_running && e->running; i++)
        free((char *)e->running[i].kernel);
    free(e->running);
    e->running = NULL;
    e->run.running = NULL;
    e->run.n_running = 0;
}

/* Copies the order of starts, which is the run's. */
static bool keep_starts(struct tg_execution *e)
{
    struct tg_schedule_result *schedule = &e->run.schedule;
    const uint64_t *source = schedule->starts;
    if (source == NULL)
        return true;
    e->starts = malloc(schedule->n_starts * sizeof *e->starts);
    schedule->starts = e->starts;
    if (e->starts == NULL)
        schedule->n_starts = 0;
    else
        memcpy(e->starts, source, schedule->n_starts * sizeof *e->starts);
    return e->starts != NULL;
}

tg_status tg_execution_keep_run(struct tg_execution *e, const struct tg_run *run)
{
    tg_run_get_result(run, &e->run);
    bool kept = keep_starts(e);
    e->tasks = e->run.tasks;
    e->edges = e->run.edges;
    if (run->explanation && (e->explanation = malloc(sizeof *e->explanation)) != NULL)
        *e->explanation = *run->explanation;
    const struct tg_run_task *source = e->run.running;
    if (!source || e->run.n_running == 0) {
        e->run.running = NULL;
        e->run.n_running = 0;
        return kept ? TG_OK : TG_NO_MEMORY;
    }
    e->run.running = e->running = calloc(e->run.n_running, sizeof *e->running);
    for (uint32_t i = 0; i < e->run.n_running && e->running; i++) {
        e->running[i] = source[i];
        e->running[i].kernel = strdup(source[i].kernel ? source[i].kernel : "?");
        if (!e->running[i].kernel) {
            e->run.n_running = i;
            free_running(e);
        }
    }
    if (e->running)
        return kept ? TG_OK : TG_NO_MEMORY;
    e->run.n_running = 0;
    return TG_NO_MEMORY;
}

void tg_execution_keep_ranks(struct tg_execution *e, const struct tg_job *job)
{
    uint32_t worst;
    struct tg_ranks_rank *all = malloc(job->ranks * sizeof *all);
    e->ranks_dir = job->dir ? strdup(job->dir) : NULL;
    if (!all || !e->ranks_dir) {
        free(all);
        return;
    }
    memcpy(all, job->all, job->ranks * sizeof *all);
    e->ranks = (struct tg_execution_ranks){.rank = job->rank,
                                           .ranks = job->ranks,
                                           .all = all,
                                           .info = job->info,
                                           .status = tg_job_worst(job, &worst),
                                           .reports = tg_job_reports(job),
                                           .speaks = job->speaks};
    tg_job_count_gpus(job, &e->ranks.on_gpus, &e->ranks.gpus);
    e->ranks.worst = worst;
    e->ranks.info.dir = e->ranks_dir;
}

void tg_execution_destroy(struct tg_execution *e)
{
    if (!e)
        return;
    tg_job_close(e->held);
    free_running(e);
    free(e->starts);
    tg_execution_free_outputs(e);
    for (uint32_t i = 0; i < e->n_outputs; i++)
        free((char *)e->outputs[i].name);
    free(e->workload);
    free(e->case_name);
    free(e->output_dir);
    free(e->platform);
    free(e->runtime);
    free(e->run_json);
    free(e->explanation);
    free((void *)e->ranks.all);
    free(e->ranks_dir);
    free(e);
}

void tg_execution_get(const struct tg_execution *e, struct tg_execution_info *info)
{
    if (e == NULL || info == NULL)
        return;
    *info = (struct tg_execution_info){
        .status = e->status,
        .error = e->error.text,
        .advice = tg_execution_advice(e),
        .output_dir = e->output_dir,
        .case_name = e->case_name,
        .device = e->device,
        .run = e->run,
        .edges = e->edges,
        .prepare_seconds = e->times.prepare,
        .open_seconds = e->times.open,
        .load_seconds = e->times.load,
        .build_seconds = e->times.build,
        .check_seconds = e->times.check,
        .n_outputs = e->n_outputs,
        .outputs = e->outputs,
        .run_json = e->run_json ? e->run_json : "",
        .not_noted = e->note.text,
        .races = e->races.judged ? &e->races.summary : NULL,
        .races_unknown = e->races.unknown,
        .races_before = e->races.before,
        .ranks = e->ranks.ranks ? &e->ranks : NULL,
    };
    info->device.platform = e->platform;
}
