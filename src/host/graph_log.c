/* SPDX-License-Identifier: Apache-2.0 */
#include "host/graph_log.h"
#include "base/error.h"
#include "host/pump.h"
#include <stdlib.h>
#include <string.h>

/* The stream: records alone, no payload. A device that is far ahead waits for us. */
enum { BUFFERS = 64, ARENA = 4096 };
#define WAIT_SECONDS 30.0

struct tg_graph_log {
    struct tg_graph *graph;
    struct tg_record_area area;
    struct tg_drain drain;
    struct tg_pump pump;
    struct tg_logged_task *task;
    uint64_t n_tasks, room_tasks;
    struct tg_logged_edge *edge;
    uint64_t n_edges, room_edges;
    struct tg_site *sites;
    uint64_t lost;
};

/* ── taking records ────────────────────────────────────────────────────────────────────── */

static bool want_room(void **array, uint64_t *room, uint64_t wanted, size_t size)
{
    uint64_t larger = *room ? 2 * *room : 1024;
    void *grown;
    if (wanted <= *room)
        return true;
    while (larger < wanted)
        larger *= 2;
    grown = realloc(*array, larger * size);
    if (grown == NULL)
        return false;
    *array = grown;
    *room = larger;
    return true;
}

static bool is_kernel(const struct tg_graph *graph, uint32_t kernel)
{
    return kernel == TG_NO_KERNEL || kernel - graph->module->first < graph->module->n_kernels;
}

static bool is_task(uint64_t id)
{
    return id >> 32 < TG_RINGS;
}

static bool makes_sense(const struct tg_graph *graph, const struct tg_record_task *r)
{
    if (r->type != TG_RECORD_TASK || !is_task(r->task_id) || r->n_edges > TG_EDGES_PER_RECORD ||
        r->site >= TG_MAX_SITES || (r->flags & ~TG_RECORD_MORE) != 0)
        return false;
    for (uint32_t part = 0; part < TG_PARTS; part++)
        if (!is_kernel(graph, r->kernel[part]))
            return false;
    for (uint32_t i = 0; i < r->n_edges; i++)
        if (!is_task(r->edge[i] & UINT64_MAX >> 4) || r->edge[i] >> 60 > TG_EDGE_WAW)
            return false;
    return true;
}

/* The number of the task that more edges are for: the last one, or one that a tg_depend named. */
static uint64_t find_task(const struct tg_graph_log *log, uint64_t id)
{
    uint64_t i = log->n_tasks;
    while (i > 0 && log->task[i - 1].id != id)
        i--;
    return i - 1; /* UINT64_MAX where there is none */
}

static void add_task(struct tg_graph_log *log, const struct tg_record_task *r)
{
    struct tg_logged_task *task = &log->task[log->n_tasks++];
    *task = (struct tg_logged_task){.id = r->task_id, .site = r->site};
    memcpy(task->kernel, r->kernel, sizeof task->kernel);
}

static void take(void *context, const struct tg_record *record)
{
    struct tg_graph_log *log = context;
    struct tg_record_task r;
    uint64_t task;
    memcpy(&r, record, sizeof r);
    if (!makes_sense(log->graph, &r) ||
        !want_room((void **)&log->task, &log->room_tasks, log->n_tasks + 1, sizeof *log->task) ||
        !want_room((void **)&log->edge, &log->room_edges, log->n_edges + r.n_edges,
                   sizeof *log->edge)) {
        log->lost++;
        return;
    }
    if (!(r.flags & TG_RECORD_MORE))
        add_task(log, &r);
    task = find_task(log, r.task_id);
    if (task == UINT64_MAX) {
        log->lost++;
        return;
    }
    for (uint32_t i = 0; i < r.n_edges; i++)
        log->edge[log->n_edges++] = (struct tg_logged_edge){.task = task,
                                                            .before = r.edge[i] & UINT64_MAX >> 4,
                                                            .kind = (uint32_t)(r.edge[i] >> 60)};
}

/* ── beginning and end ─────────────────────────────────────────────────────────────────── */

/* Tells the orchestration what to write down, and where. */
static tg_status point_to(struct tg_graph *graph, uint64_t setup, uint32_t logs,
                          struct tg_error *error)
{
    struct tg_device *device = graph->module->device;
    uint64_t o = graph->orchestration;
    tg_status status = tg_device_copy_in(device, o + offsetof(struct tg_orchestration, log), &setup,
                                         sizeof setup, error);
    if (status == TG_OK)
        status = tg_device_copy_in(device, o + offsetof(struct tg_orchestration, logs), &logs,
                                   sizeof logs, error);
    return status;
}

tg_status tg_graph_log_start(struct tg_graph *graph, struct tg_graph_log **out,
                             struct tg_error *error)
{
    static const struct tg_record_config config = {
        .buffers = BUFFERS, .arena = ARENA, .wait_limit = WAIT_SECONDS};
    struct tg_graph_log *log = calloc(1, sizeof *log);
    tg_status status;
    if (log == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    log->graph = graph;
    status = tg_record_area_create(graph->module->device, &config, TG_LOGS, &log->area, error);
    if (status == TG_OK)
        status = point_to(graph, log->area.address, 1u << TG_LOG_EDGES, error);
    if (status == TG_OK) {
        tg_drain_init_other(&log->drain, &log->area, TG_LOG_EDGES, take, log);
        log->pump = (struct tg_pump){.drains = &log->drain, .n = 1};
        status = tg_pump_start(&log->pump, error);
    }
    if (status != TG_OK) {
        tg_graph_log_destroy(log);
        return status;
    }
    *out = log;
    return TG_OK;
}

static int by_task(const void *a, const void *b)
{
    const struct tg_logged_edge *x = a, *y = b;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    if (x->before != y->before)
        return x->before < y->before ? -1 : 1;
    return (x->kind < y->kind) - (x->kind > y->kind); /* named ones last: found says more */
}

/* By task; one that came upon another more than once waited for it once. */
static void sort_edges(struct tg_graph_log *log)
{
    uint64_t kept = 0;
    if (log->n_edges > 0)
        qsort(log->edge, log->n_edges, sizeof *log->edge, by_task);
    for (uint64_t i = 0; i < log->n_edges; i++)
        if (kept == 0 || log->edge[kept - 1].task != log->edge[i].task ||
            log->edge[kept - 1].before != log->edge[i].before)
            log->edge[kept++] = log->edge[i];
    log->n_edges = kept;
}

static void read_sites(struct tg_graph_log *log)
{
    uint64_t size = TG_MAX_SITES * sizeof *log->sites;
    log->sites = malloc(size);
    if (log->sites != NULL &&
        tg_device_copy_out(log->graph->module->device, log->sites,
                           log->graph->layout->orchestration.sites, size, NULL) != TG_OK) {
        free(log->sites);
        log->sites = NULL;
    }
}

void tg_graph_log_stop(struct tg_graph_log *log)
{
    struct tg_stream_head head;
    if (!log->pump.started)
        return;
    tg_pump_stop(&log->pump);
    if (tg_device_copy_out(log->area.device, &head, log->drain.address, sizeof head, NULL) == TG_OK)
        log->lost += head.lost_gave_up;
    log->lost += log->drain.corrupt;
    read_sites(log);
    sort_edges(log);
    (void)point_to(log->graph, 0, 0, NULL);
}

void tg_graph_log_destroy(struct tg_graph_log *log)
{
    if (log == NULL)
        return;
    tg_graph_log_stop(log);
    tg_record_area_destroy(&log->area);
    free(log->task);
    free(log->edge);
    free(log->sites);
    free(log);
}

/* ── what it says ──────────────────────────────────────────────────────────────────────── */

const struct tg_logged_task *tg_graph_log_tasks(const struct tg_graph_log *log, uint64_t *count)
{
    *count = log->n_tasks;
    return log->task;
}

const struct tg_logged_edge *tg_graph_log_edges(const struct tg_graph_log *log, uint64_t *count)
{
    *count = log->n_edges;
    return log->edge;
}

const char *tg_graph_log_site(const struct tg_graph_log *log, uint32_t site)
{
    if (log->sites == NULL || site >= TG_MAX_SITES)
        return "";
    log->sites[site].text[sizeof log->sites[site].text - 1] = '\0';
    return log->sites[site].text;
}

uint64_t tg_graph_log_lost(const struct tg_graph_log *log)
{
    return log->lost;
}
