/* SPDX-License-Identifier: Apache-2.0 */
/* Computes recorded tasks again on the host, with the reference functions of their kernels. */
#define _GNU_SOURCE
#include "host/reference.h"

#include "base/error.h"
#include "host/paths.h"
#include "host/replay.h"
#include "recording/reader.h"
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEFAULT_LIMIT 10.0
#define LONGEST_LIMIT 1e6
enum { BATCHES_PER_LANE = 3, TICK_NANOSECONDS = 50000000 };

/* ── which records belong to which task ────────────────────────────────────────────────── */

static int by_task(const void *a, const void *b)
{
    const struct tg_task_record *x = a, *y = b;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Most recordings are nearly sorted, and sorting what is sorted takes longer than to see that. */
static void sort(struct tg_task_record *record, uint64_t count)
{
    bool sorted = true;
    for (uint64_t i = 1; i < count && sorted; i++)
        sorted = by_task(&record[i - 1], &record[i]) < 0;
    if (!sorted)
        qsort(record, count, sizeof *record, by_task);
}

static struct tg_task_record *sort_records(const struct tg_recording *recording, uint64_t *count,
                                           uint64_t *tasks)
{
    struct tg_recording_info info;
    struct tg_task_record *all;
    struct tg_entry entry;
    tg_recording_get_info(recording, &info);
    *count = *tasks = 0;
    all = calloc(info.records + 1, sizeof *all);
    if (all == NULL)
        return NULL;
    for (uint64_t i = 0; i < info.records; i++)
        if (tg_recording_get(recording, i, &entry) && entry.record.task_id != TG_TASK_NONE)
            all[(*count)++] = (struct tg_task_record){entry.record.task_id, i, entry.record.stored};
    sort(all, *count);
    for (uint64_t i = 0; i < *count; i++)
        *tasks += i == 0 || all[i].task != all[i - 1].task;
    return all;
}

/* ── lanes ─────────────────────────────────────────────────────────────────────────────── */

static uint32_t lanes_for(const struct tg_reference_job *job, uint32_t wanted)
{
    cpu_set_t set;
    uint64_t bytes = 0, batches;
    if (wanted == 0)
        wanted = sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
    for (uint64_t i = 0; i < job->n_records; i++)
        bytes += job->record[i].bytes;
    batches = bytes / TG_BATCH_BYTES + job->n_records / TG_BATCH_TASKS + 1;
    wanted = wanted < TG_MOST_LANES ? wanted : TG_MOST_LANES;
    return wanted < batches ? wanted : (uint32_t)batches;
}

/* Returns how many threads run. */
static uint32_t start_lanes(struct tg_reference_job *job, struct tg_lane *lane, uint32_t n)
{
    uint32_t started = 0;
    job->n_lanes = n;
    while (started < n &&
           pthread_create(&lane[started].thread, NULL, tg_lane_run, &lane[started]) == 0)
        started++;
    pthread_mutex_lock(&job->lock);
    job->n_lanes -= n - started;
    pthread_mutex_unlock(&job->lock);
    return started;
}

/* ── telling ───────────────────────────────────────────────────────────────────────────── */

struct telling {
    const struct tg_reference_config *config;
    tg_reference_fn tell;
    void *context;
    uint64_t checked, tasks;
};

/* Waits for the next batch in order. NULL: there is none any more. Returns also to show progress. */
static struct tg_batch *await_batch(struct tg_reference_job *job, bool *is_over)
{
    struct tg_batch *batch = NULL;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += TICK_NANOSECONDS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&job->lock);
    while (batch == NULL) {
        struct tg_batch *next = &job->batch[job->told % job->n_batches];
        if (job->told < job->taken && next->is_done)
            batch = next;
        *is_over = batch == NULL && job->n_lanes == 0;
        if (*is_over || (batch == NULL &&
                         pthread_cond_timedwait(&job->changed, &job->lock, &until) == ETIMEDOUT))
            break;
    }
    pthread_mutex_unlock(&job->lock);
    return batch;
}

static bool tell_batch(struct telling *telling, struct tg_batch *batch)
{
    for (uint32_t i = 0; i < batch->n; i++) {
        struct tg_task_verdict *verdict = &batch->verdict[i];
        verdict->is.why = *verdict->why ? verdict->why : NULL;
        telling->checked++;
        if (telling->tell(telling->context, &verdict->is) != 0)
            return false;
    }
    return true;
}

static void release(struct tg_reference_job *job)
{
    pthread_mutex_lock(&job->lock);
    job->told++;
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->lock);
}

static void stop(struct tg_reference_job *job)
{
    pthread_mutex_lock(&job->lock);
    __atomic_store_n(&job->stop, 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->lock);
}

/* Other than 0: the caller wants to stop. */
static int show_progress(void *context)
{
    const struct telling *telling = context;
    const struct tg_reference_config *config = telling->config;
    return config->progress
               ? config->progress(config->progress_context, telling->checked, telling->tasks)
               : 0;
}

/* Returns when all verdicts have been told, or the caller or a lane has stopped the job. */
static tg_status tell_all(struct tg_reference_job *job, struct telling *telling,
                          struct tg_error *error)
{
    bool is_over = false;
    while (!is_over) {
        struct tg_batch *batch = await_batch(job, &is_over);
        bool goes_on = batch == NULL || tell_batch(telling, batch);
        if (batch != NULL)
            release(job);
        if (!goes_on) {
            stop(job);
            return TG_OK;
        }
        if (show_progress(telling) != 0) {
            stop(job);
            return tg_error_set(error, TG_CANCELLED, "cancelled after %llu of %llu tasks",
                                (unsigned long long)telling->checked,
                                (unsigned long long)telling->tasks);
        }
    }
    return TG_OK;
}

/* ── a check ───────────────────────────────────────────────────────────────────────────── */

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
}

static tg_status run_lanes(struct tg_reference_job *job, struct tg_lane *lane, uint32_t n,
                           struct telling *telling, struct tg_error *error)
{
    tg_status status;
    uint32_t started = start_lanes(job, lane, n);
    if (started == 0)
        return tg_error_set(error, TG_NO_MEMORY, "cannot start a thread: %s", strerror(EAGAIN));
    status = tell_all(job, telling, error);
    stop(job);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(lane[i].thread, NULL);
    if (status == TG_OK && job->error.status != TG_OK && job->error.status != TG_CANCELLED)
        status = tg_error_set(error, job->error.status, "%s", job->error.text);
    return status;
}

/* The first process says which references there are; the first lane then uses it. */
static tg_status check(struct tg_reference_job *job, uint32_t workers, struct telling *telling,
                       struct tg_error *error)
{
    uint32_t n = lanes_for(job, workers);
    struct tg_reference_about *about = NULL;
    struct tg_lane *lane = calloc(n, sizeof *lane);
    tg_status status;
    job->n_batches = n * BATCHES_PER_LANE;
    job->batch = calloc(job->n_batches, sizeof *job->batch);
    if (lane == NULL || job->batch == NULL) {
        free(lane);
        free(job->batch);
        return no_memory(error);
    }
    for (uint32_t i = 0; i < n; i++) {
        lane[i].job = job;
        tg_reference_process_init(&lane[i].process, job->program, job->module, job->limit,
                                  telling->config->sandbox, &job->stop);
    }
    lane[0].process.idle = show_progress;
    lane[0].process.idle_context = telling;
    status = tg_reference_process_start(&lane[0].process, &about, &job->n_about, error);
    lane[0].process.idle = NULL; /* it is for the caller's thread alone */
    job->about = about;
    job->loops = calloc(job->n_about + 1u, sizeof *job->loops);
    if (status == TG_OK)
        status = job->loops ? run_lanes(job, lane, n, telling, error) : no_memory(error);
    for (uint32_t i = 0; i < n; i++)
        tg_reference_process_end(&lane[i].process);
    free(job->loops);
    free(about);
    free(job->batch);
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
    struct telling telling = {config ? config : &defaults, tell, context, 0, 0};
    struct tg_reference_job job = {.recording = recording,
                                   .limit = telling.config->limit > 0 ? telling.config->limit
                                                                      : DEFAULT_LIMIT,
                                   .lock = PTHREAD_MUTEX_INITIALIZER,
                                   .changed = PTHREAD_COND_INITIALIZER};
    struct tg_trusted module = {.path = ""};
    char *program = NULL;
    struct tg_task_record *record;
    tg_status status;
    if (recording == NULL || tell == NULL)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "tg_reference_run needs a recording and a function");
    status = check_config(telling.config, error);
    if (status != TG_OK)
        return status;
    record = sort_records(recording, &job.n_records, &telling.tasks);
    if (record == NULL)
        return no_memory(error);
    job.record = record;
    job.was_filtered = tg_recording_was_filtered(recording);
    if (job.n_records > 0)
        status = tg_trust_choose(recording, telling.config->module, telling.config->ask,
                                 telling.config->ask_context, &module, error);
    if (status == TG_OK)
        status = tg_paths_find("taskglass-reference", &program, error);
    job.module = &module;
    job.program = program;
    if (status == TG_OK && job.n_records > 0)
        status = check(&job, telling.config->workers, &telling, error);
    free(program);
    free(record);
    return tg_recording_conclude(recording, status, error);
}

tg_status tg_reference_check(const struct tg_recording *recording, const char *module,
                             tg_reference_fn tell, void *context, struct tg_error *error)
{
    struct tg_reference_config config = {.module = module};
    return tg_reference_run(recording, &config, tell, context, error);
}
