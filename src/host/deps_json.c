/* SPDX-License-Identifier: Apache-2.0 */
/* deps.json: one line per task, with the tasks it waited for. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <taskglass/json.h>

#include "base/error.h"
#include "host/device_log.h"
#include "host/execution.h"
#include "host/graph.h"
#include "host/output.h"
#include "recording/record.h"

/* Edges grouped by the task that waits: task i waits for before[first[i] .. first[i + 1]). */
struct waits {
    uint64_t *first;
    uint32_t *before;
};

static void free_waits(struct waits *waits)
{
    free(waits->first);
    free(waits->before);
}

/* A counting sort, because edges come in any order and there may be millions of them. */
static tg_status sort_edges(const struct tg_graph *graph, struct waits *waits,
                            struct tg_error *error)
{
    uint64_t n_edges, n_tasks = tg_graph_tasks(graph);
    const struct tg_edge *edge = tg_graph_edge_list(graph, &n_edges);
    waits->first = calloc(n_tasks + 2, sizeof *waits->first);
    waits->before = calloc(n_edges + 1, sizeof *waits->before);
    if (!waits->first || !waits->before)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory for deps.json");
    uint64_t *next = waits->first + 1; /* next[i]: task i's next free place, at last its end */
    for (uint64_t i = 0; i < n_edges; i++)
        next[edge[i].after + 1]++;
    for (uint64_t i = 1; i <= n_tasks; i++)
        next[i] += next[i - 1];
    for (uint64_t i = 0; i < n_edges; i++)
        waits->before[next[edge[i].after]++] = edge[i].before;
    return TG_OK;
}

static void put_kernels(struct tg_json *json, const struct tg_graph *graph, const uint32_t *kernel)
{
    tg_json_key(json, "func_id");
    tg_json_begin_line_array(json);
    for (int part = 0; part < TG_PARTS; part++)
        if (kernel[part] != TG_NO_KERNEL)
            tg_json_uint(json, kernel[part]);
    tg_json_end_array(json);
    tg_json_key(json, "kernel");
    tg_json_begin_line_array(json);
    for (int part = 0; part < TG_PARTS; part++)
        if (kernel[part] != TG_NO_KERNEL)
            tg_json_string(json, tg_graph_kernel_name(graph, kernel[part]));
    tg_json_end_array(json);
}

static void put_line(struct tg_json *json, const char *line)
{
    tg_json_key(json, "line");
    tg_json_string(json, line);
}

static void begin_task(struct tg_json *json, const struct tg_graph *graph, uint64_t id,
                       const uint32_t *kernel, const char *site)
{
    tg_json_begin_line_object(json);
    tg_json_key(json, "task_id");
    tg_json_hex(json, id);
    put_kernels(json, graph, kernel);
    tg_json_key(json, "scope");
    tg_json_string(json, site);
}

/* For a graph that the host built: the workload named every edge. */
static void put_built(struct tg_json *json, const struct tg_graph *graph, const struct waits *waits)
{
    for (uint64_t i = 0; i < tg_graph_tasks(graph); i++) {
        const struct tg_task_desc task = tg_graph_desc(graph, i);
        begin_task(json, graph, task.id, task.kernel, tg_graph_site(graph, i));
        if (tg_graph_line(graph, i)[0])
            put_line(json, tg_graph_line(graph, i));
        tg_json_key(json, "after");
        tg_json_begin_line_array(json);
        for (uint64_t k = waits->first[i]; k < waits->first[i + 1]; k++)
            tg_json_hex(json, waits->before[k]); /* a task's number is its id */
        tg_json_end_array(json);
        tg_json_key(json, "kind");
        tg_json_begin_line_array(json);
        for (uint64_t k = waits->first[i]; k < waits->first[i + 1]; k++)
            tg_json_string(json, tg_edge_name(TG_EDGE_EXPLICIT));
        tg_json_end_array(json);
        tg_json_end_object(json);
    }
}

/* What the orchestrator knew, as far as it is new. */
static void put_news(struct tg_json *json, const struct tg_log_walk *walk,
                     const struct tg_log_news *news)
{
    uint32_t rings = TG_RINGS;
    if (!news->rings && news->n_seen == 0)
        return;
    tg_json_key(json, "seen");
    tg_json_begin_line_object(json);
    while (rings > 0 && walk->done[rings - 1] == 0)
        rings--;
    if (news->rings) {
        tg_json_key(json, "rings");
        tg_json_begin_line_array(json);
        for (uint32_t r = 0; r < rings; r++)
            tg_json_uint(json, walk->done[r]);
        tg_json_end_array(json);
    }
    if (news->n_seen > 0) {
        tg_json_key(json, "tasks");
        tg_json_begin_line_array(json);
        for (size_t i = 0; i < news->n_seen; i++)
            tg_json_hex(json, news->seen[i].before);
        tg_json_end_array(json);
    }
    tg_json_end_object(json);
}

/* What the orchestrator knew before it submitted the task, if it is more than before the last one. */
static void put_seen(struct tg_json *json, struct tg_log_walk *walk, uint64_t task, uint64_t id)
{
    struct tg_log_news news;
    tg_log_walk_next(walk, task, id, &news);
    put_news(json, walk, &news);
}

/* Puts the tasks that one scope let go, and returns how many entries of the list they are. */
static size_t put_release(struct tg_json *json, struct tg_log_walk *walk, size_t first)
{
    const struct tg_log_facts *facts = walk->facts;
    const struct tg_logged_release *release = &facts->release[first];
    struct tg_log_news news;
    size_t count = 0;
    tg_log_walk_release(walk, release, &news);
    tg_json_begin_line_object(json);
    tg_json_put_uint(json, "at", release->task);
    tg_json_key(json, "tasks");
    tg_json_begin_line_array(json);
    for (; first + count < facts->n_releases && release[count].task == release->task &&
           release[count].n_done == release->n_done && release[count].n_seen == release->n_seen;
         count++)
        tg_json_hex(json, release[count].id);
    tg_json_end_array(json);
    put_news(json, walk, &news);
    tg_json_end_object(json);
    return count;
}

/* The tasks of scopes that held them back, and what the orchestrator knew when each scope ended. */
static void put_releases(struct tg_json *json, const struct tg_device_log *log)
{
    struct tg_log_walk walk = {.facts = tg_device_log_facts(log),
                               .lost = tg_device_log_lost(log) > 0};
    uint64_t n_tasks;
    const struct tg_logged_task *task = tg_device_log_tasks(log, &n_tasks);
    struct tg_log_news news;
    size_t next = 0;
    if (walk.facts->n_releases == 0)
        return;
    tg_json_key(json, "released");
    tg_json_begin_array(json);
    for (uint64_t i = 0; next < walk.facts->n_releases; i++) {
        while (next < walk.facts->n_releases &&
               (i >= n_tasks || walk.facts->release[next].task <= i))
            next += put_release(json, &walk, next);
        if (i < n_tasks)
            tg_log_walk_next(&walk, i, task[i].id, &news);
    }
    tg_json_end_array(json);
}

/* A graph that the host built owns all its memory until it ends, so it has no allocations to list. */
static void put_allocations(struct tg_json *json, const struct tg_graph *graph)
{
    const struct tg_log_facts *facts = graph->log ? tg_device_log_facts(graph->log) : NULL;
    tg_json_key(json, "allocations");
    tg_json_begin_array(json);
    for (size_t i = 0; facts && i < facts->n_pieces; i++) {
        const struct tg_logged_piece *piece = &facts->piece[i];
        tg_json_begin_line_object(json);
        tg_json_key(json, "address");
        tg_json_hex(json, piece->address);
        tg_json_put_uint(json, "bytes", piece->bytes);
        tg_json_put_uint(json, "ring", piece->ring);
        tg_json_put_uint(json, "given", piece->given);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

/* For a graph that the device built: tasks and edges come from its log. */
static void put_logged(struct tg_json *json, const struct tg_graph *graph)
{
    uint64_t n_tasks, n_edges, first = 0, end;
    const struct tg_logged_task *task = tg_device_log_tasks(graph->log, &n_tasks);
    const struct tg_logged_edge *edge = tg_device_log_edges(graph->log, &n_edges);
    struct tg_log_walk walk = {.facts = tg_device_log_facts(graph->log),
                               .lost = tg_device_log_lost(graph->log) > 0};
    for (uint64_t i = 0; i < n_tasks; i++, first = end) {
        for (end = first; end < n_edges && edge[end].task == i; end++)
            ;
        begin_task(json, graph, task[i].id, task[i].kernel,
                   tg_device_log_site(graph->log, task[i].site));
        if (task[i].line > 0)
            put_line(json, tg_device_log_site(graph->log, task[i].line - 1));
        tg_json_put_uint(json, "submitted", task[i].time);
        put_seen(json, &walk, i, task[i].id);
        tg_json_key(json, "after");
        tg_json_begin_line_array(json);
        for (uint64_t k = first; k < end; k++)
            tg_json_hex(json, edge[k].before);
        tg_json_end_array(json);
        tg_json_key(json, "kind");
        tg_json_begin_line_array(json);
        for (uint64_t k = first; k < end; k++)
            tg_json_string(json, tg_edge_name(edge[k].kind));
        tg_json_end_array(json);
        tg_json_end_object(json);
    }
}

struct document {
    const struct tg_execution *execution;
    const struct tg_graph *graph;
    struct waits waits;
};

static int write_document(FILE *file, void *context)
{
    const struct document *document = context;
    const struct tg_execution *e = document->execution;
    struct tg_json json;
    tg_json_start(&json, file);
    tg_json_begin_object(&json);
    tg_json_key(&json, "version");
    tg_json_string(&json, tg_version());
    tg_json_key(&json, "workload");
    tg_json_string(&json, e->workload);
    tg_json_key(&json, "case");
    tg_json_string(&json, e->case_name);
    tg_json_key(&json, "runtime");
    tg_json_string(&json, e->runtime);
    if (document->graph->log) {
        tg_json_key(&json, "lost");
        tg_json_uint(&json, tg_device_log_lost(document->graph->log));
    }
    tg_json_key(&json, "tasks");
    tg_json_begin_array(&json);
    if (document->graph->log)
        put_logged(&json, document->graph);
    else
        put_built(&json, document->graph, &document->waits);
    tg_json_end_array(&json);
    put_allocations(&json, document->graph);
    if (document->graph->log)
        put_releases(&json, document->graph->log);
    tg_json_end_object(&json);
    return tg_json_finish(&json) == TG_OK ? 0 : errno ? errno : EIO;
}

tg_status tg_deps_json_write(const struct tg_execution *execution, const struct tg_graph *graph,
                             struct tg_error *error)
{
    struct document document = {execution, graph, {NULL, NULL}};
    tg_status status = sort_edges(graph, &document.waits, error);
    if (status == TG_OK)
        status =
            tg_output_write(execution->output_dir, "deps.json", write_document, &document, error);
    free_waits(&document.waits);
    return status;
}
