/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows a recording on a time axis, with the content of `run --trace` as far as a recording knows it:
 *
 *   tasks on their cores     from the first record before dispatch to the last one after completion, so with
 *                            the time that recording took; a mix is one slice on each of its cores,
 *                            all with the same times, because a recording does not have those of its parts
 *   submissions, edges       from deps.json (export_trace_deps.c)
 *   scopes, rings            from the scope stats (export_trace_scopes.c)
 *   arguments, recorder      from the records (export_trace_records.c)
 *   the run                  from run.json
 *
 * It is Chrome JSON, or Perfetto's protobuf if the file's name is one of a Perfetto trace.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/timeline_calls.h"
#include "base/error.h"
#include "export/export_trace.h"
#include "recording/reader.h"

/* --- which tasks and cores ------------------------------------------------------------------- */

static bool is_selected(const struct tg_export_task *task)
{
    return task->is_selected && (task->has_begin || task->has_end);
}

static tg_status choose_tasks(struct tg_export_trace *trace)
{
    struct tg_export_job *job = trace->job;
    uint64_t limit = job->config->limit;
    trace->begin = UINT64_MAX;
    for (size_t i = 0; i < trace->tasks.count && (limit == 0 || trace->shown < limit); i++) {
        struct tg_export_task *task = &trace->tasks.at[i];
        if (!is_selected(task))
            continue;
        task->is_written = true;
        trace->shown++;
        trace->begin = task->begin < trace->begin ? task->begin : trace->begin;
        trace->end = task->end > trace->end ? task->end : trace->end;
    }
    if (!job->info.from_journal)
        return tg_error_set(job->error, TG_BAD_ARGUMENT,
                            "there are no times in this recording: they are in the journal, and "
                            "'%s' has none",
                            job->info.dir);
    if (trace->shown == 0)
        return tg_error_set(job->error, TG_NOT_FOUND, "nothing to export: no task is selected");
    return TG_OK;
}

static int by_number(const void *a, const void *b)
{
    uint32_t left = ((const struct tg_trace_core *)a)->number;
    uint32_t right = ((const struct tg_trace_core *)b)->number;
    return left < right ? -1 : left > right;
}

/* The core of a part. All parts of a mix run on the cores of one block; what has one kernel runs where it was
 * recorded. */
static uint32_t core_of_part(const struct tg_export_task *task, unsigned kernels, unsigned part)
{
    uint32_t first = task->core - task->core % TG_PARTS;
    return kernels > 1 && first <= UINT32_MAX - TG_PARTS ? first + part : task->core;
}

static unsigned count_kernels(const struct tg_entry *entry)
{
    unsigned count = 0;
    for (int part = 0; part < TG_PARTS; part++)
        count += entry->kernel[part] != NULL;
    return count;
}

static size_t list_cores_of(struct tg_export_trace *trace, const struct tg_export_task *task,
                            size_t n)
{
    struct tg_entry entry;
    trace->core[n++].number = task->core;
    if (!tg_recording_get(trace->job->recording, task->first, &entry))
        return n;
    unsigned kernels = count_kernels(&entry);
    for (unsigned part = 0; kernels > 1 && part < TG_PARTS; part++)
        if (entry.kernel[part])
            trace->core[n++].number = core_of_part(task, kernels, part);
    return n;
}

/* The cores that ran something, and those of the device that did not. */
static tg_status list_cores(struct tg_export_trace *trace)
{
    enum { MOST_IDLE = 4096 };
    static const char *const parts[TG_PARTS] = {"AIC", "AIV0", "AIV1"};
    uint64_t idle = trace->facts.cores <= MOST_IDLE ? trace->facts.cores : 0;
    size_t n = 0, kept = 0;
    trace->core = calloc((size_t)trace->shown * (1 + TG_PARTS) + idle + 1, sizeof *trace->core);
    if (!trace->core)
        return tg_export_no_memory(trace->job->error);
    for (size_t i = 0; i < trace->tasks.count; i++)
        if (trace->tasks.at[i].is_written)
            n = list_cores_of(trace, &trace->tasks.at[i], n);
    for (uint32_t i = 0; i < idle; i++)
        trace->core[n++].number = i;
    qsort(trace->core, n, sizeof *trace->core, by_number);
    for (size_t i = 0; i < n; i++) {
        uint32_t number = trace->core[i].number;
        if (kept > 0 && trace->core[kept - 1].number == number)
            continue;
        trace->core[kept++] =
            (struct tg_trace_core){.number = number,
                                   .kind = number % TG_PARTS == TG_PART_AIC ? TG_AIC : TG_AIV,
                                   .name = parts[number % TG_PARTS]};
    }
    trace->n_cores = kept;
    return TG_OK;
}

static uint32_t index_of_core(const struct tg_export_trace *trace, uint32_t number)
{
    struct tg_trace_core key = {.number = number};
    const struct tg_trace_core *found =
        bsearch(&key, trace->core, trace->n_cores, sizeof key, by_number);
    return (uint32_t)(found - trace->core);
}

/* --- tasks ----------------------------------------------------------------------------------- */

/* "add"; "#3" if the recording has no names; "task" if it has no kernels. */
static bool name_kernel(struct tg_export_trace *trace, const struct tg_entry *entry, unsigned part,
                        uint32_t *number)
{
    char text[24];
    const char *name = part < TG_PARTS ? entry->kernel[part] : "task";
    if (!*name) {
        (void)snprintf(text, sizeof text, "#%u", (unsigned)entry->record.kernel[part]);
        name = text;
    }
    return tg_text_list_add(&trace->kernels, name, number);
}

/* A task of a run that ended well has ended, also if nothing of it was recorded afterwards. */
static bool has_completed(const struct tg_export_trace *trace, const struct tg_export_task *task)
{
    uint32_t state = trace->job->info.state;
    return !task->is_partial && (task->has_end || state == TG_RECORDING_FINISHED);
}

/* `part` is TG_PARTS if the recording does not say which kernels the task has. */
static bool add_part(struct tg_export_trace *trace, size_t number, const struct tg_entry *entry,
                     unsigned kernels, unsigned part)
{
    const struct tg_export_task *task = &trace->tasks.at[number];
    struct tg_spool_event event = {.type = TG_SPOOL_TASK,
                                   .id = task->id,
                                   .begin = task->begin,
                                   .end = task->end,
                                   .at = trace->ready[number],
                                   .core = index_of_core(trace, core_of_part(task, kernels, part)),
                                   .part = (uint8_t)part};
    if (!name_kernel(trace, entry, part, &event.number))
        return false;
    uint32_t kind;
    if (task->has_begin && task->has_end && part < TG_PARTS &&
        tg_is_call_name(entry->kernel[part], &kind))
        event.begin = event.end; /* no core had it in between */
    if (!has_completed(trace, task))
        event.flags |= TG_SPOOL_PARTIAL;
    if (!task->has_begin)
        event.flags |= TG_SPOOL_NO_BEGIN;
    tg_spool_add(trace->spool, &event);
    return true;
}

static bool add_task(struct tg_export_trace *trace, size_t number)
{
    const struct tg_export_task *task = &trace->tasks.at[number];
    char text[24];
    struct tg_entry entry;
    unsigned kernels = 0;
    if (tg_recording_get(trace->job->recording, task->first, &entry))
        kernels = count_kernels(&entry);
    for (unsigned part = 0; kernels > 0 && part < TG_PARTS; part++)
        if (entry.kernel[part] && !add_part(trace, number, &entry, kernels, part))
            return false;
    if (kernels == 0 && !add_part(trace, number, NULL, 0, TG_PARTS))
        return false;
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)task->records);
    tg_spool_add_text(trace->spool, task->id, "records", text);
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)task->first);
    tg_spool_add_text(trace->spool, task->id, "first_record", text);
    trace->job->result.written++;
    return true;
}

static tg_status add_tasks(struct tg_export_trace *trace)
{
    for (size_t i = 0; i < trace->tasks.count; i++) {
        if (trace->tasks.at[i].is_written && !add_task(trace, i))
            return tg_export_no_memory(trace->job->error);
        if (i % 256 == 0 && !tg_export_tell(trace->job))
            break;
    }
    return tg_export_end(trace->job, TG_OK);
}

/* --- the whole ------------------------------------------------------------------------------- */

static tg_status prepare(struct tg_export_trace *trace)
{
    struct tg_export_job *job = trace->job;
    tg_status status = tg_export_tasks_gather(job, &trace->tasks);
    if (status == TG_OK)
        status = choose_tasks(trace);
    if (status != TG_OK)
        return status;
    size_t room = trace->tasks.count + 1;
    trace->ready = malloc(room * sizeof *trace->ready);
    trace->submitted = malloc(room * sizeof *trace->submitted);
    trace->seen = calloc(room, sizeof *trace->seen);
    if (!trace->ready || !trace->submitted || !trace->seen)
        return tg_export_no_memory(job->error);
    for (size_t i = 0; i < room; i++)
        trace->ready[i] = trace->submitted[i] = TG_SPOOL_NO_TIME;
    tg_export_facts_read(job, &trace->facts);
    return list_cores(trace);
}

static tg_status fill_spool(struct tg_export_trace *trace)
{
    tg_status status = tg_export_trace_edges(trace);
    if (status == TG_OK)
        status = add_tasks(trace);
    if (status == TG_OK)
        status = tg_export_trace_scopes(trace);
    return status == TG_OK ? tg_export_trace_records(trace) : status;
}

static tg_status write_trace(struct tg_export_trace *trace, FILE *file, enum tg_trace_format format)
{
    struct tg_export_job *job = trace->job;
    char name[TG_NAME_MAX + 1];
    const char *dir = *job->info.run_dir ? job->info.run_dir : job->info.dir;
    tg_name_clean(dir, strlen(dir), name, sizeof name);
    trace->run.name = name;
    trace->run.core = trace->core;
    trace->run.n_cores = (uint32_t)trace->n_cores;
    trace->run.kernel = trace->kernels.at;
    trace->run.n_kernels = (uint32_t)trace->kernels.count;
    trace->run.site = trace->sites.at;
    trace->run.n_sites = (uint32_t)trace->sites.count;
    trace->run.begin = trace->begin;
    trace->run.end = trace->end;
    trace->run.fact = trace->facts.fact;
    trace->run.n_facts = trace->facts.count;
    struct tg_trace_target target = {
        .file = file, .format = format, .goes_on = tg_export_goes_on, .context = job};
    tg_status status = tg_trace_write(trace->spool, &trace->run, &target, NULL, job->error);
    return status == TG_CANCELLED ? tg_export_end(job, TG_OK) : status;
}

/* Beside the file, where there is room for it; in /tmp if the file goes elsewhere than to a folder. */
static tg_status make_spool(struct tg_export_trace *trace, const struct tg_export_file *file)
{
    const char *path = file->path, *slash = strrchr(path, '/');
    struct tg_error *error = trace->job->error;
    if (!file->made || !tg_new_file_name(file->made))
        return tg_spool_create(P_tmpdir, &trace->spool, error);
    if (!slash)
        return tg_spool_create(".", &trace->spool, error);
    char *folder = strndup(path, slash == path ? 1 : (size_t)(slash - path));
    if (!folder)
        return tg_export_no_memory(error);
    tg_status status = tg_spool_create(folder, &trace->spool, error);
    free(folder);
    return status;
}

static void release(struct tg_export_trace *trace)
{
    tg_spool_destroy(trace->spool);
    tg_export_tasks_free(&trace->tasks);
    tg_text_list_free(&trace->kernels);
    tg_text_list_free(&trace->sites);
    free(trace->ready);
    free(trace->submitted);
    free(trace->seen);
    free(trace->core);
}

static tg_status export_as(struct tg_export_job *job, enum tg_trace_format format)
{
    struct tg_export_trace *trace = calloc(1, sizeof *trace);
    struct tg_export_file file;
    if (!trace)
        return tg_export_no_memory(job->error);
    trace->job = job;
    tg_export_walks(job, 2);
    tg_status status = prepare(trace);
    if (status == TG_OK)
        status = tg_export_file_open(job, job->config->path, &file);
    if (status == TG_OK) {
        status = make_spool(trace, &file);
        if (status == TG_OK)
            status = fill_spool(trace);
        if (status == TG_OK)
            status = write_trace(trace, file.file, format);
        status = tg_export_file_close(job, &file, status);
    }
    release(trace);
    free(trace);
    return status;
}

tg_status tg_export_trace_to(const struct tg_recording *recording, FILE *file, const char *folder,
                             enum tg_trace_format format, tg_export_progress_fn progress,
                             void *context, struct tg_error *error)
{
    struct tg_export_config config = {
        .format = "trace", .progress = progress, .progress_context = context};
    struct tg_export_job job = {.recording = recording, .config = &config, .error = error};
    struct tg_export_trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return tg_export_no_memory(error);
    tg_recording_get_info(recording, &job.info);
    trace->job = &job;
    tg_export_walks(&job, 2);
    tg_status status = prepare(trace);
    if (status == TG_OK)
        status = tg_spool_create(folder, &trace->spool, error);
    if (status == TG_OK)
        status = fill_spool(trace);
    if (status == TG_OK)
        status = write_trace(trace, file, format);
    status = tg_recording_conclude(recording, status, error);
    release(trace);
    free(trace);
    return status;
}

tg_status tg_export_as_trace(struct tg_export_job *job)
{
    bool is_perfetto = tg_export_is_perfetto(job->config->path);
    return export_as(job, is_perfetto ? TG_TRACE_PERFETTO : TG_TRACE_CHROME);
}
