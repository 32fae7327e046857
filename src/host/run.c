/* SPDX-License-Identifier: Apache-2.0 */
#include "host/run.h"
#include "base/error.h"
#include "host/device_log.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TASKS (UINT64_C(1) << 48)

/* How long a GPU may take to report a failed kernel once it is asked. */
enum { REPORT_MILLISECONDS = 1000 };

/* How long workers may take to say where they are, and how often the host looks. */
#define LOCATE_SECONDS 0.5
enum { LOCATE_MILLISECONDS = 5 };

/* How long an orchestration that has failed may take to return. */
#define GRACE_SECONDS 0.5

static double now(void)
{
    return tg_limit_now();
}

/* ── wait ──────────────────────────────────────────────────────────────────────────────── */

static bool is_device_built(const struct tg_run *run)
{
    return run->graph->layout != NULL;
}

/* Reads the workers' status and adds up the tasks that they finished; at most all tasks. */
static uint64_t count_finished(struct tg_run *run)
{
    uint32_t n = tg_device_workers(run->device);
    uint64_t finished = 0;
    if (tg_device_read_status(run->device, run->status, NULL) != TG_OK)
        return run->finished;
    /* The orchestrator's report may be lost with the device's memory. */
    if (is_device_built(run) && run->device->lost &&
        run->status[n - 1].task_id > run->result.tasks && run->status[n - 1].task_id < MOST_TASKS)
        run->result.tasks = run->status[n - 1].task_id;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t one = run->status[i].finished;
        finished += one < run->result.tasks ? one : run->result.tasks;
    }
    return finished < run->result.tasks ? finished : run->result.tasks;
}

/* The number of finished tasks by now. It never decreases, whatever the device writes. */
static uint64_t look(struct tg_run *run)
{
    uint64_t tasks = run->result.tasks, finished;
    if (is_device_built(run))
        tg_run_read_report(run);
    finished = count_finished(run);
    if (finished > run->finished || run->result.tasks > tasks) {
        run->finished = finished;
        tg_run_note_progress(run);
    }
    if (!run->is_view)
        tg_run_note_seen(run);
    return run->finished;
}

/* ── looking without waiting ───────────────────────────────────────────────────────────── */

struct tg_run *tg_run_view(const struct tg_run *run)
{
    struct tg_run *view = tg_run_new(run->graph, NULL, run);
    if (view != NULL) {
        view->is_view = true;
        view->launched_at = run->launched_at;
        view->result.orchestration.beside = run->result.orchestration.beside;
    }
    return view;
}

void tg_run_view_look(struct tg_run *view, bool lists)
{
    view->result.n_running = view->result.n_unmet = 0;
    view->result.orchestration.n_waits = 0;
    view->result.finished = look(view);
    tg_run_account_rings(view);
    if (lists)
        tg_run_list_running(view);
}

void tg_run_view_free(struct tg_run *view)
{
    if (view != NULL)
        tg_run_free(view);
}

/* ── the end ───────────────────────────────────────────────────────────────────────────── */

/* From here on nobody else looks at the run or its device. */
static void end_views(struct tg_run *run)
{
    struct tg_run_result now_known = run->result;
    now_known.finished = run->finished;
    tg_live_server_detach(run->live, &now_known);
}

static void note_begin(struct tg_run *run)
{
    struct tg_platform_about about;
    run->device->ops->describe(run->device->state, &about);
    run->result.lingered = about.begun.lingered;
    if (about.begun.at != 0)
        run->result.begin_seconds = fmax(0, (double)about.begun.at * 1e-9 - run->launched_at);
}

static void end(struct tg_run *run, tg_status status)
{
    run->ended = true;
    tg_device_set_run(run->device, NULL);
    run->result.execute_seconds = now() - run->launched_at;
    note_begin(run);
    run->result.status = status;
    run->error.status = status;
    look(run);
    run->finished = run->result.finished = status == TG_OK ? run->result.tasks : run->finished;
    tg_run_account_rings(run);
    tg_schedule_area_read(&run->schedule, run->graph, &run->result);
    /* After an incomplete run, the state of the device's counters and queues is unknown. */
    if (status != TG_OK)
        run->graph->resident = false;
    end_views(run);
    tg_live_server_enter(run->live, TG_LIVE_SAVING);
}

/* Records what the running tasks have written to their outputs so far. */
static void add_partial(struct tg_run *run)
{
    uint64_t last = TG_TASK_NONE;
    for (uint32_t i = 0; i < run->device->head.n_lanes; i++) {
        struct tg_task_desc desc;
        struct tg_tensor tensors[TG_MAX_TENSORS];
        if (!tg_run_find_task(run, run->status[i].running, &desc) ||
            desc.id == last || /* a mix runs on several lanes */
            !tg_run_find_tensors(run, &desc, tensors))
            continue;
        last = desc.id;
        tg_collector_add_partial(run->collector, &desc, tensors);
    }
}

/* A run that the user has cancelled is written all the same: it is what they wait for now. */
static bool trace_goes_on(void *argument)
{
    const struct tg_run *run = argument;
    return tg_run_is_cancelled(run) || !run->place->watch.stop(run->place->watch.context);
}

static void write_trace(struct tg_run *run)
{
    const struct tg_workload *workload = run->graph->module->workload;
    struct tg_trace_about about = {
        .workload = workload ? workload->name : NULL,
        .result = &run->result,
        .error = run->error.text,
        .status = run->status,
        .lost = run->device->lost,
        .context = run,
    };
    if (run->place != NULL) {
        about.case_name = run->place->case_name;
        about.runtime = run->place->runtime;
        about.goes_on = run->place->watch.stop ? trace_goes_on : NULL;
    }
    tg_trace_collector_finish(run->tracer, &about, &run->result.trace);
}

/* Completes the recording's files when the device records no more; after a hang adds the partial
 * outputs. */
void tg_run_end_recording(struct tg_run *run)
{
    if (run->recorded)
        return;
    run->recorded = true;
    tg_pulse_stop(&run->pulse);
    if (run->tracer != NULL) /* while the recorder that it looks at still runs */
        tg_trace_collector_stop(run->tracer);
    if (run->graph->log != NULL) {
        struct tg_scope_fatal fatal = tg_run_scope_fatal(run);
        tg_device_log_stop(run->graph->log);
        tg_device_log_finish_scopes(run->graph->log, &fatal, &run->result.scopes);
        if (tg_device_log_has_edges(run->graph->log))
            tg_device_log_edges(run->graph->log, &run->result.edges);
    }
    if (run->collector != NULL) {
        tg_collector_stop(run->collector);
        if (run->result.status == TG_HANG)
            add_partial(run);
        tg_collector_finish(run->collector, run->result.status, &run->result.record);
    }
    if (run->tracer != NULL && run->launched)
        write_trace(run);
}

/* A rank whose own part went well may still have failed: with a send, say, that nobody received. */
static void end_comm(struct tg_run *run)
{
    struct tg_run_comm_result *result = &run->result.comm;
    struct tg_comm_result ended;
    if (run->comm.comm == NULL)
        return;
    tg_run_comm_stop(&run->comm, run->error.status, run->error.text, &ended);
    result->on = true;
    result->rank = tg_comm_rank(run->comm.comm);
    result->ranks = tg_comm_ranks(run->comm.comm);
    snprintf(result->transport, sizeof result->transport, "%s", tg_comm_transport(run->comm.comm));
    memcpy(result->calls, ended.calls, sizeof result->calls);
    result->bytes_sent = ended.bytes_sent;
    result->bytes_received = ended.bytes_received;
    result->messages_sent = ended.messages_sent;
    result->messages_received = ended.messages_received;
    result->waiting = ended.waiting;
    if (run->error.status == TG_OK && ended.status != TG_OK) {
        run->result.status = ended.status;
        tg_error_set(&run->error, ended.status, "%s", ended.text);
    }
}

/* Lets the next run have the folders, even while this one's handle still exists. */
static void end_files(struct tg_run *run)
{
    end_comm(run);
    tg_run_end_recording(run);
    tg_run_stop_answering(run);
    tg_run_unlock_folders(run);
}

/* Ends the run: the device died, or the host gives it up. */
static void end_lost(struct tg_run *run, tg_status status)
{
    run->device->lost = true;
    end(run, status);
    tg_run_describe_failure(run, status);
    tg_run_keep_explanation(run);
}

static void end_cancelled(struct tg_run *run)
{
    end(run, TG_CANCELLED);
    run->result.waiting = run->result.tasks - run->result.finished;
    tg_error_set(&run->error, TG_CANCELLED, "cancelled after %llu of %llu tasks",
                 (unsigned long long)run->finished, (unsigned long long)run->result.tasks);
    tg_run_keep_explanation(run);
}

/* Ends the run: the orchestration on the device reported an error. */
static void end_failed(struct tg_run *run)
{
    tg_status status = tg_run_orchestration_error(run, &run->error);
    end(run, status);
    run->result.waiting = run->result.tasks - run->result.finished;
    tg_run_keep_explanation(run);
}

/* Ends the run: communication with other ranks failed, and the device has stopped. */
static void end_by_comm(struct tg_run *run, const struct tg_error *why)
{
    end(run, why->status);
    run->result.waiting = run->result.tasks - run->result.finished;
    run->error = *why;
    tg_run_keep_explanation(run);
}

bool tg_run_is_cancelled(const struct tg_run *run)
{
    return __atomic_load_n(&run->cancelled, __ATOMIC_ACQUIRE);
}

/* A GPU may report a failed kernel later than the no-progress limit. A copy request makes it report
 * at once. */
static bool has_failed(struct tg_run *run)
{
    uint64_t word;
    return run->device->ops->memory_dies &&
           tg_device_copy_out(run->device, &word, run->device->head.memory_start, sizeof word,
                              NULL) != TG_OK &&
           run->device->ops->poll(run->device->state, REPORT_MILLISECONDS) == TG_POLL_LOST;
}

static bool is_located(const struct tg_run *run)
{
    uint32_t last = tg_device_workers(run->device) - 1;
    for (uint32_t i = 0; i <= last; i++)
        if (tg_run_tells_place(run, i) &&
            (run->status[i].running != 0 || (i == last && is_device_built(run))) &&
            run->status[i].place.state == TG_PLACE_NONE)
            return false;
    return true;
}

/* Lets the workers say in which line they are, and waits a moment for their answers. */
static void locate(struct tg_run *run)
{
    const struct tg_platform_ops *ops = run->device->ops;
    double until = now() + LOCATE_SECONDS;
    if (ops->locate == NULL)
        return;
    ops->locate(run->device->state);
    do {
        if (ops->poll(run->device->state, LOCATE_MILLISECONDS) != TG_POLL_RUNNING)
            return;
        look(run);
    } while (!is_located(run) && now() < until);
}

/* Of a run that was given up: what failed first was communication, or it is what the run waited for. */
static void explain_by_comm(struct tg_run *run)
{
    struct tg_error failed;
    const bool has_failed_elsewhere = tg_run_comm_failed(&run->comm, &failed) &&
                                      !(failed.status == TG_CANCELLED && tg_run_is_cancelled(run));
    if (has_failed_elsewhere) {
        run->result.status = failed.status;
        run->error = failed;
    } else if (run->error.status == TG_HANG && run->comm.why[0] != '\0') {
        tg_error_set(&run->error, TG_HANG, "no rank made progress for %g s: %s", run->idle.seconds,
                     run->comm.why);
    }
}

/* Ends the run: nothing has moved for as long as the no-progress limit allows. */
static void give_up(struct tg_run *run)
{
    const struct tg_platform_ops *ops = run->device->ops;
    bool cancelled = tg_run_is_cancelled(run);
    end_views(run);
    if (has_failed(run)) {
        end_lost(run, TG_DEVICE_LOST);
        return;
    }
    locate(run);
    look(run); /* read which tasks run before the device is killed */
    if (!ops->memory_dies)
        ops->kill(run->device->state);
    end_lost(run, cancelled ? TG_CANCELLED : TG_HANG);
    explain_by_comm(run);
    if (ops->memory_dies) {
        tg_run_end_recording(run);
        ops->kill(run->device->state);
    }
}

/* Ends the run: the orchestration has failed but does not return, for example because it loops
 * until a result comes that never will. */
static void give_up_on_orchestration(struct tg_run *run)
{
    const struct tg_platform_ops *ops = run->device->ops;
    end_views(run);
    if (!ops->memory_dies)
        ops->kill(run->device->state);
    run->device->lost = true;
    end_failed(run);
    if (ops->memory_dies) {
        tg_run_end_recording(run);
        ops->kill(run->device->state);
    }
}

/* False if somebody waits for a cancelled run to end: then the device gets no more time than the limit,
 * even if it is paused or held by a debugger. */
static bool has_time(const struct tg_run *run)
{
    return run->cancel_seconds <= 0 || !tg_run_is_cancelled(run);
}

/* What the limit does not count of a tick is a pause of the device. A longer gap may only show that the
 * caller waits seldom: poll_device notices pauses of the host. */
static bool is_idle_for_too_long(struct tg_run *run, pid_t pid)
{
    double at = run->idle.at, counted = run->idle.counted;
    bool is_over = tg_limit_look(&run->idle, pid);
    run->paused +=
        fmax(0, fmin(run->idle.at - at, tg_limit_tick(&run->idle)) - (run->idle.counted - counted));
    return is_over;
}

/* Asks the device to stop once communication has failed, and gives it no more time than a cancelled run
 * has: a kernel may not return. */
static void watch_comm(struct tg_run *run)
{
    struct tg_error failed;
    if (tg_run_comm_moves(&run->comm, run->finished))
        tg_run_note_progress(run);
    if (!tg_run_comm_failed(&run->comm, &failed))
        return;
    if (failed.status == TG_CANCELLED && tg_run_is_cancelled(run))
        return; /* it is this run, and has been asked to stop */
    if (!run->comm_stopped) {
        run->idle.seconds = fmin(run->idle.seconds, TG_RUN_CANCEL_SECONDS);
        tg_run_note_progress(run);
    }
    run->comm_stopped = true;
    tg_device_cancel(run->device, run);
}

/* A last look before a run is given up. What other ranks said of their progress may be old. */
static bool moves_elsewhere(struct tg_run *run)
{
    if (tg_run_is_cancelled(run) || run->comm_stopped ||
        !tg_run_comm_ask(&run->comm, run->finished))
        return false;
    tg_run_note_progress(run);
    return true;
}

static void watch_progress(struct tg_run *run)
{
    uint64_t collected = run->collector ? tg_collector_progress(run->collector) : 0;
    struct tg_device_info info;
    tg_device_get_info(run->device, &info);
    look(run);
    watch_comm(run);
    tg_run_ask_places(run);
    if ((tg_run_is_cancelled(run) && !run->seen_cancel) || collected != run->collected) {
        if (tg_run_is_cancelled(run) && run->cancel_seconds > 0)
            run->idle.seconds = fmin(run->idle.seconds, run->cancel_seconds);
        run->seen_cancel = tg_run_is_cancelled(run);
        run->collected = collected;
        tg_run_note_progress(run);
    }
    if (run->report.status != TG_OK && !run->failing)
        tg_limit_start(&run->grace, GRACE_SECONDS);
    run->failing = run->report.status != TG_OK;
    if (run->failing && tg_limit_look(&run->grace, info.pid))
        give_up_on_orchestration(run);
    else if (is_idle_for_too_long(run, has_time(run) ? info.pid : 0) && !moves_elsewhere(run))
        give_up(run);
}

/* A poll that took much longer than it should was interrupted, at some time between its begin and its
 * end. */
static enum tg_poll poll_device(struct tg_run *run, int milliseconds)
{
    double began = now(), took;
    enum tg_poll poll = run->device->ops->poll(run->device->state, milliseconds);
    took = now() - began;
    if (took > milliseconds * 1e-3 + tg_limit_tick(&run->idle))
        run->paused += took;
    return poll;
}

static void take_poll(struct tg_run *run, enum tg_poll poll)
{
    struct tg_error failed;
    if (poll != TG_POLL_RUNNING)
        end_views(run);
    switch (poll) {
    case TG_POLL_OVER:
        end(run, TG_OK);
        break;
    case TG_POLL_STOPPED:
        look(run);
        if (run->report.status != TG_OK)
            end_failed(run);
        else if (!tg_run_is_cancelled(run) && tg_run_comm_failed(&run->comm, &failed))
            end_by_comm(run, &failed);
        else
            end_cancelled(run);
        break;
    case TG_POLL_LOST:
        end_lost(run, TG_DEVICE_LOST);
        break;
    case TG_POLL_RUNNING:
        watch_progress(run);
        tg_live_server_note_idle(run->live, run->idle.counted, run->idle.seconds);
        break;
    }
}

/* Milliseconds until the next check: one tick, or less if a limit ends sooner. */
static int tick_until(const struct tg_run *run, double deadline)
{
    double seconds = tg_limit_tick(&run->idle);
    seconds = fmin(seconds, deadline - now());
    seconds = fmin(seconds, run->idle.seconds - run->idle.counted + 1e-3);
    return seconds <= 0 ? 0 : (int)ceil(seconds * 1e3);
}

tg_status tg_run_wait(struct tg_run *run, double seconds, struct tg_error *error)
{
    TG_REFUSE_NULL(error, run);
    if (isnan(seconds))
        return tg_error_set(error, TG_BAD_ARGUMENT, "seconds of tg_run_wait is not a number");
    double deadline = seconds < 0 ? INFINITY : now() + seconds;
    while (!run->ended) {
        int milliseconds = tick_until(run, deadline);
        take_poll(run, poll_device(run, milliseconds));
        if (run->ended)
            end_files(run);
        else if (now() >= deadline)
            return tg_error_set(error, TG_TIMED_OUT, "still running");
    }
    if (run->error.status != TG_OK && error != NULL)
        *error = run->error;
    return run->error.status;
}

void tg_run_cancel(struct tg_run *run)
{
    if (run == NULL)
        return;
    if (!__atomic_exchange_n(&run->cancelled, true, __ATOMIC_ACQ_REL))
        tg_device_cancel(run->device, run);
}

void tg_run_cancel_within(struct tg_run *run, double seconds)
{
    run->cancel_seconds = seconds;
    tg_run_cancel(run);
}

void tg_run_progress(struct tg_run *run, uint64_t *finished, uint64_t *total)
{
    if (run == NULL)
        return;
    if (!run->ended)
        look(run);
    if (finished != NULL)
        *finished = run->finished;
    if (total != NULL)
        *total = run->result.tasks; /* after look(), which may find more tasks */
}

void tg_run_get_result(const struct tg_run *run, struct tg_run_result *result)
{
    if (run == NULL || result == NULL)
        return;
    *result = run->result;
    if (run->result.n_running > 0)
        result->running = run->running;
}

void tg_run_destroy(struct tg_run *run)
{
    if (run == NULL)
        return;
    if (!run->ended) {
        tg_run_cancel(run);
        tg_run_wait(run, -1, NULL);
    }
    tg_run_free(run);
}

tg_status tg_graph_run(struct tg_graph *graph, const struct tg_run_config *config,
                       struct tg_run_result *result, struct tg_error *error)
{
    TG_REFUSE_NULL(error, graph);
    struct tg_run *run = NULL;
    tg_status status = tg_run_start(graph, config, &run, error);
    if (run == NULL)
        return status;
    status = tg_run_wait(run, -1, error);
    if (result != NULL) {
        tg_run_get_result(run, result);
        result->running = NULL;
        result->schedule.starts = NULL;
        result->schedule.n_starts = 0;
    }
    tg_run_destroy(run);
    return status;
}
