/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows the tasks on their cores in Chrome's trace event format, for Perfetto and chrome://tracing:
 * a complete event ("X") for each task, from its first record before dispatch to its last after
 * completion, and an arrow ("s" to "f") for each edge of deps.json. Times are microseconds since
 * the first record.
 *
 * Slices of one row must not overlap. A core runs one task at a time, but a mix is shown on the
 * core that recorded it last, and the file is not trusted: a task whose core's row is occupied goes
 * to a second row of that core.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/device.h>
#include <taskglass/json.h>

#include "base/error.h"
#include "base/names.h"
#include "base/grow.h"
#include "analysis/deps_read.h"
#include "export/export_job.h"
#include "export/export_tasks.h"

enum { PROCESS = 1 };

/* Viewers show a row as a thread. */
struct row {
    uint64_t end; /* of its last slice */
    uint32_t core;
    uint32_t number; /* among those of the core, from 0 */
};

struct slice {
    struct tg_export_task task; /* a copy */
    uint32_t number;            /* of it in `tasks` */
    uint32_t row;
};

struct trace {
    struct tg_export_job *job;
    struct tg_export_tasks tasks;
    struct slice *slice; /* by core, then by time */
    size_t n_slices;
    struct row *row;
    size_t n_rows, room;
    uint32_t *row_of; /* row + 1 of each task, by its number; 0: not shown */
    uint64_t start;   /* nanoseconds */
    uint64_t flows;
    struct tg_json json;
};

/* --- slices and rows ------------------------------------------------------------------------ */

static int by_core_and_time(const void *a, const void *b)
{
    const struct tg_export_task *left = &((const struct slice *)a)->task;
    const struct tg_export_task *right = &((const struct slice *)b)->task;
    if (left->core != right->core)
        return left->core < right->core ? -1 : 1;
    if (left->begin != right->begin)
        return left->begin < right->begin ? -1 : 1;
    return left->id < right->id ? -1 : left->id > right->id;
}

static bool is_shown(const struct tg_export_task *task)
{
    return task->is_selected && (task->has_begin || task->has_end);
}

static tg_status make_slices(struct trace *trace)
{
    const struct tg_export_tasks *tasks = &trace->tasks;
    trace->slice = calloc(tasks->count + 1, sizeof *trace->slice);
    trace->row_of = calloc(tasks->count + 1, sizeof *trace->row_of);
    if (!trace->slice || !trace->row_of)
        return tg_export_no_memory(trace->job->error);
    trace->start = UINT64_MAX;
    uint64_t limit = trace->job->config->limit;
    for (size_t i = 0; i < tasks->count && (limit == 0 || trace->n_slices < limit); i++)
        if (is_shown(&tasks->at[i])) {
            trace->slice[trace->n_slices++] =
                (struct slice){.task = tasks->at[i], .number = (uint32_t)i};
            if (tasks->at[i].begin < trace->start)
                trace->start = tasks->at[i].begin;
        }
    qsort(trace->slice, trace->n_slices, sizeof *trace->slice, by_core_and_time);
    return TG_OK;
}

static void swap_rows(uint32_t *a, uint32_t *b)
{
    uint32_t row = *a;
    *a = *b;
    *b = row;
}

/* The rows of one core as a heap; the row that becomes free first is on top. */
struct heap {
    uint32_t *at;
    size_t count;
};

static uint64_t end_of(const struct trace *trace, const struct heap *heap, size_t i)
{
    return trace->row[heap->at[i]].end;
}

static void sink_top(const struct trace *trace, struct heap *heap)
{
    for (size_t i = 0;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < heap->count; child++)
            if (end_of(trace, heap, child) < end_of(trace, heap, least))
                least = child;
        if (least == i)
            return;
        swap_rows(&heap->at[i], &heap->at[least]);
        i = least;
    }
}

static void rise_last(const struct trace *trace, struct heap *heap)
{
    for (size_t i = heap->count - 1; i > 0; i = (i - 1) / 2) {
        if (end_of(trace, heap, i) >= end_of(trace, heap, (i - 1) / 2))
            return;
        swap_rows(&heap->at[i], &heap->at[(i - 1) / 2]);
    }
}

static bool add_row(struct trace *trace, struct heap *heap, const struct tg_export_task *task)
{
    if (!tg_grow(&trace->row, &trace->room, trace->n_rows + 1, sizeof *trace->row))
        return false;
    trace->row[trace->n_rows] =
        (struct row){.end = task->end, .core = task->core, .number = (uint32_t)heap->count};
    heap->at[heap->count++] = (uint32_t)trace->n_rows++;
    rise_last(trace, heap);
    return true;
}

/* Gives each slice the row of its core that becomes free first, or a new row if none is free. */
static tg_status assign_rows(struct trace *trace)
{
    struct heap heap = {.at = calloc(trace->n_slices + 1, sizeof *heap.at)};
    bool good = heap.at != NULL;
    for (size_t i = 0; good && i < trace->n_slices; i++) {
        struct slice *slice = &trace->slice[i];
        const struct tg_export_task *task = &slice->task;
        if (i > 0 && task->core != trace->slice[i - 1].task.core)
            heap.count = 0;
        if (heap.count > 0 && end_of(trace, &heap, 0) <= task->begin) {
            slice->row = heap.at[0];
            trace->row[slice->row].end = task->end;
            sink_top(trace, &heap);
        } else {
            good = add_row(trace, &heap, task);
            slice->row = (uint32_t)(trace->n_rows - 1);
        }
        trace->row_of[slice->number] = slice->row + 1;
    }
    free(heap.at);
    return good ? TG_OK : tg_export_no_memory(trace->job->error);
}

/* --- events --------------------------------------------------------------------------------- */

static void put_microseconds(struct tg_json *json, const char *key, uint64_t ns)
{
    tg_json_put_real(json, key, (double)ns / 1000);
}

static void begin_event(struct trace *trace, const char *kind, const char *name, uint32_t row)
{
    struct tg_json *json = &trace->json;
    tg_json_begin_line_object(json);
    tg_json_put_string(json, "ph", kind);
    tg_json_put_string(json, "name", name);
    tg_json_put_uint(json, "pid", PROCESS);
    tg_json_put_uint(json, "tid", row);
}

static void put_metadata(struct trace *trace, const char *what, uint32_t row, const char *name)
{
    begin_event(trace, "M", what, row);
    tg_json_key(&trace->json, "args");
    tg_json_begin_line_object(&trace->json);
    tg_json_put_string(&trace->json, "name", name);
    tg_json_end_object(&trace->json);
    tg_json_end_object(&trace->json);
}

static void put_row(struct trace *trace, uint32_t number)
{
    static const char *const parts[TG_PARTS] = {"AIC", "AIV0", "AIV1"};
    const struct row *row = &trace->row[number];
    char name[64];
    if (row->number == 0)
        (void)snprintf(name, sizeof name, "core %u (%s)", row->core, parts[row->core % TG_PARTS]);
    else
        (void)snprintf(name, sizeof name, "core %u (%s), row %u", row->core,
                       parts[row->core % TG_PARTS], row->number + 1);
    put_metadata(trace, "thread_name", number + 1, name);
    begin_event(trace, "M", "thread_sort_index", number + 1);
    tg_json_key(&trace->json, "args");
    tg_json_begin_line_object(&trace->json);
    tg_json_put_uint(&trace->json, "sort_index", number);
    tg_json_end_object(&trace->json);
    tg_json_end_object(&trace->json);
}

static void put_process(struct trace *trace)
{
    const struct tg_recording_info *info = &trace->job->info;
    char name[TG_NAME_MAX + 1];
    const char *run = *info->run_dir ? info->run_dir : info->dir;
    tg_name_clean(run, strlen(run), name, sizeof name);
    put_metadata(trace, "process_name", 0, name);
}

static void put_task(struct tg_json *json, const struct tg_export_task *task)
{
    tg_json_put_hex(json, "task_id", task->id);
    tg_json_put_uint(json, "ring", task->id >> 32);
    tg_json_put_uint(json, "task", task->id & UINT32_MAX);
    tg_json_put_uint(json, "records", task->records);
    tg_json_put_uint(json, "first_record", task->first);
    tg_json_put_bool(json, "began", task->has_begin);
    tg_json_put_bool(json, "completed", task->has_end && !task->is_partial);
}

/* "add", "mat+add"; "#3" if the recording has no names. */
static void kernels_of(const struct tg_entry *entry, char *names, size_t room)
{
    size_t at = 0;
    names[0] = '\0';
    for (int part = 0; part < TG_PARTS; part++) {
        const char *name = entry->kernel[part], *plus = at > 0 ? "+" : "";
        if (!name)
            continue;
        if (*name)
            at += (size_t)snprintf(names + at, room - at, "%s%s", plus, name);
        else
            at += (size_t)snprintf(names + at, room - at, "%s#%u", plus,
                                   (unsigned)entry->record.kernel[part]);
    }
}

static void put_slice(struct trace *trace, const struct slice *slice)
{
    struct tg_json *json = &trace->json;
    const struct tg_export_task *task = &slice->task;
    char names[TG_PARTS * (TG_NAME_MAX + 2)] = "";
    struct tg_entry entry;
    if (tg_recording_get(trace->job->recording, task->first, &entry))
        kernels_of(&entry, names, sizeof names);
    begin_event(trace, "X", *names ? names : "task", slice->row + 1);
    tg_json_put_string(json, "cat", "task");
    put_microseconds(json, "ts", task->begin - trace->start);
    put_microseconds(json, "dur", task->end - task->begin);
    tg_json_key(json, "args");
    tg_json_begin_line_object(json);
    put_task(json, task);
    tg_json_put_string(json, "kernel", names);
    tg_json_end_object(json);
    tg_json_end_object(json);
    trace->job->result.written++;
}

static uint32_t row_of(const struct trace *trace, const struct tg_export_task *task)
{
    return task ? trace->row_of[task - trace->tasks.at] : 0;
}

/* Viewers attach an arrow to the slice around its time, so it leaves just before the slice ends. */
static void put_flow(struct trace *trace, const struct tg_export_task *before,
                     const struct tg_export_task *after, const char *kind)
{
    struct tg_json *json = &trace->json;
    uint64_t leaves = before->end > before->begin ? before->end - 1 : before->end;
    trace->flows++;
    for (int end = 0; end < 2; end++) {
        const struct tg_export_task *task = end ? after : before;
        begin_event(trace, end ? "f" : "s", *kind ? kind : "edge", row_of(trace, task));
        tg_json_put_string(json, "cat", "edge");
        tg_json_put_uint(json, "id", trace->flows);
        put_microseconds(json, "ts", (end ? after->begin : leaves) - trace->start);
        if (end)
            tg_json_put_string(json, "bp", "e");
        tg_json_end_object(json);
    }
}

static void put_edges_of(struct trace *trace, const struct tg_deps_read_task *task)
{
    const struct tg_export_task *after = tg_export_tasks_find(&trace->tasks, task->id);
    for (size_t i = 0; row_of(trace, after) > 0 && i < task->n_edges; i++) {
        const struct tg_export_task *before =
            tg_export_tasks_find(&trace->tasks, task->edge[i].before);
        if (row_of(trace, before) > 0)
            put_flow(trace, before, after, task->edge[i].kind);
    }
}

static tg_status put_edges(struct trace *trace)
{
    struct tg_export_job *job = trace->job;
    struct tg_deps_reader deps;
    bool more;
    tg_status status = tg_deps_reader_open(&job->info, &deps, &more, job->error);
    if (!more)
        return status;
    while ((status = tg_deps_reader_next(&deps, &more, job->error)) == TG_OK && more) {
        put_edges_of(trace, &deps.task);
        if (!tg_export_tell(job))
            break;
    }
    tg_deps_reader_close(&deps);
    return tg_export_end(job, status);
}

static tg_status put_events(struct trace *trace)
{
    struct tg_export_job *job = trace->job;
    put_process(trace);
    for (size_t i = 0; i < trace->n_rows; i++)
        put_row(trace, (uint32_t)i);
    for (size_t i = 0; i < trace->n_slices; i++) {
        put_slice(trace, &trace->slice[i]);
        if (i % 256 == 0 && !tg_export_tell(job))
            break;
    }
    return job->is_cancelled ? tg_export_end(job, TG_OK) : put_edges(trace);
}

static tg_status write_json(struct trace *trace, FILE *file)
{
    struct tg_json *json = &trace->json;
    tg_json_start(json, file);
    tg_json_begin_object(json);
    tg_json_put_string(json, "displayTimeUnit", "ns");
    tg_json_key(json, "otherData");
    tg_json_begin_line_object(json);
    tg_json_put_string(json, "program", "taskglass");
    tg_json_put_string(json, "version", tg_version());
    tg_json_end_object(json);
    tg_json_key(json, "traceEvents");
    tg_json_begin_array(json);
    tg_status status = put_events(trace);
    tg_json_end_array(json);
    tg_json_end_object(json);
    if (tg_json_finish(json) != TG_OK && status == TG_OK)
        status = tg_error_set(trace->job->error, TG_IO_ERROR, "%s", strerror(errno));
    return status;
}

/* --- the whole ------------------------------------------------------------------------------ */

static tg_status check(const struct trace *trace)
{
    const struct tg_export_job *job = trace->job;
    if (!job->info.from_journal)
        return tg_error_set(job->error, TG_BAD_ARGUMENT,
                            "there are no times in this recording: they are in the journal, and "
                            "'%s' has none",
                            job->info.dir);
    if (trace->n_slices == 0)
        return tg_error_set(job->error, TG_NOT_FOUND, "nothing to export: no task is selected");
    return TG_OK;
}

static tg_status prepare(struct trace *trace)
{
    tg_status status = tg_export_tasks_gather(trace->job, &trace->tasks);
    if (status == TG_OK)
        status = make_slices(trace);
    if (status == TG_OK)
        status = check(trace);
    return status == TG_OK ? assign_rows(trace) : status;
}

tg_status tg_export_as_trace(struct tg_export_job *job)
{
    struct trace trace = {.job = job};
    struct tg_export_file file;
    tg_export_walks(job, 1);
    tg_status status = prepare(&trace);
    if (status == TG_OK)
        status = tg_export_file_open(job, job->config->path, &file);
    if (status == TG_OK)
        status = tg_export_file_close(job, &file, write_json(&trace, file.file));
    tg_export_tasks_free(&trace.tasks);
    free(trace.slice);
    free(trace.row);
    free(trace.row_of);
    return status;
}
