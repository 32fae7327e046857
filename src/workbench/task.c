/* SPDX-License-Identifier: Apache-2.0 */
/* The request `task`: all that is known about one task. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/query.h>

#include "base/error.h"
#include "base/files.h"
#include "workbench/edges.h"
#include "workbench/records.h"
#include "workbench/requests.h"

enum { MOST_NEIGHBOURS = 200, MOST_RECORDS = 64 };

struct shown {
    struct tg_bench_run *run;
    const struct tg_bench_tasks *tasks;
    const struct tg_bench_edges *edges; /* NULL: not known */
    const char *edges_error;            /* why not; "" */
    uint64_t id;
    uint32_t task; /* its number, as in edges.h */
    uint32_t row;  /* in deps.json; TG_BENCH_NONE */
};

/* --- the task ------------------------------------------------------------------------------- */

/* Any notation of --task, but one id only. */
static tg_status parse_id(const char *text, uint64_t *id, struct tg_error *error)
{
    struct tg_query *query = NULL;
    uint64_t last = 0;
    tg_status status = tg_query_create(&query, error);
    if (status == TG_OK)
        status = tg_query_add(query, "task", text, error);
    if (status == TG_OK && (!tg_query_get_range(query, "task", 0, id, &last) || *id != last ||
                            tg_query_get_range(query, "task", 1, &last, &last)))
        status = tg_error_set(error, TG_BAD_ARGUMENT, "'%s' is not one task", text);
    tg_query_destroy(query);
    return status;
}

/* Its number: an index of the timeline, or behind those one of deps.json; TG_BENCH_NONE. */
static uint32_t find_task(const struct shown *shown)
{
    uint32_t task = tg_bench_task_find(shown->tasks, shown->id);
    const struct tg_bench_edges *edges = shown->edges;
    for (uint32_t i = 0; task == TG_BENCH_NONE && edges && i < edges->n_extra; i++)
        if (edges->extra_id[i] == shown->id)
            task = edges->known + i;
    return task;
}

static void put_time(struct tg_json *json, const char *key, double time)
{
    tg_json_key(json, key);
    if (isnan(time))
        tg_json_null(json);
    else
        tg_json_int(json, (int64_t)time);
}

/* --- times and kernels ---------------------------------------------------------------------- */

/* The first record of the task. */
static bool has_record(const struct shown *shown, struct tg_entry *entry)
{
    const struct tg_bench_tasks *tasks = shown->tasks;
    return shown->task < tasks->count &&
           tasks->first_record[shown->task] < tasks->first_record[shown->task + 1] &&
           tg_recording_get(shown->run->recording, tasks->record[tasks->first_record[shown->task]],
                            entry);
}

static void put_kernel_names(struct tg_json *json, const struct shown *shown)
{
    const struct tg_bench_tasks *tasks = shown->tasks;
    struct tg_entry entry;
    char number[TG_BENCH_KERNEL];
    uint32_t first = 0, end = 0;
    if (shown->task < tasks->count) {
        first = tasks->first_part[shown->task];
        end = tasks->first_part[shown->task + 1];
    }
    tg_json_key(json, "kernels");
    tg_json_begin_line_array(json);
    for (uint32_t i = first; i < end; i++)
        if (tasks->kernel[i] < tasks->names.n_kernels)
            tg_json_string(json, tg_bench_kernel_name(tasks, tasks->kernel[i], number));
    /* A task without times has records, or is in deps.json. */
    if (first == end && has_record(shown, &entry))
        tg_bench_put_kernel_names(json, &entry);
    else if (first == end && shown->row != TG_BENCH_NONE)
        tg_json_string(json, shown->edges->kernels.text[shown->edges->kernel[shown->row]]);
    tg_json_end_array(json);
}

/* From the first part's begin to the last one's end. */
static void put_times(struct tg_json *json, const struct shown *shown)
{
    const struct tg_bench_tasks *tasks = shown->tasks;
    double begin = NAN, end = NAN;
    uint32_t core = TG_BENCH_NONE;
    unsigned flags = 0;
    if (shown->task < tasks->count)
        for (uint32_t i = tasks->first_part[shown->task]; i < tasks->first_part[shown->task + 1];
             i++) {
            begin = fmin(begin, tg_bench_time_at(tasks, tasks->begin, i));
            end = fmax(end, tg_bench_time_at(tasks, tasks->end, i));
            if (core == TG_BENCH_NONE && tasks->core[i] < tasks->names.n_cores)
                core = tasks->names.core[tasks->core[i]].number;
            flags |= tasks->flags[i];
        }
    tg_json_key(json, "core");
    if (core == TG_BENCH_NONE)
        tg_json_null(json);
    else
        tg_json_uint(json, core);
    put_time(json, "begin_ns", begin);
    put_time(json, "end_ns", end);
    put_time(json, "submitted_ns",
             shown->row == TG_BENCH_NONE ? NAN : tg_bench_submitted_at(shown->edges, shown->row));
    tg_json_put_uint(json, "flags", flags);
}

/* --- neighbours ----------------------------------------------------------------------------- */

static const char *kind_name(unsigned kind)
{
#define KIND(constant, number, name, ...) (name),
    static const char *const words[] = {TG_EDGE_MAP(KIND)};
#undef KIND
    return kind < TG_EDGE_KINDS ? words[kind] : "";
}

static void put_neighbour(struct tg_json *json, const struct shown *shown, uint32_t task,
                          unsigned kind)
{
    const struct tg_bench_edges *edges = shown->edges;
    uint32_t row = edges->row_of[task];
    tg_json_begin_line_object(json);
    tg_bench_put_task_id(json, "id", tg_bench_edges_id(edges, shown->tasks, task));
    tg_json_put_string(json, "kernel",
                       row == TG_BENCH_NONE ? "" : edges->kernels.text[edges->kernel[row]]);
    tg_json_put_string(json, "kind", kind_name(kind));
    tg_json_end_object(json);
}

/* The tasks at the other end of the edges that have the task in `mine`. A pass over all edges takes milliseconds, so
 * there is no index of them. */
static void put_neighbours(struct tg_json *json, const struct shown *shown, const char *key,
                           const char *count_key, bool waits)
{
    const struct tg_bench_edges *edges = shown->edges;
    const uint32_t *mine = !edges ? NULL : waits ? edges->after : edges->before;
    const uint32_t *theirs = !edges ? NULL : waits ? edges->before : edges->after;
    uint64_t count = 0;
    tg_json_key(json, key);
    tg_json_begin_array(json);
    for (uint64_t i = 0; edges && i < edges->n_edges; i++)
        if (mine[i] == shown->task && count++ < MOST_NEIGHBOURS)
            put_neighbour(json, shown, theirs[i], edges->kind[i]);
    tg_json_end_array(json);
    tg_json_key(json, count_key);
    if (edges && shown->row != TG_BENCH_NONE)
        tg_json_uint(json, count);
    else
        tg_json_null(json);
}

static void put_graph(struct tg_json *json, const struct shown *shown)
{
    const struct tg_bench_edges *edges = shown->edges;
    const bool is_listed = shown->row != TG_BENCH_NONE;
    tg_json_put_string(json, "scope",
                       is_listed ? edges->scopes.text[edges->scope[shown->row]] : "");
    tg_json_put_string(json, "line", is_listed ? edges->lines.text[edges->line[shown->row]] : "");
    put_neighbours(json, shown, "waits_for", "n_waits_for", true);
    put_neighbours(json, shown, "waited_by", "n_waited_by", false);
    tg_json_put_string(json, "edges_error",
                       edges && !is_listed ? "deps.json does not list this task"
                                           : shown->edges_error);
}

/* --- records -------------------------------------------------------------------------------- */

struct place {
    uint32_t record, place;
};

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->record > y->record) - (x->record < y->record);
}

/* The task's records by stage and argument. A hostile file may give all records to one task, so only the first ones
 * are looked at. */
static void put_records(struct tg_json *json, const struct shown *shown)
{
    enum { LOOKS = 4096 };
    const struct tg_bench_tasks *tasks = shown->tasks;
    struct place *places = malloc(LOOKS * sizeof *places);
    struct tg_entry entry;
    uint64_t used = 0;
    size_t n = 0;
    if (shown->task < tasks->count && places)
        for (uint32_t i = tasks->first_record[shown->task];
             i < tasks->first_record[shown->task + 1] && n < LOOKS; i++)
            if (tg_recording_get(shown->run->recording, tasks->record[i], &entry))
                places[n++] = (struct place){tasks->record[i], (uint32_t)entry.record.stage << 8 |
                                                                   entry.record.arg_index};
    if (n > 1)
        qsort(places, n, sizeof *places, by_place);
    tg_json_key(json, "records");
    tg_json_begin_array(json);
    for (size_t i = 0; i < n && i < MOST_RECORDS; i++)
        if (tg_recording_get(shown->run->recording, places[i].record, &entry)) {
            tg_entry_allow(&shown->run->info, &used, &entry);
            tg_json_begin_line_object(json);
            tg_bench_put_record(json, shown->run, places[i].record, &entry);
            tg_json_end_object(json);
        }
    tg_json_end_array(json);
    free(places);
}

/* --- the request ---------------------------------------------------------------------------- */

static tg_status find(struct shown *shown, const char *text, struct tg_error *why,
                      struct tg_error *error)
{
    tg_status status = parse_id(text, &shown->id, error);
    if (status == TG_OK)
        status = tg_bench_tasks_of(shown->run, &shown->tasks, error);
    if (status != TG_OK)
        return status;
    status = tg_bench_edges_of(shown->run, &shown->edges, why);
    if (status != TG_OK && status != TG_UNSUPPORTED)
        return tg_error_set(error, status, "%s", why->text);
    shown->edges_error = why->text;
    shown->task = find_task(shown);
    if (shown->task == TG_BENCH_NONE)
        return tg_error_set(error, TG_NOT_FOUND, "the run has no task %s", text);
    shown->row = shown->edges ? shown->edges->row_of[shown->task] : TG_BENCH_NONE;
    return TG_OK;
}

tg_status tg_request_task(struct tg_request_context *context, struct tg_error *error)
{
    struct shown shown = {.run = context->run};
    struct tg_error why = {0};
    struct tg_json *json = &context->answer->json;
    const char *text = NULL;
    tg_status status = tg_ask_need(context->ask, "task", &text, error);
    if (status == TG_OK)
        status = tg_ask_check_all_used(context->ask, error);
    if (status == TG_OK)
        status = find(&shown, text, &why, error);
    if (status == TG_OK)
        status = tg_answer_json(context->answer, error);
    if (status != TG_OK)
        return status;
    tg_bench_put_task_id(json, "id", shown.id);
    tg_json_put_hex(json, "hex", shown.id);
    put_kernel_names(json, &shown);
    put_times(json, &shown);
    put_graph(json, &shown);
    put_records(json, &shown);
    return TG_OK;
}
