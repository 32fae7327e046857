/* SPDX-License-Identifier: Apache-2.0 */
/* Writes run.json: what ran, with which options, and how it ended. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/comm.h>
#include <taskglass/json.h>
#include <taskglass/recording.h>

#include "base/error.h"
#include "host/execution.h"
#include "host/explain.h"
#include "trace/trace.h"

/* Parameters are written as text: some are names, and numbers keep the form the user typed. */
static void put_params(struct tg_json *json, const struct tg_case_host *test_case)
{
    tg_json_key(json, "params");
    tg_json_begin_object(json);
    for (uint32_t i = 0; i < tg_case_param_count(test_case); i++)
        tg_json_put_string(json, tg_case_param(test_case, i)->key,
                           tg_case_param(test_case, i)->value);
    tg_json_end_object(json);
}

static void put_command_line(struct tg_json *json, const struct tg_execute_config *config)
{
    tg_json_key(json, "command_line");
    tg_json_begin_line_array(json);
    for (int i = 0; i < config->argc; i++)
        tg_json_string(json, config->argv[i]);
    tg_json_end_array(json);
}

static void put_options(struct tg_json *json, const struct tg_settings *settings)
{
    static const char *const sources[] = {"default", "environment", "caller"};
    struct tg_setting_info info;
    tg_json_key(json, "options");
    tg_json_begin_object(json);
    for (uint32_t i = 0; tg_settings_get(settings, i, &info); i++) {
        tg_json_key(json, info.name);
        tg_json_begin_line_object(json);
        tg_json_put_string(json, "value", info.value);
        tg_json_put_string(json, "source", sources[info.source]);
        tg_json_end_object(json);
    }
    tg_json_end_object(json);
}

static void put_result(struct tg_json *json, tg_status status)
{
    tg_json_key(json, "result");
    tg_json_begin_line_object(json);
    tg_json_put_string(json, "status", tg_status_name(status));
    tg_json_key(json, "exit_code");
    tg_json_int(json, tg_status_exit_code(status));
    tg_json_end_object(json);
}

static void put_source_line(struct tg_json *json, const char *key,
                            const struct tg_source_line *line)
{
    tg_json_key(json, key);
    if (line->line == 0) {
        tg_json_null(json);
        return;
    }
    tg_json_begin_line_object(json);
    tg_json_put_string(json, "file", line->file);
    tg_json_put_uint(json, "line", line->line);
    tg_json_put_string(json, "function", line->function);
    tg_json_end_object(json);
}

static void put_running(struct tg_json *json, const struct tg_run_result *run)
{
    static const char *const parts[TG_PARTS] = {"aic", "aiv0", "aiv1"};
    tg_json_key(json, "running");
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < run->n_running; i++) {
        const struct tg_run_task *task = &run->running[i];
        tg_json_begin_line_object(json);
        tg_json_key(json, "task_id");
        tg_json_hex(json, task->task);
        tg_json_put_string(json, "kernel", task->kernel);
        tg_json_put_string(json, "part", task->part < TG_PARTS ? parts[task->part] : NULL);
        tg_json_put_uint(json, "core", task->core);
        tg_json_put_bool(json, "faulted", task->faulted);
        put_source_line(json, "site", &task->site.at);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

static void put_unmet(struct tg_json *json, const struct tg_run_result *run)
{
    tg_json_put_uint(json, "unmet_count", run->n_unmet);
    tg_json_key(json, "unmet");
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < run->n_unmet && i < TG_MAX_UNMET; i++) {
        tg_json_begin_line_object(json);
        tg_json_put_hex(json, "task_id", run->unmet[i].task);
        tg_json_put_hex(json, "waits_for", run->unmet[i].waits_for);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

static void put_error(struct tg_json *json, const struct tg_execution *e)
{
    tg_json_key(json, "error");
    if (e->status == TG_OK) {
        tg_json_null(json);
        return;
    }
    tg_json_begin_object(json);
    tg_json_put_string(json, "name", tg_status_name(e->status));
    tg_json_put_string(json, "text", e->error.text);
    tg_json_put_string(json, "advice", tg_execution_advice(e));
    put_source_line(json, "site", &e->run.site.at);
    put_source_line(json, "called_at", &e->run.site.called_at);
    put_running(json, &e->run);
    put_unmet(json, &e->run);
    tg_json_end_object(json);
}

/* Only of a run that failed while its tasks ran: why, as taskglass explain says it. */
static void put_explanation(struct tg_json *json, const struct tg_explanation *explanation)
{
    if (explanation == NULL)
        return;
    tg_json_key(json, "explanation");
    tg_json_begin_object(json);
    tg_explanation_put(explanation, json);
    tg_json_end_object(json);
}

/* What was in force in the device's process. */
static void put_sandbox(struct tg_json *json, const struct tg_device_info *device)
{
    tg_json_key(json, "sandbox");
    if (!device->platform) {
        tg_json_null(json);
        return;
    }
    tg_json_begin_line_object(json);
    tg_json_put_bool(json, "no_new_privs", device->no_new_privs);
    tg_json_put_bool(json, "seccomp", device->seccomp);
    tg_json_put_uint(json, "landlock", device->landlock);
    tg_json_end_object(json);
}

/* Only of a platform that has some. */
static void put_gpu(struct tg_json *json, const struct tg_device_info *device)
{
    if (device->gpus == 0)
        return;
    tg_json_key(json, "gpu");
    tg_json_begin_line_object(json);
    tg_json_put_uint(json, "index", device->gpu);
    tg_json_put_uint(json, "of", device->gpus);
    tg_json_put_string(json, "name", *device->gpu_name ? device->gpu_name : NULL);
    tg_json_end_object(json);
}

static void put_device(struct tg_json *json, const struct tg_device_info *device)
{
    tg_json_key(json, "device");
    if (!device->platform) {
        tg_json_null(json);
        return;
    }
    tg_json_begin_object(json);
    tg_json_put_uint(json, "cores", device->cores);
    tg_json_put_uint(json, "blocks", device->blocks);
    tg_json_put_uint(json, "schedulers", device->schedulers);
    tg_json_put_uint(json, "memory", device->memory);
    tg_json_put_uint(json, "memory_used", device->memory_used);
    tg_json_put_bool(json, "host_sees_memory", device->host_sees_memory);
    tg_json_put_bool(json, "lost", device->lost);
    put_gpu(json, device);
    tg_json_end_object(json);
}

/* ISO 8601 with the offset from UTC. */
static void put_started(struct tg_json *json, time_t started)
{
    char text[64] = "";
    struct tm local;
    if (localtime_r(&started, &local))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", &local);
    tg_json_put_string(json, "started", text);
}

/* Only of a platform whose device says when it had begun. */
static void put_begin(struct tg_json *json, const struct tg_execution *e)
{
    if (e->device.gpus == 0)
        return;
    tg_json_put_real(json, "begin_seconds", e->run.begin_seconds);
    tg_json_put_bool(json, "lingered", e->run.lingered);
}

static void put_times(struct tg_json *json, const struct tg_execution *e)
{
    tg_json_key(json, "times");
    tg_json_begin_object(json);
    put_started(json, e->started);
    tg_json_put_real(json, "prepare_seconds", e->times.prepare);
    tg_json_put_real(json, "open_seconds", e->times.open);
    tg_json_put_real(json, "load_seconds", e->times.load);
    tg_json_put_real(json, "copy_in_seconds", e->times.copy_in);
    tg_json_put_real(json, "build_seconds", e->times.build);
    tg_json_put_real(json, "start_seconds", e->run.start_seconds);
    put_begin(json, e);
    tg_json_put_real(json, "execute_seconds", e->run.execute_seconds);
    tg_json_put_real(json, "copy_out_seconds", e->times.copy_out);
    tg_json_put_real(json, "check_seconds", e->times.check);
    tg_json_put_real(json, "total_seconds", e->times.total);
    tg_json_end_object(json);
}

static void put_losses(struct tg_json *json, const struct tg_record_summary *summary)
{
    tg_json_key(json, "lost");
    tg_json_begin_line_object(json);
    for (unsigned cause = 0; cause < TG_LOSS_CAUSES; cause++)
        tg_json_put_uint(json, tg_loss_name(cause), summary->lost[cause]);
    tg_json_end_object(json);
}

/* How much the recorder recorded and lost, and how long it took. */
static void put_recorder(struct tg_json *json, const struct tg_record_result *record)
{
    const struct tg_record_summary *summary = &record->summary;
    tg_json_key(json, "recorder");
    if (!record->on) {
        tg_json_null(json);
        return;
    }
    tg_json_begin_object(json);
    tg_json_put_string(json, "status", tg_status_name(record->status));
    tg_json_put_string(json, "message", record->text);
    tg_json_put_uint(json, "attempted", summary->attempted);
    tg_json_put_uint(json, "recorded", summary->recorded);
    put_losses(json, summary);
    tg_json_put_uint(json, "truncated", summary->truncated);
    tg_json_put_uint(json, "overwritten", summary->overwritten);
    tg_json_put_uint(json, "payload_bytes", record->stored_bytes);
    tg_json_put_real(json, "record_seconds", (double)summary->record_ns * 1e-9);
    tg_json_put_real(json, "wait_seconds", (double)summary->wait_ns * 1e-9);
    tg_json_put_real(json, "finish_seconds", record->finish_seconds);
    tg_json_end_object(json);
}

static void put_counters(struct tg_json *json, const struct tg_execution *e)
{
    tg_json_key(json, "counters");
    tg_json_begin_object(json);
    tg_json_put_uint(json, "tasks", e->tasks);
    tg_json_put_uint(json, "edges", e->edges);
    tg_json_put_uint(json, "finished", e->run.finished);
    tg_json_put_uint(json, "waiting", e->run.waiting);
    tg_json_put_uint(json, "cores", e->device.cores);
    tg_json_put_uint(json, "schedulers", e->device.schedulers);
    tg_json_put_uint(json, "bytes_in", e->bytes_in);
    tg_json_put_uint(json, "bytes_out", e->bytes_out);
    tg_json_end_object(json);
}

static void put_first_mismatch(struct tg_json *json, const struct tg_output_check *check)
{
    tg_json_key(json, "first_mismatch");
    if (check->mismatches == 0) {
        tg_json_null(json);
        return;
    }
    tg_json_begin_line_object(json);
    tg_json_put_uint(json, "index", check->first);
    tg_json_put_real(json, "got", check->first_got);
    tg_json_put_real(json, "expected", check->first_expected);
    tg_json_end_object(json);
}

static void put_outputs(struct tg_json *json, const struct tg_execution *e)
{
    tg_json_key(json, "outputs");
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < e->n_outputs; i++) {
        const struct tg_output_check *check = &e->outputs[i];
        tg_json_begin_object(json);
        tg_json_put_string(json, "name", check->name);
        tg_json_put_string(json, "dtype", check->dtype);
        tg_json_put_uint(json, "elements", check->elements);
        tg_json_put_bool(json, "exact", check->exact);
        tg_json_put_uint(json, "mismatches", check->mismatches);
        tg_json_put_real(json, "max_error", check->max_error);
        put_first_mismatch(json, check);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

/* The tensors that the case declares, with their addresses: a recording knows them by address. */
static void put_tensors(struct tg_json *json, struct tg_case_host *test_case)
{
    tg_json_key(json, "tensors");
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < tg_case_tensor_count(test_case); i++) {
        const struct tg_case_tensor *tensor = tg_case_tensor_at(test_case, i);
        tg_json_begin_line_object(json);
        tg_json_put_string(json, "name", tensor->name);
        tg_json_put_uint(json, "arg", i);
        tg_json_put_string(json, "role", tg_role_name(tensor->role));
        tg_json_put_string(json, "dtype", tg_dtype_name(tensor->tensor.dtype));
        tg_json_key(json, "shape");
        tg_json_begin_line_array(json);
        for (int d = 0; d < tensor->tensor.ndim; d++)
            tg_json_int(json, tensor->tensor.shape[d]);
        tg_json_end_array(json);
        tg_json_put_uint(json, "bytes", tensor->size);
        tg_json_put_hex(json, "address", tensor->tensor.addr);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

static void put_ring(struct tg_json *json, const struct tg_ring_use *ring)
{
    tg_json_begin_line_object(json);
    tg_json_put_uint(json, "tasks", ring->tasks);
    tg_json_put_uint(json, "task_window", ring->task_window);
    tg_json_put_uint(json, "task_window_used", ring->task_window_used);
    tg_json_put_uint(json, "heap", ring->heap);
    tg_json_put_uint(json, "heap_used", ring->heap_used);
    tg_json_put_uint(json, "dep_pool", ring->dep_pool);
    tg_json_put_uint(json, "dep_pool_used", ring->dep_pool_used);
    tg_json_end_object(json);
}

static void put_wait(struct tg_json *json, const struct tg_ring_wait *wait)
{
    tg_json_begin_line_object(json);
    tg_json_put_string(json, "resource", wait->resource);
    tg_json_key(json, "ring");
    if (wait->of_ring)
        tg_json_uint(json, wait->ring);
    else
        tg_json_null(json);
    tg_json_put_uint(json, "count", wait->count);
    tg_json_put_real(json, "seconds", wait->seconds);
    tg_json_put_string(json, "scope", wait->scope);
    tg_json_put_string(json, "line", wait->line);
    tg_json_end_object(json);
}

/* The orchestration on the device: how long it waited, and how full its rings were at the end. */
static void put_orchestration(struct tg_json *json, const struct tg_orchestration_result *o)
{
    tg_json_key(json, "orchestration");
    if (!o->on) {
        tg_json_null(json);
        return;
    }
    tg_json_begin_object(json);
    tg_json_put_string(json, "ran_on", o->beside ? "host" : "device");
    tg_json_put_uint(json, "scopes", o->scopes);
    tg_json_put_real(json, "seconds", o->seconds);
    tg_json_put_real(json, "wait_seconds", o->wait_seconds);
    tg_json_put_real(json, "read_seconds", o->read_seconds);
    tg_json_key(json, "rings");
    tg_json_begin_array(json);
    for (uint32_t r = 0; r < o->n_rings; r++)
        put_ring(json, &o->ring[r]);
    tg_json_end_array(json);
    tg_json_key(json, "waits");
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < o->n_waits; i++)
        put_wait(json, &o->wait[i]);
    tg_json_end_array(json);
    tg_json_end_object(json);
}

static void put_scope_stats(struct tg_json *json, const struct tg_scope_result *scopes)
{
    tg_json_key(json, "scope_stats");
    if (!scopes->on) {
        tg_json_null(json);
        return;
    }
    tg_json_begin_object(json);
    tg_json_put_string(json, "status", tg_status_name(scopes->status));
    tg_json_put_string(json, "message", scopes->text);
    tg_json_put_bool(json, "no_rings", scopes->no_rings);
    tg_json_put_uint(json, "samples", scopes->samples);
    tg_json_put_uint(json, "dropped", scopes->dropped);
    tg_json_end_object(json);
}

/* Only of a run with a schedule. */
static void put_schedule(struct tg_json *json, const struct tg_schedule_result *schedule)
{
    if (!schedule->on)
        return;
    tg_json_key(json, "schedule");
    tg_json_begin_object(json);
    tg_json_put_bool(json, "known", schedule->known);
    tg_json_put_bool(json, "serial", schedule->serial);
    tg_json_put_uint(json, "choices", schedule->choices);
    tg_json_put_uint(json, "pairs", schedule->pairs);
    tg_json_put_uint(json, "broken", schedule->broken);
    tg_json_put_uint(json, "unknown", schedule->unknown);
    tg_json_put_string(json, "message", schedule->text);
    tg_json_end_object(json);
}

/* Only of a run that could communicate. */
static void put_comm(struct tg_json *json, const struct tg_run_comm_result *comm)
{
    if (!comm->on)
        return;
    tg_json_key(json, "comm");
    tg_json_begin_object(json);
    tg_json_put_uint(json, "rank", comm->rank);
    tg_json_put_uint(json, "ranks", comm->ranks);
    tg_json_put_string(json, "transport", comm->transport);
    tg_json_key(json, "calls");
    tg_json_begin_line_object(json);
    for (uint32_t kind = 0; kind < TG_COMM_KINDS; kind++)
        if (comm->calls[kind] > 0)
            tg_json_put_uint(json, tg_comm_kind_name(kind), comm->calls[kind]);
    tg_json_end_object(json);
    tg_json_put_uint(json, "bytes_sent", comm->bytes_sent);
    tg_json_put_uint(json, "bytes_received", comm->bytes_received);
    tg_json_put_uint(json, "waiting", comm->waiting);
    tg_json_end_object(json);
}

/* Only of a run that was traced. */
static void put_trace(struct tg_json *json, const char *file, const struct tg_run_trace *trace)
{
    if (!trace->on)
        return;
    tg_json_key(json, "trace");
    tg_json_begin_object(json);
    tg_json_put_string(json, "file", file);
    tg_json_put_string(json, "format",
                       tg_trace_format_of(file) == TG_TRACE_CHROME ? "chrome" : "perfetto");
    tg_json_put_string(json, "status", tg_status_name(trace->status));
    tg_json_put_string(json, "message", trace->text);
    tg_json_put_uint(json, "tasks", trace->tasks);
    tg_json_put_uint(json, "events", trace->events);
    tg_json_put_uint(json, "lost", trace->lost);
    tg_json_put_uint(json, "bytes", trace->bytes);
    tg_json_put_uint(json, "clock_resolution_ns", trace->clock_ns);
    tg_json_put_real(json, "wait_seconds", (double)trace->wait_ns * 1e-9);
    tg_json_put_real(json, "finish_seconds", trace->finish_seconds);
    tg_json_end_object(json);
}

static void put_warning(struct tg_json *json, tg_status status, const char *text,
                        const char *advice)
{
    tg_json_begin_object(json);
    tg_json_put_string(json, "name", tg_status_name(status));
    tg_json_put_string(json, "text", text);
    tg_json_put_string(json, "advice", advice ? advice : tg_status_advice(status));
    tg_json_end_object(json);
}

/* What a recording lacks stands in "recorder". */
static void put_warnings(struct tg_json *json, const struct tg_execution *e)
{
    const struct tg_run_result *run = &e->run;
    tg_json_key(json, "warnings");
    tg_json_begin_array(json);
    if (run->orchestration.warning != TG_OK)
        put_warning(json, run->orchestration.warning, run->orchestration.text, NULL);
    if (!run->record.on && run->record.status != TG_OK)
        put_warning(json, run->record.status, run->record.text, NULL);
    if (e->note.status != TG_OK)
        put_warning(json, e->note.status, e->note.text, NULL);
    if (*e->shared_gpus)
        put_warning(json, TG_BUSY, e->shared_gpus,
                    "start no more ranks than there are GPUs, or let them see more of them "
                    "(CUDA_VISIBLE_DEVICES)");
    tg_json_end_array(json);
}

static void put_facts(struct tg_json *json, const struct tg_run_facts *facts)
{
    const struct tg_execution *e = facts->execution;
    tg_json_begin_object(json);
    tg_json_put_string(json, "version", tg_version());
    tg_json_put_string(json, "workload", e->workload);
    tg_json_put_string(json, "module", tg_workload_path(facts->workload));
    tg_json_put_string(json, "case", e->case_name);
    put_params(json, facts->test_case);
    tg_json_put_string(json, "platform", e->platform);
    tg_json_put_string(json, "runtime", e->runtime);
    if (e->poison)
        tg_json_put_hex(json, "poison", TG_POISON);
    put_command_line(json, facts->config);
    put_options(json, facts->settings);
    put_result(json, e->status);
    put_error(json, e);
    put_explanation(json, e->explanation);
    tg_execute_races_put(json, &e->races);
    put_device(json, &e->device);
    put_sandbox(json, &e->device);
    put_times(json, e);
    put_counters(json, e);
    put_tensors(json, facts->test_case);
    put_outputs(json, e);
    put_recorder(json, &e->run.record);
    put_orchestration(json, &e->run.orchestration);
    put_scope_stats(json, &e->run.scopes);
    put_trace(json, facts->trace, &e->run.trace);
    put_schedule(json, &e->run.schedule);
    put_comm(json, &e->run.comm);
    put_warnings(json, e);
    tg_json_end_object(json);
}

tg_status tg_run_json_render(const struct tg_run_facts *facts, char **text, struct tg_error *error)
{
    size_t size;
    struct tg_json json;
    FILE *memory = open_memstream(text, &size);
    if (!memory)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory for run.json");
    tg_json_start(&json, memory);
    put_facts(&json, facts);
    tg_status status = tg_json_finish(&json);
    /* Without memory, fclose may succeed and leave no text. */
    if (fclose(memory) != 0 || status != TG_OK || !*text) {
        free(*text);
        *text = NULL;
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory for run.json");
    }
    return TG_OK;
}
