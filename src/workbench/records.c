/* SPDX-License-Identifier: Apache-2.0 */
/* The request `records`: records page by page, with the filters of `taskglass view`. */
#include "workbench/records.h"

#include <inttypes.h>
#include <stdio.h>
#include <taskglass/array.h>
#include <taskglass/dtype.h>
#include <taskglass/query.h>

#include "base/error.h"
#include "base/files.h"
#include "recording/reader.h"
#include "workbench/given.h"
#include "workbench/requests.h"
#include "workbench/tasks.h"

enum { MOST_RECORDS = 500, FEW_RECORDS = 100 };
/* Records that one request looks at; a filter that selects nothing goes on with the next request. */
#define MOST_LOOKS (UINT64_C(1) << 22)

/* --- one record ----------------------------------------------------------------------------- */

/* A number that a file may have made larger than readers of JSON are exact for. */
static void put_int(struct tg_json *json, int64_t number)
{
    const int64_t exact = INT64_C(1) << 53;
    if (number > exact || number < -exact)
        tg_json_quoted_int(json, number);
    else
        tg_json_int(json, number);
}

static void put_ints(struct tg_json *json, const char *key, const int64_t *number, int count)
{
    tg_json_key(json, key);
    tg_json_begin_line_array(json);
    for (int i = 0; i < count; i++)
        put_int(json, number[i]);
    tg_json_end_array(json);
}

void tg_bench_task_text(uint64_t id, char text[TG_BENCH_TASK_TEXT])
{
    if (id >> 32 == 0)
        (void)snprintf(text, TG_BENCH_TASK_TEXT, "%" PRIu64, id);
    else
        (void)snprintf(text, TG_BENCH_TASK_TEXT, "%" PRIu64 ":%" PRIu64, id >> 32, id & UINT32_MAX);
}

void tg_bench_put_task_id(struct tg_json *json, const char *key, uint64_t id)
{
    char text[TG_BENCH_TASK_TEXT];
    tg_bench_task_text(id, text);
    tg_json_put_string(json, key, id == TG_TASK_NONE ? NULL : text);
}

void tg_bench_put_kernel_names(struct tg_json *json, const struct tg_entry *entry)
{
    char number[16];
    for (int part = 0; part < TG_PARTS; part++)
        if (entry->kernel[part]) {
            (void)snprintf(number, sizeof number, "#%u", entry->record.kernel[part]);
            tg_json_string(json, *entry->kernel[part] ? entry->kernel[part] : number);
        }
}

static void put_kernels(struct tg_json *json, const struct tg_entry *entry)
{
    tg_json_key(json, "kernels");
    tg_json_begin_line_array(json);
    tg_bench_put_kernel_names(json, entry);
    tg_json_end_array(json);
}

static void put_flags(struct tg_json *json, unsigned flags)
{
    tg_json_put_bool(json, "truncated", flags & TG_RECORD_TRUNCATED);
    tg_json_put_bool(json, "overwritten", flags & TG_RECORD_OVERWRITTEN);
    tg_json_put_bool(json, "partial", flags & TG_RECORD_PARTIAL);
    tg_json_put_bool(json, "marked", flags & TG_RECORD_MARKED);
    tg_json_put_bool(json, "excess", flags & TG_RECORD_EXCESS);
}

/* Nanoseconds since the start of the timeline. */
static void put_time(struct tg_json *json, struct tg_bench_run *run, uint64_t time)
{
    const struct tg_bench_tasks *tasks;
    tg_json_key(json, "time_ns");
    if (time == 0 || time == TG_TIME_UNKNOWN || tg_bench_tasks_of(run, &tasks, NULL) != TG_OK ||
        tasks->source[0] != 'r')
        tg_json_null(json);
    else
        put_int(json, (int64_t)(time - tasks->start));
}

static void put_layout(struct tg_json *json, const struct tg_record *record)
{
    put_ints(json, "shape", record->shape, record->ndim);
    put_ints(json, "strides", record->strides, record->ndim);
    tg_json_key(json, "start_offset");
    put_int(json, record->start);
    tg_json_put_bool(json, "contiguous",
                     record->kind == TG_KIND_SCALAR || record->flags & TG_RECORD_CONTIGUOUS);
    tg_json_put_uint(json, "bytes", record->bytes);
    tg_json_put_uint(json, "stored", record->stored);
    tg_json_key(json, "hash");
    if (record->flags & TG_RECORD_HASHED)
        tg_json_hex(json, record->hash);
    else
        tg_json_null(json);
    tg_json_put_hex(json, "data_ptr", record->data_ptr);
    tg_json_put_uint(json, "core", record->core);
}

void tg_bench_put_record(struct tg_json *json, struct tg_bench_run *run, uint64_t index,
                         const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    struct tg_value_text value;
    char name[TG_BENCH_NAME];
    tg_json_put_uint(json, "index", index);
    tg_bench_put_task_id(json, "task", record->task_id);
    put_kernels(json, entry);
    tg_json_put_string(json, "stage", tg_stage_name(record->stage));
    tg_json_put_string(json, "role", tg_record_role_name(record->role));
    tg_json_put_uint(json, "arg", record->arg_index);
    tg_json_put_string(json, "kind", tg_kind_name(record->kind));
    tg_json_put_string(json, "dtype", tg_dtype_name(record->dtype));
    put_layout(json, record);
    put_time(json, run, record->time);
    put_flags(json, record->flags);
    tg_bench_name(run, record, name);
    tg_json_put_string(json, "name", name);
    if (record->kind == TG_KIND_SCALAR)
        tg_json_put_string(json, "value", tg_scalar_format(record, &value));
}

/* --- the request ---------------------------------------------------------------------------- */

static tg_status take_filters(struct tg_ask *ask, struct tg_query **query, struct tg_error *error)
{
    static const char *const options[] = {"task", "kernel", "stage", "role", "arg", "kind"};
    tg_status status = tg_query_create(query, error);
    for (size_t i = 0; status == TG_OK && i < sizeof options / sizeof options[0]; i++) {
        const char *text = tg_ask_text(ask, options[i]);
        if (text)
            status = tg_query_add(*query, options[i], text, error);
    }
    return status;
}

/* Which records to look at: those of one task, or all of the recording from `first` on. */
struct walk {
    uint64_t first;
    const uint32_t *record; /* of one task, in the order of the file; NULL: all */
    uint64_t count;
};

/* A query for one task needs its records alone. */
static tg_status begin_walk(struct tg_bench_run *run, const struct tg_query *query, uint64_t first,
                            struct walk *walk, struct tg_error *error)
{
    const struct tg_bench_tasks *tasks;
    uint64_t id, last, other;
    *walk = (struct walk){.first = first, .count = run->info.records};
    tg_status status = tg_bench_tasks_of(run, &tasks, error);
    if (status != TG_OK || !tg_query_get_range(query, "task", 0, &id, &last) || id != last ||
        tg_query_get_range(query, "task", 1, &other, &last) || id == TG_TASK_NONE)
        return status;
    const uint32_t task = tg_bench_task_find(tasks, id);
    walk->record = tasks->record;
    walk->count = 0;
    if (task != TG_BENCH_NONE) {
        walk->record = tasks->record + tasks->first_record[task];
        walk->count = tasks->first_record[task + 1] - tasks->first_record[task];
    }
    for (walk->first = 0; walk->first < walk->count && walk->record[walk->first] < first;)
        walk->first++;
    return TG_OK;
}

static bool looked_enough(const struct walk *walk, uint64_t at)
{
    return at - walk->first >= MOST_LOOKS;
}

/* Writes the selected records; *next is where to go on from, TG_NONE at the end. */
static void put_records(struct tg_json *json, struct tg_bench_run *run,
                        const struct tg_query *query, const struct walk *walk, uint64_t count,
                        uint64_t *next)
{
    struct tg_entry entry;
    uint64_t at = walk->first, used = 0;
    size_t released = 0;
    tg_json_key(json, "records");
    tg_json_begin_array(json);
    for (; count > 0 && at < walk->count && !looked_enough(walk, at); at++) {
        const uint64_t index = walk->record ? walk->record[at] : at;
        tg_recording_let_go(run->recording, at, &released);
        if (!tg_recording_get(run->recording, index, &entry) ||
            !tg_query_matches(query, index, &entry))
            continue;
        tg_entry_allow(&run->info, &used, &entry);
        tg_json_begin_line_object(json);
        tg_bench_put_record(json, run, index, &entry);
        tg_json_end_object(json);
        count--;
    }
    tg_json_end_array(json);
    *next = at >= walk->count ? TG_NONE : walk->record ? walk->record[at] : at;
}

static tg_status write(struct tg_request_context *context, const struct tg_query *query,
                       uint64_t first, uint64_t count, struct tg_error *error)
{
    struct tg_bench_run *run = context->run;
    struct tg_json *json = &context->answer->json;
    struct walk walk;
    uint64_t next = TG_NONE;
    first = first < run->info.records ? first : run->info.records;
    tg_status status = begin_walk(run, query, first, &walk, error);
    if (status == TG_OK)
        status = tg_answer_json(context->answer, error);
    if (status != TG_OK)
        return status;
    tg_json_put_uint(json, "total", run->info.records);
    put_records(json, run, query, &walk, count, &next);
    tg_json_key(json, "next");
    if (next == TG_NONE)
        tg_json_null(json);
    else
        tg_json_uint(json, next);
    return TG_OK;
}

tg_status tg_request_records(struct tg_request_context *context, struct tg_error *error)
{
    struct tg_query *query = NULL;
    uint64_t first = 0, count = 0;
    tg_status status = tg_bench_need_recording(context->run, error);
    if (status == TG_OK)
        status = tg_ask_uint(context->ask, "first", 0, TG_NONE - 1, 0, &first, error);
    if (status == TG_OK)
        status = tg_ask_uint(context->ask, "count", 1, MOST_RECORDS, FEW_RECORDS, &count, error);
    if (status == TG_OK)
        status = take_filters(context->ask, &query, error);
    if (status == TG_OK)
        status = tg_ask_check_all_used(context->ask, error);
    if (status == TG_OK)
        status = write(context, query, first, count, error);
    tg_query_destroy(query);
    return status;
}
