/* SPDX-License-Identifier: Apache-2.0 */
/* A run begins: its folders, its recording, what the device is told, and the launch. */
#include "base/error.h"
#include "base/files.h"
#include "host/device_log.h"
#include "host/record_setup.h"
#include "host/run.h"
#include "host/seconds.h"
#include "host/text.h"
#include "recording/record.h"
#include <stdio.h>
#include <stdlib.h>

#define DEFAULT_TIMEOUT 10.0

void tg_run_unlock_folders(struct tg_run *run)
{
    for (int i = 0; i < 2; i++)
        tg_run_folder_unlock(&run->lock[i]);
}

void tg_run_stop_answering(struct tg_run *run)
{
    if (run->owns_live)
        tg_live_server_stop(run->live);
    run->live = NULL;
}

void tg_run_free(struct tg_run *run)
{
    tg_pulse_stop(&run->pulse);
    tg_run_stop_answering(run);
    tg_trace_collector_destroy(run->tracer); /* before the recorder that it looks at */
    tg_collector_destroy(run->collector);
    tg_schedule_area_destroy(&run->schedule);
    tg_run_comm_destroy(&run->comm);
    tg_run_unlock_folders(run);
    free(run->status);
    free(run->running);
    if (run->of == NULL)
        free(run->seen);
    free(run->explanation);
    free(run);
}

struct tg_run *tg_run_new(struct tg_graph *graph, const struct tg_run_config *config,
                          const struct tg_run *of)
{
    struct tg_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return NULL;
    run->graph = graph;
    run->device = graph->module->device;
    run->lock[0] = run->lock[1] = TG_RUN_LOCK_NONE;
    run->idle.seconds = config && config->timeout > 0 ? config->timeout : DEFAULT_TIMEOUT;
    run->result.status = TG_TIMED_OUT;
    run->result.tasks = tg_graph_tasks(graph);
    run->result.edges = tg_graph_edges(graph);
    run->status = calloc(tg_device_workers(run->device), sizeof *run->status);
    run->running = calloc(tg_device_workers(run->device), sizeof *run->running);
    run->of = of;
    run->seen = of ? of->seen : calloc(tg_device_workers(run->device), sizeof *run->seen);
    if (run->status == NULL || run->running == NULL || run->seen == NULL) {
        tg_run_free(run);
        return NULL;
    }
    return run;
}

static tg_status lock_folder(struct tg_run *run, const char *dir, int number,
                             const struct tg_run_lock *held, struct tg_error *error)
{
    bool is_held = false;
    int cause = 0;
    if (dir == NULL)
        return TG_OK;
    if (held != NULL)
        cause = tg_run_lock_compare(held, dir, &is_held);
    if (cause == 0 && !is_held)
        cause = tg_run_lock_compare(&run->lock[0], dir, &is_held);
    if (cause != 0)
        return tg_file_error(error, "use directory", dir, cause);
    if (is_held)
        return TG_OK;
    tg_status status = tg_run_folder_lock(dir, &run->lock[number], error);
    if (status == TG_OK)
        tg_run_folder_clean(dir);
    return status;
}

/* Locks the folders that the run writes into: that of the recording, and that of the scope stats, which
 * may be the same one. */
static tg_status lock_folders(struct tg_run *run, const struct tg_run_config *config,
                              const struct tg_run_place *place, struct tg_error *error)
{
    const struct tg_record_config *record = config ? config->record : NULL;
    const struct tg_run_lock *held = place ? place->lock : NULL;
    bool recorded = record != NULL && record->level != TG_LEVEL_OFF;
    if (config == NULL)
        return TG_OK;
    tg_status status = lock_folder(run, recorded ? record->output_dir : NULL, 0, held, error);
    return status == TG_OK ? lock_folder(run, config->scope_stats, 1, held, error) : status;
}

/* A run whose caller has no folder for it answers in the folder that it writes into. */
static void start_answering(struct tg_run *run, const struct tg_run_config *config,
                            const struct tg_run_place *place)
{
    struct tg_live_about about = {.platform = run->device->ops->name};
    const struct tg_run_lock *folder = &run->lock[run->lock[0].fd < 0];
    if (place != NULL) {
        run->live = place->live;
    } else if (folder->fd >= 0 && !config->not_live) {
        run->live = tg_live_server_start(folder, &about);
        run->owns_live = true;
    }
}

static void share_folders(const struct tg_run_config *config)
{
    if (config == NULL || !config->shared)
        return;
    if (config->record != NULL && config->record->level != TG_LEVEL_OFF)
        tg_run_folder_share(config->record->output_dir, TG_DUMP_FOLDER);
    if (config->scope_stats != NULL)
        tg_run_folder_share(config->scope_stats, TG_SCOPE_FOLDER);
}

/* Writes an address into the launch on the device, unless it is there: a copy to a GPU takes longer than all
 * else that starts a small run. */
static tg_status tell(struct tg_graph *graph, uint64_t offset, uint64_t address, uint64_t *told,
                      struct tg_error *error)
{
    tg_status status = TG_OK;
    if (*told != address)
        status = tg_device_copy_in(graph->module->device, graph->image + offset, &address,
                                   sizeof address, error);
    if (status == TG_OK)
        *told = address;
    return status;
}

/* Without a recording the launch holds 0, and the device records nothing. */
static tg_status set_up_recording(struct tg_run *run, const struct tg_record_config *config,
                                  struct tg_error *error)
{
    uint64_t setup = 0;
    tg_status status = TG_OK;
    if (config != NULL && config->level != TG_LEVEL_OFF) {
        status = tg_collector_create(run->graph, config, &run->collector, error);
        if (status == TG_OK)
            status = tg_collector_start(run->collector, error);
        if (status != TG_OK)
            return status;
        setup = tg_collector_setup(run->collector);
    }
    return tell(run->graph, offsetof(struct tg_launch, record), setup, &run->graph->told.record,
                error);
}

/* Likewise without a trace. */
static tg_status set_up_trace(struct tg_run *run, const char *path, struct tg_error *error)
{
    uint64_t setup = 0;
    if (path != NULL) {
        tg_status status = tg_trace_collector_create(run->graph, path, &run->tracer, error);
        if (status == TG_OK)
            status = tg_trace_collector_start(run->tracer, run->collector, error);
        if (status != TG_OK)
            return status;
        setup = tg_trace_collector_setup(run->tracer);
    }
    return tell(run->graph, offsetof(struct tg_launch, trace), setup, &run->graph->told.trace,
                error);
}

/* Likewise without a schedule. */
static tg_status set_up_schedule(struct tg_run *run, const struct tg_schedule *schedule,
                                 struct tg_error *error)
{
    tg_status status = tg_schedule_area_create(run->device, schedule, &run->schedule, error);
    if (status != TG_OK)
        return status;
    return tell(run->graph, offsetof(struct tg_launch, schedule), run->schedule.address,
                &run->graph->told.schedule, error);
}

/* Called by the thread of the communication, perhaps before the device knows of the run: the thread that
 * waits for the run asks again. */
static void on_comm_failure(void *argument)
{
    struct tg_run *run = argument;
    tg_device_cancel(run->device, run);
}

/* Called by the thread of the communication. */
static bool is_comm_cancelled(void *argument)
{
    return tg_run_is_cancelled(argument);
}

/* Called by the thread that waits for the run, while other ranks still go on. */
static bool is_comm_stopped(void *argument)
{
    const struct tg_run *run = argument;
    return run->place->watch.stop(run->place->watch.context);
}

/* Likewise on a device that is alone, unless the graph may communicate. */
static tg_status set_up_comm(struct tg_run *run, const struct tg_run_config *config,
                             struct tg_error *error)
{
    bool schedule = config != NULL && config->schedule != NULL;
    run->comm.on_failure = on_comm_failure;
    run->comm.is_cancelled = is_comm_cancelled;
    run->comm.is_stopped = run->place && run->place->watch.stop ? is_comm_stopped : NULL;
    run->comm.context = run;
    tg_status status = tg_run_comm_set_up(&run->comm, run->graph, schedule, error);
    if (status != TG_OK)
        return status;
    return tell(run->graph, offsetof(struct tg_launch, comm), run->comm.address,
                &run->graph->told.comm, error);
}

/* A log of the calls belongs to what is recorded about a run. */
static tg_status start_comm(struct tg_run *run, const struct tg_run_config *config,
                            const struct tg_run_place *place, struct tg_error *error)
{
    const char *folder = NULL;
    char path[4096 + 16];
    if (config != NULL && config->record != NULL && config->record->level != TG_LEVEL_OFF)
        folder = config->record->output_dir;
    else if (config != NULL && place != NULL && (config->deps || config->trace != NULL))
        folder = place->folder;
    if (folder != NULL &&
        (size_t)snprintf(path, sizeof path, "%s/comm.jsonl", folder) >= sizeof path)
        folder = NULL;
    return tg_run_comm_start(&run->comm, folder ? path : NULL, error);
}

/* A graph that the host built has no rings: writes a scope stats file that says so. */
static tg_status write_no_scopes(struct tg_run *run, const char *folder, struct tg_error *error)
{
    static const struct tg_scope_limits none = {.no_rings = true};
    struct tg_scope_result *scopes = &run->result.scopes;
    struct tg_scope_writer *writer;
    struct tg_error lost;
    tg_status status = tg_scope_writer_create(folder, &none, &writer, error);
    if (status != TG_OK)
        return status;
    scopes->on = scopes->no_rings = true;
    scopes->status = tg_scope_writer_finish(writer, 0, 0, NULL, &lost);
    if (scopes->status != TG_OK)
        tg_text_add(scopes->text, sizeof scopes->text, lost.text);
    tg_scope_writer_destroy(writer);
    return TG_OK;
}

/* Has the device log the graph that it builds, if the caller wants edges or scope stats. */
static tg_status set_up_log(struct tg_run *run, const struct tg_run_config *config,
                            struct tg_error *error)
{
    bool edges = run->collector != NULL || (config && config->deps);
    const char *scope_stats = config ? config->scope_stats : NULL;
    tg_device_log_destroy(run->graph->log);
    run->graph->log = NULL;
    if (run->graph->layout == NULL)
        return scope_stats ? write_no_scopes(run, scope_stats, error) : TG_OK;
    if (!edges && !scope_stats)
        return TG_OK;
    return tg_device_log_start(run->graph, edges, scope_stats, &run->graph->log, error);
}

/* Shows the device that the host runs, if a recording, a log or a trace may wait for the host. */
static tg_status set_up_pulse(struct tg_run *run, struct tg_error *error)
{
    uint64_t recording = run->collector ? tg_collector_pulse(run->collector) : 0;
    uint64_t log = run->graph->log ? tg_device_log_pulse(run->graph->log) : 0;
    uint64_t trace = run->tracer ? tg_trace_collector_pulse(run->tracer) : 0;
    uint64_t period = recording != 0 && (log == 0 || recording < log) ? recording : log;
    period = trace != 0 && (period == 0 || trace < period) ? trace : period;
    return period != 0 ? tg_pulse_start(&run->pulse, run->device, period, error) : TG_OK;
}

/* True if the orchestration of this run runs beside the device. Schedules and traces need it on a thread of
 * the device, whose order and clock they are about; so does a recording whose streams lie where only the
 * device writes. */
static bool orchestrates_beside(const struct tg_run *run, const struct tg_run_config *config)
{
    const struct tg_record_config *record = config ? config->record : NULL;
    if (run->graph->layout == NULL || run->graph->beside == NULL)
        return false;
    if (config != NULL && (config->schedule != NULL || config->trace != NULL))
        return false;
    return record == NULL || record->level == TG_LEVEL_OFF ||
           record->transport != TG_TRANSPORT_COPIED;
}

static tg_status choose_orchestrator(struct tg_run *run, const struct tg_run_config *config,
                                     struct tg_error *error)
{
    bool beside = orchestrates_beside(run, config);
    run->result.orchestration.beside = beside;
    if (run->graph->layout == NULL)
        return TG_OK;
    /* The last run's log belongs to the struct that it wrote into. */
    tg_device_log_destroy(run->graph->log);
    run->graph->log = NULL;
    return tg_graph_orchestrate_beside(run->graph, beside, error);
}

/* The device clears this too, but only once it receives the launch. Until then the host would take
 * the last run's status for this run's. */
static tg_status clear_last_run(struct tg_run *run, struct tg_error *error)
{
    static const struct tg_orchestrator_report none;
    tg_status status = tg_device_clear_status(run->device, run->status, error);
    if (status == TG_OK && run->graph->layout != NULL)
        status = tg_device_copy_in(
            run->device, run->graph->orchestration + offsetof(struct tg_orchestration, report),
            &none, sizeof none, error);
    return status;
}

void tg_run_note_progress(struct tg_run *run)
{
    tg_limit_start(&run->idle, run->idle.seconds);
}

static tg_status launch(struct tg_run *run, const struct tg_run_config *config,
                        const struct tg_run_place *held, struct tg_error *error)
{
    const struct tg_record_config *record = config ? config->record : NULL;
    const struct tg_module *module = run->graph->module;
    struct tg_platform_launch start = {.first_kernel = module->first,
                                       .n_kernels = module->workload->n_kernels};
    double began = tg_limit_now();
    tg_status status =
        config ? tg_seconds_check("timeout of tg_run_config", config->timeout, error) : TG_OK;
    if (status == TG_OK && record)
        status = tg_record_config_check(record, error);
    if (status == TG_OK)
        status = tg_device_ready(run->device, error);
    if (status == TG_OK)
        status = lock_folders(run, config, held, error);
    if (status == TG_OK)
        start_answering(run, config, held);
    if (status == TG_OK)
        status = tg_graph_upload(run->graph, error);
    if (status == TG_OK)
        status = choose_orchestrator(run, config, error);
    if (status == TG_OK) /* before the threads start that read what it clears */
        status = clear_last_run(run, error);
    if (status == TG_OK)
        share_folders(config);
    if (status == TG_OK)
        status = set_up_recording(run, record, error);
    if (status == TG_OK)
        status = set_up_log(run, config, error);
    if (status == TG_OK)
        status = set_up_trace(run, config ? config->trace : NULL, error);
    if (status == TG_OK)
        status = set_up_schedule(run, config ? config->schedule : NULL, error);
    if (status == TG_OK)
        status = set_up_comm(run, config, error);
    if (status == TG_OK)
        status = set_up_pulse(run, error);
    if (status == TG_OK)
        status = start_comm(run, config, held, error);
    run->device->lost |= status == TG_DEVICE_LOST;
    if (status != TG_OK)
        return status;
    run->launched_at = tg_limit_now();
    tg_run_note_progress(run);
    run->result.start_seconds = run->launched_at - began;
    run->launched = true;
    start.address = run->graph->image;
    start.is_beside = run->result.orchestration.beside;
    start.is_built = run->graph->layout != NULL && !start.is_beside;
    start.comm = run->comm.address;
    status = run->device->ops->launch(run->device->state, &start, error);
    if (status == TG_DEVICE_LOST)
        run->device->lost = true;
    return status;
}

tg_status tg_run_start(struct tg_graph *graph, const struct tg_run_config *config,
                       struct tg_run **run, struct tg_error *error)
{
    TG_REFUSE_NULL(error, run);
    *run = NULL;
    TG_REFUSE_NULL(error, graph);
    return tg_run_start_in(graph, config, NULL, run, NULL, error);
}

/* The other ranks may have begun this run, and wait for the calls of this one. */
static void tell_others(struct tg_run *run, tg_status status, const struct tg_error *error)
{
    const char *text = error != NULL ? error->text : "";
    struct tg_comm_result others;
    if (run->comm.started)
        tg_run_comm_stop(&run->comm, status, text, &others);
    else
        tg_run_comm_refuse(run->device, status, text);
}

tg_status tg_run_start_in(struct tg_graph *graph, const struct tg_run_config *config,
                          const struct tg_run_place *held, struct tg_run **out,
                          struct tg_run_result *left, struct tg_error *error)
{
    struct tg_run *run = tg_run_new(graph, config, NULL);
    tg_status status;
    if (run == NULL) {
        tg_run_comm_refuse(graph->module->device, TG_NO_MEMORY, "out of host memory");
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    }
    run->place = held;
    status = launch(run, config, held, error);
    if (status != TG_OK) {
        tell_others(run, status, error);
        run->result.status = status;
        tg_run_end_recording(run);
        if (left != NULL)
            *left = run->result;
        tg_run_free(run);
        return status;
    }
    tg_device_set_run(run->device, run);
    tg_live_server_note_idle(run->live, 0, run->idle.seconds);
    tg_live_server_attach(run->live, run);
    tg_live_server_enter(run->live, TG_LIVE_RUNNING);
    *out = run;
    return TG_OK;
}
