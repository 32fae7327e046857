/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "host/trace_collector.h"
#include "base/error.h"
#include "host/pump.h"
#include "host/text.h"
#include "host/trace_drain.h"
#include "host/trace_file.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/new_file.h>
#include <time.h>

/* A stream that gets less than this share of its room between two looks can wait. */
enum { HARDLY = 16 };
/* How often the bytes of the recorder are looked at. */
enum { SAMPLE_NS = 1000000 };

struct tg_trace_collector {
    struct tg_graph *graph;
    struct tg_device *device;
    char *path;
    struct tg_new_file *file; /* gets its name when the trace is complete */
    struct tg_spool *spool;
    struct tg_trace_area area;
    struct tg_trace_drain *drain; /* one per stream */
    struct tg_trace_room *room;
    struct tg_pump pump;
    const struct tg_collector *recorder;
    uint64_t started;           /* by the host's clock */
    uint64_t sampled, recorded; /* when the recorder was looked at, and its bytes then */
};

static uint64_t host_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ── before the run ────────────────────────────────────────────────────────────────────── */

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

tg_status tg_trace_file_check(const char *path, struct tg_error *error)
{
    struct tg_new_file *file = NULL;
    if (path[0] == '\0')
        return tg_error_set(error, TG_BAD_ARGUMENT, "the trace needs the name of a file");
    tg_status status = tg_new_file_open(path, true, &file, error);
    (void)tg_new_file_close(file, false, NULL);
    return status;
}

static tg_status make_spool(struct tg_trace_collector *c, struct tg_error *error)
{
    char *folder = folder_of(c->path);
    if (folder == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    tg_status status = tg_spool_create(folder, &c->spool, error);
    free(folder);
    return status;
}

static tg_status make_drains(struct tg_trace_collector *c, struct tg_error *error)
{
    uint32_t n = c->area.setup.n_streams;
    c->drain = calloc(n, sizeof *c->drain);
    c->room = calloc(1, sizeof *c->room);
    if (c->drain == NULL || c->room == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    c->room->n_ended = c->graph->layout ? 0 : tg_graph_tasks(c->graph);
    c->room->ended = calloc(c->room->n_ended + 1, sizeof *c->room->ended);
    if (c->room->ended == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    for (uint32_t i = 0; i < n; i++)
        tg_trace_drain_init(&c->drain[i], &c->area, i, c->spool, c->room);
    return TG_OK;
}

tg_status tg_trace_collector_create(struct tg_graph *graph, const char *path,
                                    struct tg_trace_collector **out, struct tg_error *error)
{
    struct tg_trace_collector *c = calloc(1, sizeof *c);
    if (c == NULL || (c->path = strdup(path)) == NULL) {
        free(c);
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    }
    c->graph = graph;
    c->device = graph->module->device;
    tg_status status = path[0] != '\0' ? tg_new_file_open(path, true, &c->file, error)
                                       : tg_trace_file_check(path, error);
    if (status == TG_OK)
        status = make_spool(c, error);
    if (status == TG_OK)
        status = tg_trace_area_create(c->device, c->device->head.n_lanes + (graph->layout != NULL),
                                      graph->layout ? graph->layout->launch.n_tasks : 0, &c->area,
                                      error);
    if (status == TG_OK)
        status = make_drains(c, error);
    if (status != TG_OK) {
        tg_trace_collector_destroy(c);
        return status;
    }
    *out = c;
    return TG_OK;
}

uint64_t tg_trace_collector_setup(const struct tg_trace_collector *c)
{
    return c->area.address;
}

uint64_t tg_trace_collector_pulse(const struct tg_trace_collector *c)
{
    return c->area.setup.pulse_ns;
}

/* ── during the run ────────────────────────────────────────────────────────────────────── */

/* The device may have another clock than the host, so a sample has the time of the latest event. */
static void sample_recorder(struct tg_trace_collector *c)
{
    struct tg_collector_counts counts;
    tg_collector_count(c->recorder, &counts);
    if (counts.bytes_recorded == c->recorded || c->room->latest == 0)
        return;
    c->recorded = counts.bytes_recorded;
    tg_spool_add(c->spool, &(struct tg_spool_event){.type = TG_SPOOL_RECORDER,
                                                    .begin = c->room->latest,
                                                    .at = c->recorded});
    c->room->events++;
}

static void sample_now_and_then(struct tg_trace_collector *c)
{
    uint64_t now = c->recorder ? host_now() : 0;
    if (now - c->sampled < SAMPLE_NS)
        return;
    c->sampled = now;
    sample_recorder(c);
}

static uint64_t drain_all(void *collector, bool *filling)
{
    struct tg_trace_collector *c = collector;
    uint64_t events = 0;
    *filling = false;
    for (uint32_t i = 0; i < c->area.setup.n_streams; i++) {
        uint64_t n = tg_trace_drain_run(&c->drain[i]);
        events += n;
        *filling = *filling || n * HARDLY >= c->area.setup.n_events;
    }
    sample_now_and_then(c);
    return events;
}

tg_status tg_trace_collector_start(struct tg_trace_collector *c,
                                   const struct tg_collector *recorder, struct tg_error *error)
{
    c->recorder = recorder;
    c->started = host_now();
    c->pump = (struct tg_pump){.pass = drain_all, .context = c};
    return tg_pump_start(&c->pump, error);
}

uint64_t tg_trace_collector_progress(const struct tg_trace_collector *c)
{
    return tg_pump_progress(&c->pump);
}

void tg_trace_collector_stop(struct tg_trace_collector *c)
{
    bool was_started = c->pump.started;
    tg_pump_stop(&c->pump);
    if (was_started && c->recorder != NULL)
        sample_recorder(c);
}

/* ── what only the host knows ──────────────────────────────────────────────────────────── */

/* When the device began the run, by its own clock; TG_SPOOL_NO_TIME if its memory is lost. */
static uint64_t began(const struct tg_trace_collector *c)
{
    uint64_t time = 0;
    tg_status status = tg_device_copy_out(c->device, &time,
                                          c->area.address + offsetof(struct tg_trace_setup, began),
                                          sizeof time, NULL);
    return status == TG_OK && time != 0 ? time : TG_SPOOL_NO_TIME;
}

/* The time of the device's clock now. The simulators use the host's; a GPU has one of its own, which runs
 * as fast. */
static uint64_t device_now(const struct tg_trace_collector *c)
{
    uint64_t begin = began(c), now = host_now();
    if (begin == TG_SPOOL_NO_TIME)
        return c->room->latest;
    if (begin < c->started || begin > now)
        now = begin + (now - c->started);
    return now > c->room->latest ? now : c->room->latest;
}

/* Adds what was running when the device died. Returns when that was. */
static uint64_t add_running(struct tg_trace_collector *c, const struct tg_worker_status *status)
{
    uint64_t now = device_now(c);
    for (uint32_t i = 0; i < c->device->head.n_lanes; i++)
        tg_trace_drain_add_running(&c->drain[i], &status[i], now);
    return now;
}

/* A graph that the host built: its edges, the scopes of its tasks, and when these became ready: at the
 * latest end of the tasks that they waited for, or when the run began. False: no memory. */
static bool add_graph(struct tg_trace_collector *c)
{
    uint64_t n_edges, tasks = c->room->n_ended, start = began(c);
    const struct tg_edge *edge = tg_graph_edge_list(c->graph, &n_edges);
    uint64_t *ready = calloc(tasks + 1, sizeof *ready);
    if (ready == NULL)
        return false;
    for (uint64_t i = 0; i < n_edges; i++) {
        uint64_t ended = c->room->ended[edge[i].before];
        tg_spool_add(c->spool, &(struct tg_spool_event){.type = TG_SPOOL_EDGE,
                                                        .id = edge[i].after,
                                                        .at = edge[i].before,
                                                        .part = TG_EDGE_EXPLICIT});
        ready[edge[i].after] = ready[edge[i].after] > ended ? ready[edge[i].after] : ended;
    }
    for (uint64_t i = 0; i < tasks; i++)
        tg_spool_add(c->spool, &(struct tg_spool_event){.type = TG_SPOOL_SITE,
                                                        .id = i,
                                                        .at = ready[i] ? ready[i] : start,
                                                        .number = tg_graph_desc(c->graph, i).site});
    free(ready);
    c->room->events += n_edges;
    return true;
}

/* ── the file ──────────────────────────────────────────────────────────────────────────── */

/* Lanes beyond the cores run parts of mixes only, and are shown if they did. */
static uint32_t cores_to_show(const struct tg_trace_collector *c)
{
    uint32_t n = c->device->head.n_cores;
    for (uint32_t i = n; i < c->device->head.n_lanes; i++)
        if (c->drain[i].any)
            n = i + 1;
    return n;
}

/* Adds up what the workers lost. Returns the number of streams whose memory is gone. */
static uint32_t account(const struct tg_trace_collector *c, struct tg_run_trace *result)
{
    uint32_t gone = 0;
    result->tasks = c->room->tasks;
    result->events = c->room->events;
    result->clock_ns = c->room->step;
    result->lost = c->room->corrupt;
    for (uint32_t i = 0; i < c->area.setup.n_streams; i++) {
        struct tg_trace_head head;
        bool read =
            tg_device_copy_out(c->device, &head, c->drain[i].address, sizeof head, NULL) == TG_OK;
        if (!read || c->drain[i].gone)
            gone++;
        result->lost += read ? head.lost : 0;
        result->wait_ns += read ? head.wait_ns : 0;
    }
    return gone;
}

static void say_losses(uint32_t gone, struct tg_run_trace *result)
{
    char text[200];
    if (result->lost > 0) {
        snprintf(text, sizeof text,
                 "%llu events of the trace were lost, because the host did not take them in time",
                 (unsigned long long)result->lost);
        tg_text_add(result->text, sizeof result->text, text);
    }
    if (gone > 0) {
        snprintf(text, sizeof text,
                 "the last events of %u streams were lost with the device's memory", gone);
        tg_text_add(result->text, sizeof result->text, text);
    }
}

static tg_status write_file(struct tg_trace_collector *c, const struct tg_trace_about *about,
                            const struct tg_trace_run *run, struct tg_run_trace *result,
                            struct tg_error *error)
{
    struct tg_trace_result written = {0};
    struct tg_trace_target target = {.file = tg_new_file_stream(c->file),
                                     .format = tg_trace_format_of(c->path),
                                     .goes_on = about->goes_on,
                                     .context = about->context};
    struct tg_error not_closed;
    tg_status status = tg_trace_write(c->spool, run, &target, &written, error);
    tg_status closed = tg_new_file_close(c->file, status == TG_OK, &not_closed);
    c->file = NULL;
    if (status == TG_OK && closed != TG_OK) {
        status = closed;
        *error = not_closed;
    }
    if (status != TG_OK)
        return status;
    result->lost += written.left_out;
    result->bytes = written.bytes;
    if (written.left_out > 0) {
        char text[120];
        snprintf(text, sizeof text, "%llu events that make no sense are not in the trace",
                 (unsigned long long)written.left_out);
        tg_text_add(result->text, sizeof result->text, text);
    }
    return TG_OK;
}

void tg_trace_collector_finish(struct tg_trace_collector *c, const struct tg_trace_about *about,
                               struct tg_run_trace *result)
{
    uint64_t start = host_now();
    struct tg_error error = {TG_OK, ""};
    struct tg_trace_names names = {0};
    *result = (struct tg_run_trace){.on = true};
    uint64_t now = about->lost ? add_running(c, about->status) : c->room->latest;
    tg_trace_drain_end_scopes(&c->drain[c->area.setup.n_streams - 1], now);
    bool complete = c->graph->layout != NULL || add_graph(c);
    uint32_t gone = account(c, result);
    say_losses(gone, result);
    struct tg_trace_numbers numbers = {.n_cores = cores_to_show(c),
                                       .begin = began(c),
                                       .end = now != 0 ? now : TG_SPOOL_NO_TIME,
                                       .lost = result->lost,
                                       .clock_ns = result->clock_ns};
    result->status =
        complete ? tg_trace_names_make(&names, c->graph, about, &numbers) : TG_NO_MEMORY;
    if (result->status == TG_OK)
        result->status = write_file(c, about, &names.run, result, &error);
    else
        tg_error_set(&error, result->status, "out of host memory");
    tg_trace_names_free(&names);
    if (result->status != TG_OK) {
        char text[sizeof result->text];
        result->tasks = 0; /* what was collected is lost with the file */
        result->lost += result->events;
        snprintf(text, sizeof text, "%s: no trace was written: %.200s", c->path, error.text);
        tg_text_add(result->text, sizeof result->text, text);
    }
    result->finish_seconds = (double)(host_now() - start) * 1e-9;
}

void tg_trace_collector_destroy(struct tg_trace_collector *c)
{
    if (c == NULL)
        return;
    tg_pump_stop(&c->pump);
    (void)tg_new_file_close(c->file, false, NULL);
    tg_spool_destroy(c->spool);
    tg_trace_area_destroy(&c->area);
    free(c->drain);
    free(c->room ? c->room->ended : NULL);
    free(c->room);
    free(c->path);
    free(c);
}
