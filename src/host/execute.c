/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One case from end to end:
 *
 *     plan, case, prepare    no file exists yet, so a failure leaves nothing behind
 *     output directory       from here on an execution exists, and run.json will be written
 *     open, copy in, build, run, copy out, check
 *     deps.json, run.json
 *
 * One rank of several does the same, and between these steps the ranks agree (host/job.h).
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/args.h>
#include <taskglass/ranks_trace.h>
#include <taskglass/recording.h>
#include <taskglass/wire/record.h>
#include <time.h>

#include "base/error.h"
#include "base/files.h"
#include "host/case_check.h"
#include "host/empty_recording.h"
#include "host/execute_job.h"
#include "host/execute_trace.h"
#include "host/execution.h"
#include "host/graph.h"
#include "host/job.h"
#include "host/output.h"
#include "host/plan.h"
#include "host/record_result.h"
#include "host/run.h"
#include "host/runtime_ops.h"
#include "host/workload.h"

/* The interval between two looks at a run: short enough for a progress line and for Ctrl-C, long
 * enough to cost nothing. */
#define LOOK_SECONDS 0.05
static tg_status enter(struct tg_execute_job *job, enum tg_phase phase, struct tg_error *error)
{
    static const char *const names[] = {"preparing the case", "opening the device",
                                        "building the graph", "running the graph",
                                        "checking the outputs"};
    static const enum tg_live_phase live_phases[] = {
        [TG_PHASE_OPEN] = TG_LIVE_OPENING,
        [TG_PHASE_BUILD] = TG_LIVE_BUILDING,
        [TG_PHASE_RUN] = TG_LIVE_RUNNING,
        [TG_PHASE_CHECK] = TG_LIVE_CHECKING,
    };
    job->phase = phase;
    if (phase != TG_PHASE_PREPARE)
        tg_live_server_enter(job->live, live_phases[phase]);
    if (tg_execute_tell(job, phase, 0, 0))
        return TG_OK;
    return tg_error_set(error, TG_CANCELLED, "cancelled before %s", names[phase]);
}

/* Called while the device starts, or loads the module. */
static bool wants_to_stop(void *job)
{
    return !tg_execute_tell(job, TG_PHASE_OPEN, 0, 0);
}

/* The others learn it when the ranks agree that they are ready. */
static void tell_gpu(struct tg_execute_job *job)
{
    struct tg_device_info info;
    tg_device_get_info(job->device, &info);
    job->ranks->gpu[job->ranks->rank] = info.gpu_id;
}

static void note_shared_gpus(struct tg_execute_job *job)
{
    struct tg_execution *e = job->execution;
    uint32_t ranks, gpus;
    tg_job_count_gpus(job->ranks, &ranks, &gpus);
    if (gpus < ranks)
        snprintf(e->shared_gpus, sizeof e->shared_gpus, "%u ranks share %u GPU%s", ranks, gpus,
                 gpus == 1 ? "" : "s");
}

static tg_status load_module(struct tg_execute_job *job, struct tg_error *error)
{
    uint64_t start = tg_execute_now();
    tg_status status =
        tg_device_load(job->device, tg_workload_path(job->file), &job->module, error);
    job->execution->times.load = tg_execute_seconds_since(start);
    return status;
}

static tg_status open_device(struct tg_execute_job *job, struct tg_error *error)
{
    struct tg_execution *e = job->execution;
    uint64_t start = tg_execute_now();
    tg_status status = enter(job, TG_PHASE_OPEN, error);
    if (job->ranks) /* ranks of a machine take its GPUs in turn */
        job->plan.device.gpu = tg_job_local_rank(job->ranks);
    if (status == TG_OK)
        status = tg_device_open_watched(&job->plan.device, (struct tg_watch){wants_to_stop, job},
                                        &job->device, error);
    if (status == TG_OK && job->ranks)
        tell_gpu(job);
    if (status == TG_OK && job->ranks)
        status = tg_device_join(job->device, job->ranks->comm, error);
    if (status == TG_OK)
        status = load_module(job, error);
    e->times.open = tg_execute_seconds_since(start);
    return status;
}

struct building {
    struct tg_execute_job *job;
    const struct tg_args *args;
    tg_status status;
    struct tg_error error;
};

static void orchestrate(void *argument)
{
    struct building *building = argument;
    struct tg_execute_job *job = building->job;
    building->status =
        tg_graph_orchestrate_named(job->module, job->plan.runtime, building->args, job->tensor_name,
                                   &job->plan.rings, &job->graph, &building->error);
}

static bool is_built_here(const struct tg_execute_job *job)
{
    return tg_runtime_number(job->plan.runtime)->build != tg_graph_place;
}

/* The guard is for runtimes that call the workload's orchestration here. If the guard leaves it, the
 * unfinished graph is never freed; the run is over. */
static tg_status orchestrate_guarded(struct tg_execute_job *job, const struct tg_args *args,
                                     struct tg_error *error)
{
    struct building building = {.job = job, .args = args};
    struct tg_workload_call call = {.function = "orchestration",
                                    .workload = job->execution->workload,
                                    .case_name = job->execution->case_name,
                                    .call = orchestrate,
                                    .argument = &building,
                                    .code = job->module->workload};
    tg_status status = tg_guard_call(is_built_here(job) ? &job->guard : NULL, &call, error);
    if (status != TG_OK)
        return status;
    if (building.status != TG_OK)
        *error = building.error;
    return building.status;
}

static tg_status build(struct tg_execute_job *job, const struct tg_args *args,
                       struct tg_error *error)
{
    struct tg_execution *e = job->execution;
    tg_status status = enter(job, TG_PHASE_BUILD, error);
    if (status != TG_OK)
        return status;
    uint64_t start = tg_execute_now();
    status = orchestrate_guarded(job, args, error);
    e->times.build = tg_execute_seconds_since(start);
    if (status == TG_OK) {
        e->tasks = tg_graph_tasks(job->graph);
        e->edges = tg_graph_edges(job->graph);
    }
    if (status == TG_OK && e->races.mode != TG_RACES_OFF && is_built_here(job))
        status = tg_execute_races_before(job->config, job->graph, &e->races, error);
    return status;
}

/* Also waits for a cancelled run: it ends when its running tasks have ended, or soon after. */
static tg_status wait_for(struct tg_execute_job *job, struct tg_run *run, struct tg_error *error)
{
    uint64_t finished, total;
    bool cancelled = false;
    tg_status status;
    do {
        tg_run_progress(run, &finished, &total);
        if (!tg_execute_tell(job, TG_PHASE_RUN, finished, total) && !cancelled) {
            cancelled = true;
            tg_run_cancel_within(run, TG_RUN_CANCEL_SECONDS);
        }
        status = tg_run_wait(run, LOOK_SECONDS, error);
    } while (status == TG_TIMED_OUT);
    return status;
}

/* Asked while the trace of the run is written, and while other ranks are waited for at its end. */
static bool stops_writing(void *argument)
{
    struct tg_execute_job *job = argument;
    return !tg_execute_tell(job, TG_PHASE_RUN, job->execution->tasks, job->execution->tasks);
}

static const char *trace_of(const struct tg_execute_job *job)
{
    return job->trace ? job->trace : job->config->trace;
}

static tg_status run_graph(struct tg_execute_job *job, struct tg_error *error)
{
    struct tg_run *run = NULL;
    if (job->plan.record.level != TG_LEVEL_OFF) {
        job->plan.record.output_dir = job->execution->output_dir;
        job->plan.run.record = &job->plan.record;
    }
    if (job->plan.scope_stats)
        job->plan.run.scope_stats = job->execution->output_dir;
    struct tg_run_result left = {0};
    struct tg_run_place here = {.folder = job->execution->output_dir,
                                .lock = &job->lock,
                                .live = job->live,
                                .case_name = job->execution->case_name,
                                .runtime = job->plan.runtime_name,
                                .watch = {stops_writing, job}};
    job->plan.run.trace = trace_of(job);
    job->plan.run.schedule = job->config->schedule ? job->config->schedule : job->schedule;
    tg_status status = tg_run_start_in(job->graph, &job->plan.run, &here, &run, &left, error);
    if (status != TG_OK) {
        job->execution->run.record = left.record;
        job->execution->run.scopes = left.scopes;
        job->execution->run.trace = left.trace;
        return status;
    }
    status = wait_for(job, run, error);
    if (tg_execution_keep_run(job->execution, run) != TG_OK && status == TG_OK)
        status = tg_error_set(error, TG_NO_MEMORY, "out of host memory for the run's result");
    tg_run_destroy(run);
    return status;
}

/* Called while other ranks are waited for. */
static bool goes_on(void *argument)
{
    struct tg_execute_job *job = argument;
    return tg_execute_tell(job, job->phase, 0, 0);
}

static bool stop_checking(void *job)
{
    return !tg_execute_tell(job, TG_PHASE_CHECK, 0, 0);
}

static tg_status check(struct tg_execute_job *job, struct tg_error *error)
{
    tg_status status = enter(job, TG_PHASE_CHECK, error);
    uint64_t start = tg_execute_now();
    if (status == TG_OK)
        status = tg_case_golden(job->test_case, &job->guard, error);
    if (status == TG_OK)
        status = tg_case_compare(job->test_case, &(struct tg_watch){stop_checking, job},
                                 job->execution->outputs, &job->execution->n_outputs, error);
    job->execution->times.check = tg_execute_seconds_since(start);
    return status;
}

/* Of one rank of several: goes on if all of them do. */
static tg_status agree(struct tg_execute_job *job, tg_status own, const char *step,
                       struct tg_error *error)
{
    return job->ranks ? tg_job_agree(job->ranks, own, step, error) : own;
}

static tg_status get_ready(struct tg_execute_job *job, struct tg_error *error)
{
    struct tg_args args;
    tg_status status = open_device(job, error);
    if (status == TG_OK)
        status = tg_execute_copy_in(job, &args, error);
    if (status == TG_OK)
        status = build(job, &args, error);
    return status;
}

static tg_status on_device(struct tg_execute_job *job, struct tg_error *error)
{
    tg_status status = agree(job, get_ready(job, error), "get its device and graph ready", error);
    if (job->ranks)
        note_shared_gpus(job);
    if (status == TG_OK)
        status = run_graph(job, error);
    if (job->device)
        tg_device_get_info(job->device, &job->execution->device);
    if (status == TG_OK)
        status = tg_execute_copy_out(job, error);
    if (status == TG_OK)
        status = check(job, error);
    return status;
}

/* Keeps the first failure and appends the text of a later one, from writing a file. */
static void fail(struct tg_execution *e, tg_status status, const struct tg_error *error)
{
    if (e->status == TG_OK) {
        e->status = status;
        e->error = *error;
    } else {
        tg_error_set(&e->error, e->status, "%s; and then: %s", e->error.text, error->text);
    }
}

static int write_text(FILE *file, void *text)
{
    return fputs(text, file) == EOF ? errno : 0;
}

/* A run that was to be recorded and ended before it began has a recording too: one without a record that
 * says how the run ended. */
static void complete_recording(struct tg_execute_job *job)
{
    struct tg_execution *e = job->execution;
    const struct tg_plan *plan = &job->plan;
    if (plan->record.level != TG_LEVEL_OFF && !e->run.record.on)
        tg_empty_recording_write(e->output_dir, &plan->record, plan->run.shared,
                                 plan->device.poison ? TG_POISON : 0, e->status, &e->run.record);
}

/* A run that is recorded has deps.json as part of its recording, so that a failure is a loss of the
 * recording. With --deps the user asked for this file, so that a failure is one of the run. */
static void write_deps(struct tg_execute_job *job)
{
    struct tg_execution *e = job->execution;
    struct tg_error error;
    if ((!job->plan.deps && !e->run.record.on) || !job->graph)
        return;
    tg_status status = tg_deps_json_write(e, job->graph, &error);
    if (status != TG_OK && job->plan.deps)
        fail(e, status, &error);
    else if (status != TG_OK)
        tg_record_result_fail(&e->run.record, "deps.json", &error);
}

/* A device-built graph is known once it has run, from its recording. */
static void search_recording(struct tg_execute_job *job)
{
    struct tg_execution *e = job->execution;
    struct tg_error error;
    bool ran = e->status == TG_OK || e->status == TG_MISMATCH;
    if (e->races.mode == TG_RACES_OFF || is_built_here(job) || !ran)
        return;
    tg_status status = tg_execute_races_after(job->config, e->output_dir, &e->races, &error);
    if (status != TG_OK)
        fail(e, status, &error);
}

static tg_status render_run_json(struct tg_execute_job *job, struct tg_error *error)
{
    struct tg_execution *e = job->execution;
    struct tg_run_facts facts = {e,           job->settings,  job->file,
                                 job->config, job->test_case, trace_of(job)};
    free(e->run_json);
    e->run_json = NULL;
    return tg_run_json_render(&facts, &e->run_json, error);
}

/* The result of the run does not depend on whether run.json could be written. */
static void write_run_json(struct tg_execute_job *job)
{
    struct tg_execution *e = job->execution;
    struct tg_error error;
    tg_status status = render_run_json(job, &error);
    if (status == TG_OK)
        status = tg_output_write(e->output_dir, "run.json", write_text, e->run_json, &error);
    if (status == TG_OK)
        return;
    tg_record_result_fail(&e->run.record, "run.json", &error);
    (void)render_run_json(job, &error); /* for --json, with what was said just now */
}

static tg_status prepare(struct tg_execute_job *job, struct tg_error *error)
{
    tg_status status = tg_plan_make(job->settings, &job->plan, error);
    const char *schedule = tg_settings_text(job->settings, "schedule");
    if (status == TG_OK && *schedule) /* a run without one also may communicate */
        status = tg_schedule_parse(schedule, &job->schedule, error);
    if (status == TG_OK)
        status = tg_execute_check_trace(job->config->trace, job->plan.output, error);
    if (status == TG_OK)
        status = tg_case_open(tg_workload_get(job->file), job->config->case_name, job->config->set,
                              job->config->n_set, job->plan.device.memory, &job->test_case, error);
    if (status == TG_OK && job->ranks)
        tg_case_set_rank(job->test_case, job->ranks->rank, job->ranks->ranks);
    if (status == TG_OK)
        status = enter(job, TG_PHASE_PREPARE, error);
    if (status == TG_OK)
        status = tg_case_prepare(job->test_case, &job->guard, error);
    return status;
}

/* All ranks know that a folder is missing, or that a rank is. ranks.json may be there already, and must not say
 * that they run. */
static void end_before_run(struct tg_execute_job *job, tg_status status, const struct tg_error *why)
{
    struct tg_error ignored;
    (void)tg_job_end(job->ranks, status, why->text, &ignored);
}

/* Each rank has a folder of its own, and its trace lies in it. */
static tg_status place_rank(struct tg_execute_job *job, const struct tg_output_request *request,
                            struct tg_execution *e, tg_status status, struct tg_error *error)
{
    if (status == TG_OK)
        status = tg_job_place(job->ranks, request, &e->output_dir, &job->made, &job->lock, error);
    if (status == TG_OK && job->config->trace) {
        job->trace = tg_path_join(e->output_dir, tg_ranks_trace_name(job->config->trace));
        if (!job->trace)
            status = tg_error_set(error, TG_NO_MEMORY, "out of host memory for a path");
    }
    status = agree(job, status, "make its folder", error);
    if (status != TG_OK)
        end_before_run(job, status, error);
    return status;
}

/* Creates the execution and its output directory. A failure leaves no execution. */
static tg_status begin(struct tg_execute_job *job, double prepare_seconds, struct tg_error *error)
{
    struct tg_execution *e = calloc(1, sizeof *e);
    if (!e)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory for the execution");
    e->started = time(NULL);
    e->times.prepare = prepare_seconds;
    e->poison = job->plan.device.poison;
    e->races.mode = job->plan.races;
    e->workload = strdup(tg_workload_get(job->file)->name);
    e->case_name = strdup(tg_case_name(job->test_case));
    e->platform = strdup(job->plan.device.platform);
    e->runtime = strdup(job->plan.runtime_name);
    struct tg_output_request request = {.dir = job->plan.output,
                                        .workload = e->workload,
                                        .case_name = e->case_name,
                                        .now = e->started,
                                        .shared = job->plan.run.shared};
    tg_status status = TG_OK;
    if (!e->workload || !e->case_name || !e->platform || !e->runtime)
        status = tg_error_set(error, TG_NO_MEMORY, "out of host memory for the execution");
    if (job->ranks) /* also without memory: the others ask */
        status = place_rank(job, &request, e, status, error);
    else if (status == TG_OK)
        status = tg_output_create(&request, &e->output_dir, &job->made, &job->lock, error);
    if (status == TG_OK)
        job->execution = e;
    else
        tg_execution_destroy(e);
    return status;
}

/* What the case took to prepare counts as time of the run. */
static void start_answering(struct tg_execute_job *job)
{
    const struct tg_execution *e = job->execution;
    struct tg_live_about about = {.workload = e->workload,
                                  .case_name = e->case_name,
                                  .platform = e->platform,
                                  .runtime = e->runtime,
                                  .began = tg_limit_now() - e->times.prepare};
    if (job->plan.live)
        job->live = tg_live_server_start(&job->lock, &about);
}

/* Without a note the run is as good as with it, but `check` and `replay` will not load the module unasked. */
static void note_module(struct tg_execute_job *job)
{
    struct tg_error *note = &job->execution->note;
    tg_status status = tg_workload_note(job->file, note);
    if (status != TG_OK)
        tg_error_set(note, status,
                     "cannot note that you run this module, so check and replay will not load it "
                     "without --module: %s",
                     note->text);
    else
        *note = (struct tg_error){TG_OK, ""};
}

/* A run that was refused may not even have written run.json. */
static void remove_empty(const struct tg_execute_job *job)
{
    const struct tg_execution *e = job->execution;
    tg_run_folder_remove_empty(e->output_dir);
    if (tg_status_exit_code(e->status) == 2)
        tg_output_remove(e->output_dir, job->made);
}

/* The ranks tell each other how they ended; the device has left the job before. */
static void end_ranks(struct tg_execute_job *job)
{
    struct tg_execution *e = job->execution;
    struct tg_error error;
    if (job->ranks && e) {
        if (tg_job_end(job->ranks, e->status, e->error.text, &error) != TG_OK)
            tg_record_result_fail(&e->run.record, "ranks.json", &error);
        tg_execution_keep_ranks(e, job->ranks);
    }
    if (job->ranks && job->config->rank)
        *job->config->rank = (struct tg_execute_rank){job->ranks->rank, job->ranks->ranks,
                                                      tg_job_reports(job->ranks)};
    if (job->ranks && e && job->config->hold_ranks) {
        job->ranks->goes_on = NULL; /* what it asks ends with this function */
        e->held = job->ranks;
    } else {
        tg_job_close(job->ranks);
    }
}

/* Writes the files first, because they need the graph; then closes everything in the reverse order
 * of its creation. */
static void end(struct tg_execute_job *job)
{
    if (job->execution) {
        tg_live_server_enter(job->live, TG_LIVE_SAVING);
        complete_recording(job);
        write_deps(job);
        search_recording(job);
        write_run_json(job);
        tg_live_server_stop(job->live);
        remove_empty(job);
        tg_run_folder_unlock(&job->lock);
        tg_execution_keep_outputs(job->execution, job->test_case);
    }
    if (job->graph)
        tg_graph_destroy(job->graph);
    tg_device_close(job->device);
    end_ranks(job);
    tg_case_close(job->test_case);
    tg_schedule_destroy(job->schedule);
    free(job->trace);
}

static tg_status join_ranks(struct tg_execute_job *job, struct tg_error *error)
{
    tg_status status = tg_job_open(job->settings, &job->ranks, error);
    if (!job->ranks)
        return status;
    job->ranks->goes_on = goes_on;
    job->ranks->context = job;
    if (job->config->rank)
        *job->config->rank =
            (struct tg_execute_rank){job->ranks->rank, job->ranks->ranks, job->ranks->rank == 0};
    return status;
}

tg_status tg_execute(const struct tg_settings *settings, const struct tg_workload_file *workload,
                     const struct tg_execute_config *config, struct tg_execution **execution,
                     struct tg_error *error)
{
    TG_REFUSE_NULL(error, settings);
    TG_REFUSE_NULL(error, workload);
    TG_REFUSE_NULL(error, config);
    TG_REFUSE_NULL(error, execution);
    if (config->n_set > 0)
        TG_REFUSE_NULL_AS(error, config->set, "config->set");
    if (config->argc > 0)
        TG_REFUSE_NULL_AS(error, config->argv, "config->argv");
    struct tg_execute_job job = {.settings = settings,
                                 .file = workload,
                                 .config = config,
                                 .guard = {config->guard, config->guard_context},
                                 .lock = TG_RUN_LOCK_NONE};
    struct tg_error first = {TG_OK, ""};
    uint64_t start = tg_execute_now();
    *execution = NULL;
    if (config->rank)
        *config->rank = (struct tg_execute_rank){0};
    tg_status status = join_ranks(&job, &first);
    if (status == TG_OK)
        status = agree(&job, prepare(&job, &first), "prepare its case", &first);
    if (status == TG_OK)
        status = begin(&job, tg_execute_seconds_since(start), &first);
    if (status == TG_OK) {
        start_answering(&job);
        note_module(&job);
        status = on_device(&job, &first);
        job.execution->times.total = tg_execute_seconds_since(start);
        if (status != TG_OK)
            fail(job.execution, status, &first);
        tg_execution_advise(job.execution, tg_workload_get(workload), config);
    }
    end(&job);
    if (job.execution) {
        status = job.execution->status;
        first = job.execution->error;
    }
    if (status != TG_OK && error)
        *error = first;
    *execution = job.execution;
    return status;
}
