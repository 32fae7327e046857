/* SPDX-License-Identifier: Apache-2.0 */
#include "host/device_log.h"
#include "base/error.h"
#include "base/grow.h"
#include "common/stream_word.h"
#include "host/pump.h"
#include "host/site_names.h"
#include "host/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The streams carry records without payload. The device waits when a stream is full, so the buffers
 * hold 100,000 scopes; a device with little memory gets fewer buffers, and so does one whose driver has to
 * lock them. */
enum { BUFFERS = 2048, LOCKED_BUFFERS = 256, FEW_BUFFERS = 64, ARENA = 4096 };
#define WAIT_SECONDS 30.0

struct tg_device_log {
    struct tg_graph *graph;
    struct tg_record_area area;
    struct tg_drain drain[TG_LOGS];
    struct tg_pump pump;
    uint32_t logs; /* bits of enum tg_log */
    struct tg_scope_writer *scopes;
    uint32_t
        *scope_site; /* by the device's number, if its name is known: the writer's number + 1 */
    struct tg_scope_waits_wire waits; /* for the next sample, if it is of that scope's end */
    uint64_t samples;                 /* taken out of the stream */
    uint64_t attempted;               /* made by the device */
    struct tg_logged_task *task;
    uint64_t n_tasks;
    size_t room_tasks;
    struct tg_logged_edge *edge;
    uint64_t n_edges;
    size_t room_edges;
    struct tg_log_facts facts;
    struct tg_site_names sites;
    char site_name[TG_SITE_NAME]; /* what tg_device_log_site gave last */
    bool no_memory;               /* for the names of sites */
    uint64_t lost;
};

/* ── taking records ────────────────────────────────────────────────────────────────────── */

static bool is_kernel(const struct tg_graph *graph, uint32_t kernel)
{
    return kernel == TG_NO_KERNEL || kernel - graph->module->first < graph->module->n_kernels;
}

static bool is_task(uint64_t id)
{
    return id >> 32 < TG_RINGS;
}

static bool is_edge(uint64_t entry)
{
    return entry >> 60 <= TG_EDGE_WAW;
}

/* Of the entries it checks the edges only. */
static bool makes_sense(const struct tg_graph *graph, const struct tg_record_task *r)
{
    if (r->type != TG_RECORD_TASK || !is_task(r->task_id) || r->n_edges > TG_EDGES_PER_RECORD ||
        r->site > TG_NUMBERED_SITES || r->line > TG_NUMBERED_SITES ||
        (r->flags & ~TG_RECORD_MORE) != 0)
        return false;
    for (uint32_t part = 0; part < TG_PARTS; part++)
        if (!is_kernel(graph, r->kernel[part]))
            return false;
    for (uint32_t i = 0; i < r->n_edges; i++)
        if (is_edge(r->edge[i]) && !is_task(r->edge[i] & UINT64_MAX >> 4))
            return false;
    return true;
}

/* The number of the task that edges are added to: the last one, or one that tg_depend named. */
static uint64_t find_task(const struct tg_device_log *log, uint64_t id)
{
    uint64_t i = log->n_tasks;
    while (i > 0 && log->task[i - 1].id != id)
        i--;
    return i - 1; /* UINT64_MAX: not found */
}

static void add_task(struct tg_device_log *log, const struct tg_record_task *r)
{
    struct tg_logged_task *task = &log->task[log->n_tasks++];
    *task = (struct tg_logged_task){
        .id = r->task_id, .time = r->time, .site = r->site, .line = r->line};
    memcpy(task->kernel, r->kernel, sizeof task->kernel);
}

/* Facts that come before the next task. */
static void take_facts(struct tg_device_log *log, const struct tg_record_task *r)
{
    bool good = r->n_edges <= TG_EDGES_PER_RECORD && r->flags == 0;
    for (uint32_t i = 0; good && i < r->n_edges; i++)
        good = !is_edge(r->edge[i]);
    if (!good || !tg_log_facts_take(&log->facts, r->edge, r->n_edges, log->n_tasks))
        log->lost++;
}

static void take(void *context, const struct tg_record *record)
{
    struct tg_device_log *log = context;
    struct tg_record_task r;
    uint64_t task;
    memcpy(&r, record, sizeof r);
    if (r.type == TG_RECORD_FACTS) {
        take_facts(log, &r);
        return;
    }
    if (!makes_sense(log->graph, &r) ||
        !tg_grow(&log->task, &log->room_tasks, log->n_tasks + 1, sizeof *log->task) ||
        !tg_grow(&log->edge, &log->room_edges, log->n_edges + r.n_edges, sizeof *log->edge)) {
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
    if (task + 1 == log->n_tasks) { /* edges that tg_depend adds come without facts */
        if (!tg_log_facts_take(&log->facts, r.edge, r.n_edges, task))
            log->lost++;
        tg_log_facts_submitted(&log->facts, r.task_id);
    }
    for (uint32_t i = 0; i < r.n_edges; i++)
        if (is_edge(r.edge[i]))
            log->edge[log->n_edges++] =
                (struct tg_logged_edge){.task = task,
                                        .before = r.edge[i] & UINT64_MAX >> 4,
                                        .kind = (uint32_t)(r.edge[i] >> 60)};
}

/* ── scopes ────────────────────────────────────────────────────────────────────────────── */

static void learn_sites(struct tg_device_log *log)
{
    tg_status status =
        tg_site_names_update(&log->sites, log->graph->module->device, log->graph->orchestration,
                             log->graph->layout->orchestration.sites);
    log->no_memory |= status == TG_NO_MEMORY;
}

/* The writer's number of a site. The device adds sites while it runs, and it publishes a site before the
 * first sample of it. */
static bool learn_site(struct tg_device_log *log, uint32_t site, uint32_t *number)
{
    bool can_keep = log->scope_site != NULL && site < TG_MAX_SITES;
    if (can_keep && log->scope_site[site] != 0) {
        *number = log->scope_site[site] - 1;
        return true;
    }
    if (site >= log->sites.n && site < TG_MAX_SITES)
        learn_sites(log);
    if (!tg_scope_writer_site(log->scopes, tg_device_log_site(log, site), number))
        return false;
    if (can_keep && site < log->sites.n)
        log->scope_site[site] = *number + 1;
    return true;
}

static void take_sample(struct tg_device_log *log, const struct tg_scope_sample_wire *s)
{
    uint32_t site;
    struct tg_scope_sample sample = {
        .end = s->end != 0,
        .depth = s->depth,
        .ring = s->ring,
        .task_window_start = s->task_window_start,
        .task_window_end = s->task_window_end,
        .heap_start = s->heap_start,
        .heap_end = s->heap_end,
        .dep_pool_start = s->dep_pool_start,
        .dep_pool_end = s->dep_pool_end,
        .tensormap = s->tensormap,
        .peak = {s->peak_task_window, s->peak_heap, s->peak_dep_pool, s->peak_tensormap},
        .waits_known = s->end != 0,
        .rings = s->rings,
    };
    const struct tg_scope_waits_wire *w = &log->waits;
    if (s->end && w->end == TG_SCOPE_WAITED && w->site == s->site && w->depth == s->depth) {
        for (int i = 0; i < TG_SCOPE_RESOURCES; i++)
            sample.waits[i] = w->waits[i];
        for (int ring = 0; ring < TG_SCOPE_RINGS; ring++)
            sample.asked_dep_pool[ring] = w->asked_deps[ring];
        sample.wait_ns = w->wait_ns;
        sample.asked_tensormap = w->asked_map;
    }
    log->waits.end = TG_SCOPE_BEGINS;
    if (learn_site(log, s->site, &site))
        tg_scope_writer_add_at(log->scopes, site, &sample);
    log->samples++;
}

static void take_scopes(void *context, const struct tg_record *record)
{
    struct tg_device_log *log = context;
    struct tg_record_scopes r;
    memcpy(&r, record, sizeof r);
    if (r.type != TG_RECORD_SCOPES || log->scopes == NULL)
        return;
    for (uint32_t i = 0; i < r.n && i < TG_SAMPLES_PER_RECORD; i++) {
        const struct tg_scope_sample_wire *s = &r.entry[i].sample;
        if (s->ring >= TG_RINGS || s->site > TG_NUMBERED_SITES)
            continue;
        if (s->end == TG_SCOPE_WAITED)
            log->waits = r.entry[i].waits;
        else
            take_sample(log, s);
    }
}

/* ── start and stop ────────────────────────────────────────────────────────────────────── */

/* Tells the orchestration which logs to write, and where. */
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

/* Queues and buckets have a power of two of places, so a slot can cost two places in each of the
 * queues, and a map entry two buckets. The arguments of tasks lie in blocks, each of which can have a
 * rest that no task fits in. */
struct tg_scope_memory tg_device_log_memory(const struct tg_graph *graph)
{
    const struct tg_orchestration *o = &graph->layout->orchestration;
    struct tg_device_info info;
    tg_device_get_info(graph->module->device, &info);
    return (struct tg_scope_memory){
        .size = info.memory,
        .used = info.memory_used,
        .task = sizeof(struct tg_task_desc) + sizeof(struct tg_slot_note) +
                sizeof(struct tg_task_place) +
                o->payload_stride * TG_ARGS_BLOCK / (TG_ARGS_BLOCK - o->payload_stride) + 2 +
                (size_t)2 * TG_CLASSES * sizeof(uint64_t),
        .dep = sizeof(struct tg_dep),
        .entry = sizeof(struct tg_map_region) + sizeof(struct tg_map_reader) + 2 * sizeof(uint32_t),
    };
}

/* The capacity of the rings, for the scope stats' files. */
static struct tg_scope_limits limits_of(const struct tg_graph *graph)
{
    const struct tg_orchestration *o = &graph->layout->orchestration;
    struct tg_scope_limits limits = {.n_rings = o->n_rings,
                                     .tensormap = o->map_regions != 0 ? o->map_size : 0,
                                     .memory = tg_device_log_memory(graph)};
    for (uint32_t r = 0; r < limits.n_rings; r++) {
        limits.task_window[r] = o->ring[r].n_slots;
        limits.heap[r] = o->ring[r].heap_size;
        limits.dep_pool[r] = o->ring[r].n_deps;
    }
    return limits;
}

static void flush_scopes(void *context)
{
    struct tg_device_log *log = context;
    if (log->scopes != NULL)
        tg_scope_writer_flush(log->scopes);
}

static tg_status start(struct tg_device_log *log, const char *scope_stats, struct tg_error *error)
{
    struct tg_record_config config = {
        .buffers = BUFFERS, .arena = ARENA, .wait_limit = WAIT_SECONDS};
    struct tg_device *device = log->graph->module->device;
    tg_status status = TG_OK;
    if (device->ops->alloc_shared != NULL)
        config.buffers = LOCKED_BUFFERS; /* to lock memory costs time */
    if (scope_stats != NULL) {
        struct tg_scope_limits limits = limits_of(log->graph);
        status = tg_scope_writer_create(scope_stats, &limits, &log->scopes, error);
    }
    if (log->scopes != NULL) /* without it, names are looked up each time */
        log->scope_site = calloc(TG_MAX_SITES, sizeof *log->scope_site);
    if (status != TG_OK)
        return status; /* also NO_MEMORY: the user asked for scope stats */
    status = tg_record_area_create(device, &config, NULL, TG_LOGS, &log->area, error);
    if (status == TG_NO_MEMORY) {
        config.buffers = FEW_BUFFERS;
        status = tg_record_area_create(device, &config, NULL, TG_LOGS, &log->area, error);
    }
    if (status == TG_OK)
        status = point_to(log->graph, log->area.address, log->logs, error);
    if (status != TG_OK)
        return status;
    tg_drain_init_other(&log->drain[TG_LOG_EDGES], &log->area, TG_LOG_EDGES, take, log);
    tg_drain_init_other(&log->drain[TG_LOG_SCOPES], &log->area, TG_LOG_SCOPES, take_scopes, log);
    log->pump =
        (struct tg_pump){.drains = log->drain, .n = TG_LOGS, .idle = flush_scopes, .context = log};
    status = tg_pump_start(&log->pump, error);
    if (status != TG_OK) /* else the next run would write a log that nobody has */
        (void)point_to(log->graph, 0, 0, NULL);
    return status;
}

tg_status tg_device_log_start(struct tg_graph *graph, bool edges, const char *scope_stats,
                              struct tg_device_log **out, struct tg_error *error)
{
    struct tg_device_log *log = calloc(1, sizeof *log);
    tg_status status;
    if (log == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    log->graph = graph;
    tg_log_facts_init(&log->facts, &graph->layout->orchestration);
    log->logs = (edges ? 1u << TG_LOG_EDGES : 0) | (scope_stats ? 1u << TG_LOG_SCOPES : 0);
    status = start(log, scope_stats, error);
    if (status != TG_OK) {
        tg_device_log_destroy(log);
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
    return (x->kind < y->kind) - (x->kind > y->kind); /* explicit edges last: others say more */
}

/* Sorts edges by task and keeps one edge for each pair of tasks. */
static void sort_edges(struct tg_device_log *log)
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

/* Takes the samples of a record that the device was still filling when it died. If the device
 * stages its records elsewhere, the slot holds an old record; its sequence number shows that. */
static void salvage_scopes(struct tg_device_log *log, const struct tg_stream_head *head)
{
    const struct tg_stream_head *s = &log->area.stream;
    uint64_t current;
    bool whole = tg_word_open(head->current, &current);
    uint32_t buffer = tg_current_buffer(current), count = tg_current_count(current);
    struct tg_record record;
    uint64_t address = log->drain[TG_LOG_SCOPES].address + s->buffers +
                       ((uint64_t)buffer * s->per_buffer + count) * sizeof record;
    if (whole && buffer < s->n_buffers && count < s->per_buffer &&
        tg_device_copy_out(log->area.device, &record, address, sizeof record, NULL) == TG_OK &&
        record.sequence == log->drain[TG_LOG_SCOPES].sequence)
        take_scopes(log, &record);
}

/* Counts the samples that the device made, so that missing ones can be reported. */
static void count_samples(struct tg_device_log *log)
{
    struct tg_stream_head head;
    if (tg_device_copy_out(log->area.device, &head, log->drain[TG_LOG_SCOPES].address, sizeof head,
                           NULL) != TG_OK)
        return;
    if (log->samples < head.attempted)
        salvage_scopes(log, &head);
    log->attempted = head.attempted > log->samples ? head.attempted : log->samples;
}

void tg_device_log_stop(struct tg_device_log *log)
{
    struct tg_stream_head head;
    if (!log->pump.started)
        return;
    tg_pump_stop(&log->pump);
    if (tg_device_copy_out(log->area.device, &head, log->drain[TG_LOG_EDGES].address, sizeof head,
                           NULL) == TG_OK)
        log->lost += head.lost_gave_up;
    if (log->scopes != NULL)
        count_samples(log);
    learn_sites(log);
    sort_edges(log);
    (void)point_to(log->graph, 0, 0, NULL);
}

/* Says which scopes of the stats have no name. */
static void say_unnamed(const struct tg_device_log *log, struct tg_scope_result *result)
{
    uint32_t missing = tg_site_names_missing(&log->sites);
    if (log->no_memory)
        snprintf(result->text, sizeof result->text,
                 "out of host memory: source lines are shown by their numbers");
    else if (missing > 0)
        snprintf(result->text, sizeof result->text,
                 "%u of the orchestration's source lines have a number instead of a name, because "
                 "the device has room for the names of %d%s",
                 (unsigned)missing, TG_MAX_SITES,
                 log->sites.others ? "; lines after these are counted together as (other sites)"
                                   : "");
}

void tg_device_log_finish_scopes(struct tg_device_log *log, const struct tg_scope_fatal *fatal,
                                 struct tg_scope_result *result)
{
    struct tg_error error = {TG_OK, ""};
    if (log->scopes == NULL)
        return;
    result->on = true;
    result->samples = log->attempted;
    result->dropped = log->attempted - log->samples;
    result->status =
        tg_scope_writer_finish(log->scopes, result->dropped, log->attempted, fatal, &error);
    if (result->status != TG_OK)
        tg_text_add(result->text, sizeof result->text, error.text);
    else
        say_unnamed(log, result);
    tg_scope_writer_destroy(log->scopes);
    log->scopes = NULL;
}

uint64_t tg_device_log_pulse(const struct tg_device_log *log)
{
    return tg_record_area_pulse(&log->area);
}

bool tg_device_log_has_edges(const struct tg_device_log *log)
{
    return log->logs >> TG_LOG_EDGES & 1;
}

void tg_device_log_destroy(struct tg_device_log *log)
{
    if (log == NULL)
        return;
    tg_device_log_stop(log);
    tg_scope_writer_destroy(log->scopes);
    tg_record_area_destroy(&log->area);
    free(log->task);
    free(log->edge);
    tg_log_facts_free(&log->facts);
    free(log->scope_site);
    tg_site_names_free(&log->sites);
    free(log);
}

/* ── results ───────────────────────────────────────────────────────────────────────────── */

const struct tg_logged_task *tg_device_log_tasks(const struct tg_device_log *log, uint64_t *count)
{
    *count = log->n_tasks;
    return log->task;
}

const struct tg_logged_edge *tg_device_log_edges(const struct tg_device_log *log, uint64_t *count)
{
    *count = log->n_edges;
    return log->edge;
}

const struct tg_log_facts *tg_device_log_facts(const struct tg_device_log *log)
{
    return &log->facts;
}

const char *tg_device_log_site(struct tg_device_log *log, uint32_t site)
{
    return tg_site_name(&log->sites, site, log->site_name);
}

uint64_t tg_device_log_lost(const struct tg_device_log *log)
{
    return log->lost;
}
