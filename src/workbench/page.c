/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a page that needs no server: asks what the page will ask, and puts the answers into it. The requests must be
 * the texts that web/src makes, parameter by parameter; page_requests.c has them.
 *
 * The graph, the times and the records must fit. Values of tensors follow as long as there is room; the page says of
 * the others that it does not have them.
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <taskglass/array.h>

#include "base/error.h"
#include "base/files.h"
#include "workbench/bench.h"
#include "workbench/edges.h"
#include "workbench/page_file.h"
#include "workbench/page_requests.h"
#include "workbench/tasks.h"

enum { DEFAULT_MOST = 32 << 20, RECORDS_OF_PAGE = 100 };

struct writing {
    struct tg_workbench *bench;
    struct tg_bench_run *run;
    const struct tg_workbench_page_config *config;
    uint64_t most, done, total; /* steps, for `progress` */
    struct tg_page_file file;
    struct tg_workbench_page page;
};

/* --- one answer ----------------------------------------------------------------------------- */

static tg_status refuse(const struct writing *writing, struct tg_error *error)
{
    return tg_error_set(error, TG_BAD_ARGUMENT,
                        "the run '%s' is too large for a page of %llu MiB; open it with: taskglass "
                        "serve %s",
                        writing->run->key, (unsigned long long)(writing->most >> 20),
                        writing->run->path);
}

/* An answer that the page must have. */
static tg_status add(struct writing *writing, const char *request, struct tg_error *error)
{
    struct tg_workbench_answer answer;
    tg_status status = TG_OK;
    tg_workbench_ask(writing->bench, request, &answer);
    if (writing->file.bytes + tg_page_file_cost(request, &answer) > writing->most)
        status = refuse(writing, error);
    else if (answer.status >= 500)
        status = tg_error_set(error, TG_IO_ERROR, "cannot answer '%s': the files cannot be read",
                              request);
    else
        status = tg_page_file_add(&writing->file, request, &answer, error);
    tg_workbench_answer_free(&answer);
    return status;
}

static tg_status add_simple(struct writing *writing, const char *name, struct tg_error *error)
{
    char request[TG_PAGE_REQUEST];
    tg_page_request(request, name, writing->run->key, NULL);
    return add(writing, request, error);
}

static tg_status step(struct writing *writing, struct tg_error *error)
{
    const struct tg_workbench_page_config *config = writing->config;
    writing->done++;
    if (config->progress && config->progress(config->context, writing->done, writing->total) != 0)
        return tg_error_set(error, TG_CANCELLED, "the page was cancelled");
    return TG_OK;
}

/* --- what must fit -------------------------------------------------------------------------- */

static tg_status add_task(struct writing *writing, uint64_t id, struct tg_error *error)
{
    char request[TG_PAGE_REQUEST];
    tg_page_request_task(request, writing->run->key, id);
    tg_status status = add(writing, request, error);
    return status == TG_OK ? step(writing, error) : status;
}

/* Those of the timeline, and those that only deps.json has. */
static tg_status add_tasks(struct writing *writing, struct tg_error *error)
{
    const struct tg_bench_tasks *tasks;
    const struct tg_bench_edges *edges;
    tg_status status = tg_bench_tasks_of(writing->run, &tasks, error);
    if (status != TG_OK)
        return status;
    bool has_edges = tg_bench_edges_of(writing->run, &edges, NULL) == TG_OK;
    writing->total += tasks->count + (has_edges ? edges->n_extra : 0);
    for (uint32_t i = 0; status == TG_OK && i < tasks->count; i++)
        status = add_task(writing, tasks->id[i], error);
    for (uint32_t i = 0; status == TG_OK && has_edges && i < edges->n_extra; i++)
        status = add_task(writing, edges->extra_id[i], error);
    return status;
}

static tg_status add_records(struct writing *writing, struct tg_error *error)
{
    char request[TG_PAGE_REQUEST];
    const uint64_t records = writing->run->recording ? writing->run->info.records : 0;
    tg_status status = TG_OK;
    for (uint64_t first = 0; status == TG_OK && (first < records || first == 0);
         first += RECORDS_OF_PAGE) {
        tg_page_request_records(request, writing->run->key, first, RECORDS_OF_PAGE);
        status = add(writing, request, error);
    }
    for (uint64_t i = 0; status == TG_OK && i < records; i++) {
        tg_page_request_record(request, "tensor", writing->run->key, i, "");
        status = add(writing, request, error);
    }
    return status;
}

static tg_status add_facts(struct writing *writing, struct tg_error *error)
{
    static const char *const names[] = {"run", "timeline", "edges", "rings", "explain"};
    tg_status status = add(writing, "runs", error);
    for (size_t i = 0; status == TG_OK && i < sizeof names / sizeof names[0]; i++)
        status = add_simple(writing, names[i], error);
    if (status == TG_OK)
        status = add_tasks(writing, error);
    return status == TG_OK ? add_records(writing, error) : status;
}

/* --- values, as far as there is room -------------------------------------------------------- */

struct values {
    struct writing *writing;
    bool is_writing; /* else only their size is added up */
    uint64_t bytes, room;
};

/* Adds up or writes one answer. A return other than TG_OK ends the walk. */
static tg_status take_value(void *context, const char *request, struct tg_error *error)
{
    struct values *values = context;
    struct tg_workbench_answer answer;
    tg_status status = TG_OK;
    tg_workbench_ask(values->writing->bench, request, &answer);
    values->bytes += tg_page_file_cost(request, &answer);
    if (values->is_writing)
        status = tg_page_file_add(&values->writing->file, request, &answer, error);
    else if (values->bytes > values->room)
        status = TG_UNSUPPORTED;
    tg_workbench_answer_free(&answer);
    return status;
}

/* Of a large tensor it is clear beforehand that it does not fit: an element takes some 30 bytes. */
static bool may_fit(const struct writing *writing, const struct tg_array *array)
{
    enum { LEAST = 20 };
    const uint64_t room =
        writing->most > writing->file.bytes ? writing->most - writing->file.bytes : 0;
    return (uint64_t)array->elements <= room / LEAST;
}

static tg_status add_values_of(struct writing *writing, uint64_t record, bool is_tensor,
                               const struct tg_array *array, struct tg_error *error)
{
    struct values values = {
        .writing = writing,
        .room = writing->most > writing->file.bytes ? writing->most - writing->file.bytes : 0};
    tg_status status = TG_UNSUPPORTED;
    if (may_fit(writing, array))
        status = tg_page_walk_values(writing->run->key, record, array, take_value, &values, error);
    if (status == TG_UNSUPPORTED) {
        writing->page.left_out += is_tensor;
        return TG_OK;
    }
    values.is_writing = true;
    if (status == TG_OK)
        status = tg_page_walk_values(writing->run->key, record, array, take_value, &values, error);
    writing->page.tensors += is_tensor && status == TG_OK;
    return status;
}

static tg_status add_values(struct writing *writing, struct tg_error *error)
{
    struct tg_bench_run *run = writing->run;
    struct tg_entry entry;
    struct tg_array array;
    uint64_t used = 0;
    tg_status status = TG_OK;
    for (uint64_t i = 0; status == TG_OK && tg_recording_get(run->recording, i, &entry); i++) {
        tg_entry_allow(&run->info, &used, &entry);
        if (tg_array_of(run->recording, &entry, &array))
            status = add_values_of(writing, i, entry.record.kind == TG_KIND_TENSOR, &array, error);
        if (status == TG_OK)
            status = step(writing, error);
    }
    return status;
}

/* --- the whole ------------------------------------------------------------------------------ */

static tg_status write_all(struct writing *writing, const char *path, struct tg_error *error)
{
    const struct tg_workbench_page_config *config = writing->config;
    struct tg_error unread;
    writing->total = writing->run->recording ? writing->run->info.records : 0;
    tg_status status = tg_run_check_output(writing->run->folder, path, error);
    if (status == TG_OK)
        status = tg_page_file_open(path, config->overwrite, &writing->file, error);
    if (status != TG_OK)
        return status;
    status = add_facts(writing, error);
    if (status == TG_OK)
        status = add_values(writing, error);
    if (status == TG_OK && writing->run->recording)
        status = tg_recording_check_files(writing->run->recording, error);
    const bool keep = status == TG_OK;
    tg_status closed = tg_page_file_close(&writing->file, keep, keep ? error : &unread);
    writing->page.bytes = writing->file.bytes;
    return keep ? closed : status;
}

static tg_status write_run(struct tg_workbench *bench, const char *file,
                           const struct tg_workbench_page_config *config,
                           struct tg_workbench_page *page, struct tg_error *error)
{
    struct writing writing = {
        .bench = bench, .config = config, .most = config->most ? config->most : DEFAULT_MOST};
    if (bench->n_fixed != 1)
        return tg_error_set(error, TG_BAD_ARGUMENT, "'%s' is not a run", bench->root);
    bench->is_static = true;
    tg_status status = tg_bench_take(bench, bench->fixed[0]->key, &writing.run, error);
    if (status != TG_OK)
        return status;
    status = write_all(&writing, file, error);
    if (status == TG_OK && page)
        *page = writing.page;
    tg_bench_give_back(writing.run);
    return status;
}

tg_status tg_workbench_write_page(const char *run, const char *file,
                                  const struct tg_workbench_page_config *config,
                                  struct tg_workbench_page *page, struct tg_error *error)
{
    const struct tg_workbench_page_config usual = {0};
    struct tg_error unread;
    struct tg_workbench *bench;
    error = error ? error : &unread;
    TG_REFUSE_NULL(error, run);
    TG_REFUSE_NULL(error, file);
    tg_status status = tg_workbench_open(&(struct tg_workbench_config){.path = run}, &bench, error);
    if (status != TG_OK)
        return status;
    status = write_run(bench, file, config ? config : &usual, page, error);
    tg_workbench_close(bench);
    return status;
}
