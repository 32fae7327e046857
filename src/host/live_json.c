/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "host/live_json.h"

#include <math.h>
#include <stdlib.h>
#include <taskglass/json.h>
#include <taskglass/recording.h>
#include <unistd.h>

#include "base/limit.h"
#include "host/explain.h"
#include "host/text.h"

/* The largest integer that every reader of JSON takes exactly. The device wrote the counters: one that is
 * larger counts nothing. */
#define LARGEST (UINT64_C(1) << 53)

static const char *const parts[TG_PARTS] = {"AIC", "AIV0", "AIV1"};

static void put_count(struct tg_json *json, const char *key, uint64_t count)
{
    tg_json_put_uint(json, key, count < LARGEST ? count : LARGEST);
}

/* Whole microseconds: no clock here is better than that. */
static void put_seconds(struct tg_json *json, const char *key, double seconds)
{
    tg_json_put_real(json, key, round(seconds * 1e6) / 1e6);
}

static bool is_asked(const struct tg_live_facts *facts, enum tg_live_section section)
{
    return facts->sections >> section & 1;
}

/* ── sections ──────────────────────────────────────────────────────────────────────────── */

/* The device builds the graph while it runs; the total is known when the orchestration has returned. */
static bool is_total_known(const struct tg_run *view)
{
    return view->graph->layout == NULL || view->report.state == TG_ORCHESTRATOR_RETURNED;
}

static void put_tasks(struct tg_json *json, const struct tg_live_facts *facts)
{
    static const struct tg_run_result none;
    const struct tg_run *view = facts->view;
    const struct tg_run_result *result = view ? &view->result : facts->last ? facts->last : &none;
    bool is_known = view ? is_total_known(view) : facts->last != NULL;
    tg_json_key(json, "tasks");
    tg_json_begin_object(json);
    put_count(json, "submitted", result->tasks);
    put_count(json, "finished", result->finished);
    if (is_known) {
        put_count(json, "total", result->tasks);
    } else {
        tg_json_key(json, "total");
        tg_json_null(json);
    }
    put_count(json, "edges", result->edges);
    tg_json_end_object(json);
}

static void put_recorder(struct tg_json *json, const struct tg_collector_counts *counts)
{
    tg_json_key(json, "recorder");
    if (counts == NULL) {
        tg_json_null(json);
        return;
    }
    tg_json_begin_object(json);
    tg_json_put_string(json, "level", tg_level_name(counts->level));
    tg_json_put_string(json, "policy", tg_policy_name(counts->policy));
    put_count(json, "records", counts->records);
    put_count(json, "attempted", counts->attempted);
    put_count(json, "bytes_recorded", counts->bytes_recorded);
    put_count(json, "bytes_written", counts->bytes_written);
    put_count(json, "arena", counts->arena);
    tg_json_key(json, "lost");
    tg_json_begin_object(json);
    put_count(json, "full", counts->lost_full);
    put_count(json, "gave_up", counts->lost_gave_up);
    tg_json_end_object(json);
    put_count(json, "truncated", counts->truncated);
    put_seconds(json, "record_seconds", (double)counts->record_ns * 1e-9);
    put_seconds(json, "wait_seconds", (double)counts->wait_ns * 1e-9);
    tg_json_end_object(json);
}

static void put_rings(struct tg_json *json, const struct tg_run *view)
{
    const struct tg_orchestration_result *result = &view->result.orchestration;
    tg_json_key(json, "rings");
    tg_json_begin_array(json);
    for (uint32_t r = 0; r < result->n_rings; r++) {
        const struct tg_ring_use *ring = &result->ring[r];
        tg_json_begin_object(json);
        put_count(json, "tasks", ring->tasks);
        put_count(json, "task_window", ring->task_window);
        put_count(json, "task_window_used", ring->task_window_used);
        put_count(json, "heap", ring->heap);
        put_count(json, "heap_used", ring->heap_used);
        put_count(json, "dep_pool", ring->dep_pool);
        put_count(json, "dep_pool_used", ring->dep_pool_used);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
    tg_json_put_bool(json, "rings_old", view->report.state == TG_ORCHESTRATOR_RETURNED);
    put_count(json, "tensormap",
              view->graph->layout && view->graph->layout->orchestration.map_regions
                  ? view->graph->layout->orchestration.map_size
                  : 0);
}

static const struct tg_run_task *running_on(const struct tg_run *view, uint32_t core)
{
    for (uint32_t i = 0; i < view->result.n_running; i++)
        if (view->running[i].core == core)
            return &view->running[i];
    return NULL;
}

static void put_cores(struct tg_json *json, const struct tg_run *view)
{
    tg_json_key(json, "cores");
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < view->device->head.n_lanes; i++) {
        const struct tg_run_task *task = running_on(view, i);
        if (task == NULL && i >= view->device->head.n_cores)
            continue; /* a lane that only mixes use */
        tg_json_begin_object(json);
        tg_json_put_uint(json, "core", i);
        tg_json_put_string(json, "kind", parts[i % TG_PARTS]);
        if (task != NULL) {
            tg_json_put_hex(json, "task", task->task);
            tg_json_put_string(json, "kernel", task->kernel);
        } else {
            tg_json_key(json, "task");
            tg_json_null(json);
        }
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

static void put_orchestrator(struct tg_json *json, const struct tg_run *view)
{
    static const char *const states[] = {"idle", "running", "returned", "failed"};
    const struct tg_orchestrator_report *report = &view->report;
    char site[128];
    tg_json_key(json, "orchestrator");
    if (view->graph->layout == NULL) {
        tg_json_null(json);
        return;
    }
    tg_run_scope_site(view, site);
    tg_json_begin_object(json);
    tg_json_put_string(json, "state", report->state < 4 ? states[report->state] : "unknown");
    tg_json_put_string(json, "scope", site);
    put_count(json, "scopes", report->scopes);
    put_seconds(json, "ring_wait_seconds", view->result.orchestration.wait_seconds);
    if (report->waits_for != TG_RESOURCE_NONE && report->waits_for < TG_RESOURCES) {
        tg_json_put_string(json, "waits_for", tg_run_resource_name(report->waits_for));
        tg_json_put_uint(json, "waits_ring",
                         report->waits_ring < TG_RINGS ? report->waits_ring : 0);
        if (report->waits_for == TG_RESOURCE_RESULT)
            tg_json_put_hex(json, "waits_task", report->waits_task);
    } else {
        tg_json_key(json, "waits_for");
        tg_json_null(json);
    }
    tg_json_end_object(json);
}

static void put_waits(struct tg_json *json, const struct tg_run *view)
{
    const struct tg_run_result *result = &view->result;
    uint32_t n = result->n_unmet < TG_MAX_UNMET ? result->n_unmet : TG_MAX_UNMET;
    tg_json_key(json, "waits");
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < n; i++) {
        tg_json_begin_object(json);
        tg_json_put_hex(json, "task", result->unmet[i].task);
        tg_json_put_hex(json, "waits_for", result->unmet[i].waits_for);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
    tg_json_put_bool(json, "more_waits", result->n_unmet > n);
}

/* ── answers ───────────────────────────────────────────────────────────────────────────── */

static void put_about(struct tg_json *json, const struct tg_live_facts *facts)
{
    const struct tg_live_about *about = facts->about;
    tg_json_put_uint(json, "version", TG_LIVE_VERSION);
    tg_json_put_string(json, "phase", tg_live_phase_name(facts->phase));
    tg_json_put_string(json, "workload", about->workload);
    tg_json_put_string(json, "case", about->case_name);
    tg_json_put_string(json, "platform", about->platform);
    tg_json_put_string(json, "runtime", about->runtime);
    tg_json_put_uint(json, "pid", (uint64_t)getpid());
    tg_json_put_uint(json, "started", (uint64_t)facts->started);
    put_seconds(json, "elapsed", facts->elapsed);
}

static void put_view(struct tg_json *json, const struct tg_live_facts *facts)
{
    const struct tg_run *view = facts->view;
    put_seconds(json, "run_seconds", tg_limit_now() - view->launched_at);
    put_seconds(json, "idle_seconds", facts->idle);
    put_seconds(json, "hang_seconds", facts->limit);
    if (is_asked(facts, TG_LIVE_RINGS))
        put_rings(json, view);
    if (is_asked(facts, TG_LIVE_ORCHESTRATOR))
        put_orchestrator(json, view);
    if (is_asked(facts, TG_LIVE_CORES))
        put_cores(json, view);
    if (is_asked(facts, TG_LIVE_WAITS)) {
        put_count(json, "waiting", view->result.waiting);
        put_waits(json, view);
    }
    if (facts->explanation != NULL) {
        tg_json_key(json, "explanation");
        tg_json_begin_object(json);
        tg_explanation_put(facts->explanation, json);
        tg_json_end_object(json);
        tg_json_put_bool(json, "places_late", facts->places_late);
    }
}

char *tg_live_json_status(const struct tg_live_facts *facts, size_t *size)
{
    struct tg_json json;
    char *text = NULL;
    FILE *file = open_memstream(&text, size);
    if (file == NULL)
        return NULL;
    tg_json_start(&json, file);
    tg_json_begin_line_object(&json);
    put_about(&json, facts);
    put_tasks(&json, facts);
    if (facts->view != NULL)
        put_view(&json, facts);
    if (is_asked(facts, TG_LIVE_RECORDER))
        put_recorder(&json, facts->recorder);
    tg_json_end_object(&json);
    tg_status status = tg_json_finish(&json);
    if (fclose(file) != 0 || status != TG_OK) {
        free(text);
        return NULL;
    }
    return text;
}

char *tg_live_json_error(const char *problem, size_t *size)
{
    struct tg_json json;
    enum { ROOM = 400 };
    char *text = malloc(ROOM);
    if (text == NULL)
        return NULL;
    tg_json_start_buffer(&json, text, ROOM, -1, 0);
    tg_json_begin_line_object(&json);
    tg_json_put_uint(&json, "version", TG_LIVE_VERSION);
    tg_json_put_string(&json, "error", problem);
    tg_json_end_object(&json);
    if (tg_json_finish(&json) != TG_OK) {
        free(text);
        return NULL;
    }
    *size = json.used;
    return text;
}
