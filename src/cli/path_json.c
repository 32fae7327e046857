/* SPDX-License-Identifier: Apache-2.0 */
/* `taskglass path` for programs. Times are whole nanoseconds; what is not known is null. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <taskglass/json.h>

#include "cli/cli.h"
#include "cli/diff_words.h"
#include "cli/path.h"

/* A number, or null. */
static void put(struct tg_json *json, const char *key, uint64_t number)
{
    tg_json_key(json, key);
    if (number == TG_NONE)
        tg_json_null(json);
    else
        tg_json_uint(json, number);
}

static void put_text(struct tg_json *json, const char *key, const char *text)
{
    tg_json_key(json, key);
    if (*text)
        tg_json_string(json, text);
    else
        tg_json_null(json);
}

static void put_run(struct tg_json *json, const struct tg_timing_info *info)
{
    tg_json_key(json, "run");
    tg_json_begin_object(json);
    tg_json_put_string(json, "source", info->source);
    tg_json_put_string(json, "file", info->file);
    put_text(json, "workload", info->workload);
    put_text(json, "case", info->case_name);
    put_text(json, "platform", info->platform);
    put_text(json, "runtime", info->runtime);
    put_text(json, "result", info->result);
    put(json, "clock_step_ns", info->clock_step == 0 ? TG_NONE : info->clock_step);
    tg_json_put_uint(json, "tasks", info->tasks);
    tg_json_put_uint(json, "timed", info->timed);
    tg_json_put_uint(json, "unfinished", info->unfinished);
    tg_json_put_uint(json, "half_timed", info->half_timed);
    tg_json_put_uint(json, "edges", info->edges);
    tg_json_put_uint(json, "unknown_edges", info->unknown_edges);
    tg_json_put_uint(json, "early_edges", info->early_edges);
    tg_json_put_uint(json, "twins", info->twins);
    tg_json_put_uint(json, "backward", info->backward);
    tg_json_put_uint(json, "lost", info->lost);
    tg_json_end_object(json);
    tg_json_key(json, "span");
    tg_json_begin_line_object(json);
    tg_json_put_uint(json, "start_ns", info->start);
    tg_json_put_uint(json, "end_ns", info->end);
    tg_json_put_uint(json, "ns", info->end - info->start);
    put(json, "run_end_ns", info->run_end);
    tg_json_end_object(json);
}

static void put_spent(struct tg_json *json, const uint64_t *spent)
{
    tg_json_key(json, "spent_ns");
    tg_json_begin_line_object(json);
    for (unsigned i = 0; i < TG_SPENT_KINDS; i++)
        tg_json_put_uint(json, tg_spent_name(i), spent[i]);
    tg_json_end_object(json);
}

static void put_task(const struct path *path, struct tg_json *json,
                     const struct tg_timing_task *task)
{
    struct tg_timing_kernel kernel;
    bool has_kernel = tg_timing_get_kernel(path->timing, task->kernel, &kernel);
    tg_json_put_hex(json, "task_id", task->id);
    put_text(json, "kernel", has_kernel ? kernel.name : "");
    put_text(json, "scope", task->scope);
    put(json, "core", task->core == TG_NO_KERNEL ? TG_NONE : task->core);
    put(json, "submitted_ns", task->submitted);
    put(json, "ready_ns", task->ready);
    put(json, "begin_ns", task->begin);
    put(json, "end_ns", task->end);
    put(json, "busy_ns", task->busy);
    put(json, "latency_ns", task->latency);
    tg_json_put_uint(json, "edges", task->edges);
    tg_json_put_bool(json, "unfinished", task->unfinished);
}

static void put_path(const struct path *path, struct tg_json *json)
{
    struct tg_timing_step step;
    struct tg_timing_task task, after;
    put_text(json, "path_unknown", path->info.path_unknown);
    tg_json_key(json, "path");
    if (*path->info.path_unknown) {
        tg_json_null(json);
        return;
    }
    tg_json_begin_object(json);
    put_spent(json, path->info.spent);
    tg_json_put_uint(json, "tasks", path->info.steps);
    tg_json_key(json, "steps");
    tg_json_begin_array(json);
    for (uint64_t i = 0; tg_timing_get_step(path->timing, i, &step); i++) {
        (void)tg_timing_get_task(path->timing, step.task, &task);
        tg_json_begin_line_object(json);
        put_task(path, json, &task);
        tg_json_key(json, "after");
        if (tg_timing_get_task(path->timing, step.after, &after))
            tg_json_hex(json, after.id);
        else
            tg_json_null(json);
        tg_json_put_uint(json, "from_ns", step.from);
        tg_json_put_bool(json, "by_orchestrator", step.by_orchestrator);
        put_spent(json, step.spent);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
    tg_json_end_object(json);
}

static void put_waiting(const struct path *path, struct tg_json *json)
{
    const struct tg_timing_info *info = &path->info;
    struct tg_timing_task task;
    put_text(json, "wait_unknown", info->wait_unknown);
    tg_json_key(json, "waiting");
    if (*info->wait_unknown) {
        tg_json_null(json);
        return;
    }
    tg_json_begin_object(json);
    tg_json_put_bool(json, "ready_measured", info->has_ready);
    tg_json_put_bool(json, "submits_known", info->has_submits);
    put(json, "ns", info->wait);
    put(json, "busy_ns", info->wait_busy);
    put(json, "latency_ns", info->wait - info->wait_busy);
    put(json, "dispatched_ns", info->dispatched);
    tg_json_put_uint(json, "tasks", info->waited);
    tg_json_key(json, "longest");
    tg_json_begin_array(json);
    uint64_t most = path->limit.number < info->waited ? path->limit.number : info->waited;
    uint64_t *number = malloc((most + 1) * sizeof *number);
    if (!number)
        cli_fault("list the tasks that waited", ENOMEM);
    uint64_t count = tg_timing_rank(path->timing, TG_TIMING_BY_WAIT, most, number);
    for (uint64_t i = 0; i < count && tg_timing_get_task(path->timing, number[i], &task); i++) {
        tg_json_begin_line_object(json);
        put_task(path, json, &task);
        tg_json_end_object(json);
    }
    free(number);
    tg_json_end_array(json);
    tg_json_end_object(json);
}

static void put_kernels(const struct path *path, struct tg_json *json)
{
    struct tg_timing_kernel kernel;
    tg_json_key(json, "kernels");
    tg_json_begin_array(json);
    for (uint64_t i = 0; i < path->limit.number && tg_timing_get_kernel(path->timing, i, &kernel);
         i++) {
        tg_json_begin_line_object(json);
        tg_json_put_string(json, "kernel", kernel.name);
        tg_json_put_uint(json, "tasks", kernel.tasks);
        tg_json_put_uint(json, "run_ns", kernel.run);
        tg_json_put_uint(json, "longest_ns", kernel.most);
        put(json, "wait_ns", kernel.wait);
        tg_json_put_uint(json, "path_tasks", kernel.path_tasks);
        tg_json_put_uint(json, "path_run_ns", kernel.path_run);
        put(json, "path_wait_ns", kernel.path_wait);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

static void put_core(struct tg_json *json, const struct tg_timing_core *core, bool is_kind)
{
    static const char *const kinds[] = {"aic", "aiv"};
    tg_json_begin_line_object(json);
    if (!is_kind) {
        tg_json_put_uint(json, "core", core->number);
        tg_json_put_string(json, "name", core->name);
    }
    put_text(json, "kind", core->kind < 2 ? kinds[core->kind] : "");
    if (is_kind)
        tg_json_put_uint(json, "cores", core->cores);
    tg_json_put_uint(json, "tasks", core->tasks);
    tg_json_put_uint(json, "run_ns", core->run);
    tg_json_put_uint(json, "idle_ns", core->idle);
    put(json, "nothing_ns", core->nothing);
    put(json, "other_ns", core->other);
    put(json, "latency_ns", core->latency);
    tg_json_end_object(json);
}

static void put_cores(const struct path *path, struct tg_json *json)
{
    struct tg_timing_core core;
    tg_json_key(json, "kinds");
    tg_json_begin_array(json);
    for (uint64_t i = 0; tg_timing_get_kind(path->timing, i, &core); i++)
        put_core(json, &core, true);
    tg_json_end_array(json);
    tg_json_key(json, "cores");
    tg_json_begin_array(json);
    for (uint64_t i = 0; tg_timing_get_core(path->timing, i, &core); i++)
        put_core(json, &core, false);
    tg_json_end_array(json);
}

static void put_gains(const struct path *path, struct tg_json *json)
{
    uint64_t span = path->info.end - path->info.start;
    struct tg_timing_kernel kernel;
    tg_json_key(json, "gains");
    tg_json_begin_array(json);
    for (uint64_t i = 0; i < path->n_gains; i++) {
        const struct tg_timing_gain *gain = &path->gain[i];
        tg_json_begin_line_object(json);
        tg_json_put_string(json, "change", gain->change);
        if (tg_timing_get_kernel(path->timing, gain->kernel, &kernel)) {
            tg_json_put_string(json, "kernel", kernel.name);
            tg_json_put_uint(json, "percent", gain->percent);
        }
        tg_json_put_string(json, "is", gain->is_bound ? "bound" : "estimate");
        put(json, "span_ns", gain->span);
        put(json, "gained_ns", gain->span == TG_NONE ? TG_NONE : span - gain->span);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

static void put_notes(const struct path *path, struct tg_json *json)
{
    struct tg_note note;
    tg_json_key(json, "notes");
    tg_json_begin_array(json);
    for (unsigned i = 0; tg_timing_note(path->timing, i, &note); i++)
        tg_json_string(json, note.text);
    tg_json_end_array(json);
}

void path_print_json(const struct path *path)
{
    const struct tg_recording *recording = tg_timing_recording(path->timing);
    struct tg_recording_info info;
    struct tg_json json;
    tg_json_start(&json, stdout);
    tg_json_begin_object(&json);
    if (recording)
        cli_json_recording(&json, "recording", recording);
    put_run(&json, &path->info);
    put_path(path, &json);
    put_waiting(path, &json);
    put_kernels(path, &json);
    put_cores(path, &json);
    put_gains(path, &json);
    put_notes(path, &json);
    tg_json_key(&json, "left_out");
    tg_json_begin_array(&json);
    if (recording) {
        tg_recording_get_info(recording, &info);
        cli_json_notes(&json, &info);
    }
    tg_json_end_array(&json);
    tg_json_end_object(&json);
    (void)tg_json_finish(&json); /* main reports errors of stdout */
}
