/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace takes from deps.json: who waits for whom, and when the orchestration submitted what.
 *
 * A task is ready when all tasks that it waits for have ended, and when it has been submitted. That is known
 * if the recording has the ends of all of them.
 */
#include <string.h>

#include "analysis/deps_read.h"
#include "export/export_trace.h"
#include "recording/record.h"

static uint8_t kind_of(const char *text)
{
    for (unsigned kind = 0; kind < TG_EDGE_KINDS; kind++)
        if (strcmp(tg_edge_name(kind), text) == 0)
            return (uint8_t)kind;
    return TG_SPOOL_ANY_KIND;
}

/* Takes what one more task that has to end first says about when this one was ready. */
static uint64_t later(uint64_t ready, const struct tg_export_task *before)
{
    if (ready == TG_SPOOL_NO_TIME || !before || !before->has_end || before->is_partial)
        return TG_SPOOL_NO_TIME;
    return before->end > ready ? before->end : ready;
}

static void add_edges(struct tg_export_trace *trace, const struct tg_deps_read_task *read,
                      const struct tg_export_task *task)
{
    size_t number = (size_t)(task - trace->tasks.at);
    uint64_t ready = read->submitted != TG_NONE ? read->submitted : 0; /* 0: when the run began */
    for (size_t i = 0; i < read->n_edges; i++) {
        const struct tg_export_task *before =
            tg_export_tasks_find(&trace->tasks, read->edge[i].before);
        ready = later(ready, before);
        if (task->is_written && before && before->is_written)
            tg_spool_add(trace->spool,
                         &(struct tg_spool_event){.type = TG_SPOOL_EDGE,
                                                  .id = task->id,
                                                  .at = before->id,
                                                  .part = kind_of(read->edge[i].kind)});
    }
    trace->ready[number] = ready;
    trace->submitted[number] = read->submitted != TG_NONE ? read->submitted : TG_SPOOL_NO_TIME;
}

static bool add_submission(struct tg_export_trace *trace, const struct tg_deps_read_task *read)
{
    struct tg_spool_event event = {.type = TG_SPOOL_SUBMIT,
                                   .id = read->id,
                                   .begin = read->submitted,
                                   .end = read->submitted,
                                   .number = TG_SPOOL_NO_NAME};
    if (*read->scope && !tg_text_list_add(&trace->sites, read->scope, &event.number))
        return false;
    if (read->submitted == TG_NONE) { /* the host built the graph */
        event.type = TG_SPOOL_SITE;
        event.begin = event.end = 0;
        event.at = TG_SPOOL_NO_TIME;
    }
    tg_spool_add(trace->spool, &event);
    return true;
}

static bool add_task(struct tg_export_trace *trace, const struct tg_deps_read_task *read)
{
    const struct tg_export_task *task = tg_export_tasks_find(&trace->tasks, read->id);
    if (!task)
        return true;
    add_edges(trace, read, task);
    return !task->is_written || add_submission(trace, read);
}

tg_status tg_export_trace_edges(struct tg_export_trace *trace)
{
    struct tg_export_job *job = trace->job;
    struct tg_deps_reader deps;
    bool more;
    tg_status status = tg_deps_reader_open(&job->info, &deps, &more, job->error);
    if (!more)
        return status;
    while ((status = tg_deps_reader_next(&deps, &more, job->error)) == TG_OK && more) {
        if (!add_task(trace, &deps.task))
            status = tg_export_no_memory(job->error);
        if (status != TG_OK || !tg_export_tell(job))
            break;
    }
    tg_deps_reader_close(&deps);
    return tg_export_end(job, status);
}
