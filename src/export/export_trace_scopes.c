/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace takes from the scope stats of a run: its scopes, and how full the rings were.
 *
 * The samples have no times. Each says how many tasks its ring had got by then, and deps.json says when the last
 * of these was submitted; a sample is shown at that time, at which the orchestration was at it or just before
 * it.
 */
#include <stdlib.h>
#include <taskglass/scope_stats.h>
#include <taskglass/wire/orchestration.h>

#include "base/grow.h"
#include "export/export_trace.h"
#include "recording/reader.h"

struct scope {
    uint64_t begin, tasks;
    uint32_t site, ring, depth;
};

struct scopes {
    struct tg_export_trace *trace;
    uint64_t now; /* of the last sample */
    struct scope *open;
    size_t depth, room;
};

static void move_on(struct scopes *scopes, const struct tg_scope_sample *sample)
{
    const struct tg_export_trace *trace = scopes->trace;
    if (sample->task_window_end == 0 || sample->task_window_end > UINT32_MAX)
        return;
    uint64_t last = (uint64_t)sample->ring << 32 | (sample->task_window_end - 1);
    const struct tg_export_task *task = tg_export_tasks_find(&trace->tasks, last);
    uint64_t time = task ? trace->submitted[task - trace->tasks.at] : TG_SPOOL_NO_TIME;
    if (time != TG_SPOOL_NO_TIME && time > scopes->now)
        scopes->now = time;
}

static void add_rings(const struct scopes *scopes, const struct tg_scope_sample *sample)
{
    struct tg_spool_event event = {
        .type = TG_SPOOL_RINGS,
        .begin = scopes->now,
        .core = sample->ring,
        .id = tg_scope_used(sample, TG_SCOPE_TASK_WINDOW),
        .at = tg_scope_used(sample, TG_SCOPE_HEAP),
        .end = tg_scope_used(sample, TG_SCOPE_DEP_POOL),
        .number = sample->tensormap < UINT32_MAX ? (uint32_t)sample->tensormap : UINT32_MAX};
    tg_spool_add(scopes->trace->spool, &event);
}

static void add_scope(const struct scopes *scopes, const struct scope *scope, uint64_t tasks,
                      uint16_t flags)
{
    struct tg_spool_event event = {.type = TG_SPOOL_SCOPE,
                                   .id = tasks > scope->tasks ? tasks - scope->tasks : 0,
                                   .begin = scope->begin,
                                   .end = scopes->now,
                                   .core = scope->ring,
                                   .number = scope->site,
                                   .part = (uint8_t)(scope->depth < 255 ? scope->depth : 255),
                                   .flags = flags};
    tg_spool_add(scopes->trace->spool, &event);
}

static bool begin_scope(struct scopes *scopes, const struct tg_scope_sample *sample)
{
    struct scope scope = {.begin = scopes->now,
                          .tasks = sample->task_window_end,
                          .site = TG_SPOOL_NO_NAME,
                          .ring = sample->ring,
                          .depth = sample->depth};
    if (sample->site && !tg_text_list_add(&scopes->trace->sites, sample->site, &scope.site))
        return false;
    if (!tg_grow(&scopes->open, &scopes->room, scopes->depth + 1, sizeof scope))
        return false;
    scopes->open[scopes->depth++] = scope;
    return true;
}

/* The file is not trusted, and samples may be lost: an end without a begin is none, and it ends what was left
 * open inside. */
static void end_scope(struct scopes *scopes, const struct tg_scope_sample *sample)
{
    size_t kept = scopes->depth;
    while (kept > 0 && scopes->open[kept - 1].depth > sample->depth)
        kept--;
    if (kept == 0 || scopes->open[kept - 1].depth != sample->depth)
        return;
    for (; scopes->depth > kept; scopes->depth--)
        add_scope(scopes, &scopes->open[scopes->depth - 1], 0, TG_SPOOL_PARTIAL);
    add_scope(scopes, &scopes->open[--scopes->depth], sample->task_window_end, 0);
}

static bool take_sample(void *context, uint64_t index, uint32_t site,
                        const struct tg_scope_sample *sample)
{
    struct scopes *scopes = context;
    (void)index;
    (void)site;
    move_on(scopes, sample);
    add_rings(scopes, sample);
    if (!sample->end)
        return begin_scope(scopes, sample);
    end_scope(scopes, sample);
    return true;
}

static void take_capacities(struct tg_trace_run *run, const struct tg_scope_stats *stats)
{
    static const unsigned resource[TG_SCOPE_RESOURCES] = {[TG_SCOPE_TASK_WINDOW] =
                                                              TG_RESOURCE_SLOTS,
                                                          [TG_SCOPE_HEAP] = TG_RESOURCE_HEAP,
                                                          [TG_SCOPE_DEP_POOL] = TG_RESOURCE_DEPS,
                                                          [TG_SCOPE_TENSORMAP] = TG_RESOURCE_MAP};
    for (uint32_t ring = 0; ring < TG_RINGS; ring++)
        for (unsigned i = 0; i < TG_SCOPE_RESOURCES; i++)
            run->capacity[ring][resource[i]] = tg_scope_stats_capacity(stats, i, ring);
}

static tg_status read_stats(struct scopes *scopes, const char *path)
{
    struct tg_export_job *job = scopes->trace->job;
    struct tg_scope_stats *stats;
    tg_status status = tg_scope_stats_open(path, take_sample, scopes, &stats, job->error);
    if (status == TG_NO_MEMORY || status == TG_IO_ERROR)
        return status;
    if (status != TG_OK) /* there are none, or the file is broken from a line on */
        return TG_OK;
    take_capacities(&scopes->trace->run, stats);
    tg_scope_stats_close(stats);
    return TG_OK;
}

static uint64_t first_submission(const struct tg_export_trace *trace)
{
    uint64_t first = TG_SPOOL_NO_TIME;
    for (size_t i = 0; i < trace->tasks.count; i++)
        if (trace->submitted[i] < first)
            first = trace->submitted[i];
    return first;
}

tg_status tg_export_trace_scopes(struct tg_export_trace *trace)
{
    struct scopes scopes = {.trace = trace, .now = first_submission(trace)};
    char *path = NULL;
    if (scopes.now == TG_SPOOL_NO_TIME)
        return TG_OK;
    if (tg_run_file(trace->job->info.dir, TG_SCOPE_FOLDER, &path) != 0)
        return TG_OK;
    tg_status status = path ? read_stats(&scopes, path) : TG_OK;
    for (; scopes.depth > 0; scopes.depth--)
        add_scope(&scopes, &scopes.open[scopes.depth - 1], 0, TG_SPOOL_PARTIAL);
    free(scopes.open);
    free(path);
    return status;
}
