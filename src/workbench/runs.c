/* SPDX-License-Identifier: Apache-2.0 */
/* The request `runs`: what is served. */
#include <string.h>
#include <taskglass/text.h>
#include <taskglass/version.h>

#include "workbench/requests.h"

/* Writes null for what is not known. */
static void put_text(struct tg_json *json, const char *key, const char *text)
{
    tg_json_put_string(json, key, *text ? text : NULL);
}

static void put_count(struct tg_json *json, const char *key, bool is_known, uint64_t count)
{
    tg_json_key(json, key);
    if (is_known)
        tg_json_uint(json, count);
    else
        tg_json_null(json);
}

static void put_result(struct tg_json *json, const struct tg_runs_entry *run)
{
    tg_json_key(json, "seconds");
    if (run->seconds > 0)
        tg_json_real(json, run->seconds);
    else
        tg_json_null(json);
    tg_json_put_string(json, "state", tg_recording_state_name(run->state));
    tg_json_put_string(json, "status", run->has_status ? tg_status_name(run->status) : NULL);
    tg_json_key(json, "recorded");
    if (run->has_counts)
        tg_json_bool(json, run->recorded);
    else
        tg_json_null(json);
}

void tg_bench_put_row(struct tg_json *json, const struct tg_bench_row *row)
{
    const struct tg_runs_entry *run = &row->run;
    char path[1024];
    tg_json_begin_line_object(json);
    tg_json_put_string(json, "key", row->entry->key);
    tg_json_put_string(json, "name", run->name);
    tg_json_put_string(json, "path", tg_text_clean(run->path, path, sizeof path));
    put_text(json, "workload", run->workload);
    put_text(json, "case", run->case_name);
    put_text(json, "platform", run->platform);
    put_text(json, "runtime", run->runtime);
    tg_json_key(json, "began");
    tg_json_int(json, run->began);
    put_result(json, run);
    put_count(json, "tasks", run->has_counts, run->tasks);
    put_count(json, "finished", run->has_counts, run->finished);
    put_count(json, "records", run->has_counts && run->recorded, run->records);
    put_count(json, "lost", run->has_counts && run->recorded, run->lost);
    put_count(json, "bytes", row->is_counted, run->bytes);
    put_count(json, "ranks", row->ranks > 0, row->ranks);
    tg_json_end_object(json);
}

static void put_fixed(struct tg_json *json, const struct tg_workbench *bench)
{
    tg_json_key(json, "compare");
    if (bench->n_fixed == 2) {
        tg_json_begin_line_object(json);
        tg_json_put_string(json, "a", bench->fixed[0]->key);
        tg_json_put_string(json, "b", bench->fixed[1]->key);
        tg_json_end_object(json);
    } else {
        tg_json_null(json);
    }
    tg_json_put_string(json, "only", bench->n_fixed == 1 ? bench->fixed[0]->key : NULL);
}

tg_status tg_request_runs(struct tg_request_context *context, struct tg_error *error)
{
    struct tg_bench_list list = {0};
    struct tg_json *json = &context->answer->json;
    char root[1024];
    tg_status status = tg_ask_check_all_used(context->ask, error);
    if (status == TG_OK)
        status = tg_bench_list(context->bench, &list, error);
    if (status == TG_OK)
        status = tg_answer_json(context->answer, error);
    if (status == TG_OK) {
        tg_json_put_string(json, "version", TG_VERSION_STRING);
        tg_json_put_string(json, "root", tg_text_clean(context->bench->root, root, sizeof root));
        put_fixed(json, context->bench);
        tg_json_put_bool(json, "static", context->bench->is_static);
        tg_json_key(json, "runs");
        tg_json_begin_array(json);
        for (size_t i = 0; i < list.count; i++)
            tg_bench_put_row(json, &list.row[i]);
        tg_json_end_array(json);
        tg_json_put_uint(json, "unread", list.unread);
    }
    tg_bench_list_free(&list);
    return status;
}
