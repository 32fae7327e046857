/* SPDX-License-Identifier: Apache-2.0 */
/* The records of `taskglass view` as JSON, with the words of the manifest. */
#include <stdio.h>
#include <taskglass/analysis.h>
#include <taskglass/array.h>
#include <taskglass/dtype.h>
#include <taskglass/json.h>
#include <taskglass/numeric.h>

#include "cli/filters.h"
#include "cli/view.h"

enum { FIRST_VALUES = 1000 };

static void put_numbers(struct tg_json *json, const char *key, const int64_t *number, int count)
{
    tg_json_key(json, key);
    tg_json_begin_line_array(json);
    for (int i = 0; i < count; i++)
        tg_json_int(json, number[i]);
    tg_json_end_array(json);
}

static void put_kernels(struct tg_json *json, const struct tg_entry *entry)
{
    tg_json_key(json, "func_id");
    tg_json_begin_line_array(json);
    for (int part = 0; part < TG_PARTS; part++)
        if (entry->record.kernel[part] != TG_NO_KERNEL)
            tg_json_uint(json, entry->record.kernel[part]);
    tg_json_end_array(json);
    tg_json_key(json, "kernel");
    tg_json_begin_line_array(json);
    for (int part = 0; part < TG_PARTS; part++)
        if (entry->kernel[part])
            tg_json_string(json, entry->kernel[part]);
    tg_json_end_array(json);
}

static void put_who(struct tg_json *json, uint64_t index, const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    tg_json_put_uint(json, "index", index);
    tg_json_put_hex(json, "task_id", record->task_id);
    put_kernels(json, entry);
    tg_json_put_uint(json, "arg_index", record->arg_index);
    tg_json_put_string(json, "role", tg_record_role_name(record->role));
    tg_json_put_string(json, "stage", tg_stage_name(record->stage));
    tg_json_put_string(json, "kind", record->kind == TG_KIND_SCALAR ? "scalar" : "tensor");
    tg_json_put_string(json, "dtype", tg_dtype_name(record->dtype));
}

/* A scalar without a type has bits, but no value; one whose value is unknown has neither. */
static void put_scalar(struct tg_json *json, const struct tg_record *record)
{
    bool is_known = !(record->flags & TG_RECORD_NO_VALUE);
    tg_json_key(json, "value");
    tg_json_value(json, is_known ? record->dtype : TG_DTYPE_NONE, record->value);
    tg_json_key(json, "raw");
    if (is_known)
        tg_json_hex(json, record->value);
    else
        tg_json_null(json);
}

static void put_what(struct tg_json *json, const struct tg_record *record)
{
    bool is_scalar = record->kind == TG_KIND_SCALAR;
    if (is_scalar)
        put_scalar(json, record);
    tg_json_put_bool(json, "is_contiguous", is_scalar || (record->flags & TG_RECORD_CONTIGUOUS));
    put_numbers(json, "shape", record->shape, record->ndim);
    put_numbers(json, "strides", record->strides, record->ndim);
    tg_json_key(json, "start_offset");
    tg_json_int(json, record->start);
    tg_json_put_uint(json, "bytes", record->bytes);
    tg_json_put_uint(json, "bin_offset", record->position);
    tg_json_put_uint(json, "bin_size", record->stored);
    tg_json_put_bool(json, "truncated", record->flags & TG_RECORD_TRUNCATED);
    tg_json_put_bool(json, "overwritten", record->flags & TG_RECORD_OVERWRITTEN);
    tg_json_put_bool(json, "partial", record->flags & TG_RECORD_PARTIAL);
    tg_json_put_bool(json, "marked", record->flags & TG_RECORD_MARKED);
    if (record->flags & TG_RECORD_READ)
        tg_json_put_bool(json, "read", true);
    tg_json_key(json, "hash");
    if (record->flags & TG_RECORD_HASHED)
        tg_json_hex(json, record->hash);
    else
        tg_json_null(json);
    tg_json_put_hex(json, "data_ptr", record->data_ptr);
}

static void put_statistics(struct tg_json *json, const struct tg_array *array)
{
    struct tg_tensor_stats statistics;
    (void)tg_tensor_measure((int)array->dtype, array->bytes, array->elements, &statistics, NULL);
    tg_json_key(json, "statistics");
    tg_json_begin_line_object(json);
    tg_json_key(json, "min");
    tg_json_value(json, statistics.has_range ? array->dtype : TG_DTYPE_NONE, statistics.least);
    tg_json_key(json, "max");
    tg_json_value(json, statistics.has_range ? array->dtype : TG_DTYPE_NONE, statistics.most);
    tg_json_key(json, "mean");
    if (statistics.finite > 0)
        tg_json_real(json, statistics.mean);
    else
        tg_json_null(json);
    tg_json_put_uint(json, "nan", statistics.nan);
    tg_json_put_uint(json, "inf", statistics.infinite);
    tg_json_put_uint(json, "zero", statistics.zero);
    tg_json_end_object(json);
}

static void put_values(struct tg_json *json, const struct view *view, const struct tg_array *array)
{
    int64_t most = view->all || array->elements < FIRST_VALUES ? array->elements : FIRST_VALUES;
    tg_json_key(json, "values");
    tg_json_begin_line_array(json);
    for (int64_t i = 0; i < most; i++)
        tg_json_value(json, array->dtype, tg_load_bits(array->dtype, array->bytes, i));
    tg_json_end_array(json);
}

static void put_record(struct tg_json *json, const struct view *view, uint64_t index,
                       const struct tg_entry *entry)
{
    struct tg_array array;
    bool in_full = cli_query_has_index(view->query) && entry->record.kind == TG_KIND_TENSOR;
    if (in_full)
        tg_json_begin_object(json);
    else
        tg_json_begin_line_object(json);
    put_who(json, index, entry);
    put_what(json, &entry->record);
    if (in_full && tg_array_of(view->recording, entry, &array)) {
        put_statistics(json, &array);
        put_values(json, view, &array);
    }
    tg_json_end_object(json);
}

static void put_lost(struct tg_json *json, const struct tg_record_summary *summary)
{
    tg_json_key(json, "lost");
    tg_json_begin_line_object(json);
    for (unsigned i = 0; i < TG_LOSS_CAUSES; i++)
        tg_json_put_uint(json, tg_loss_name(i), summary->lost[i]);
    tg_json_end_object(json);
}

static void put_summary(struct tg_json *json, const struct view *view)
{
    struct view_counts counts;
    const struct tg_record_summary *summary = &counts.summary;
    view_count(view, &counts);
    tg_json_key(json, "summary");
    tg_json_begin_object(json);
    tg_json_put_uint(json, "records", summary->recorded);
    tg_json_put_uint(json, "before_dispatch", summary->before_dispatch);
    tg_json_put_uint(json, "after_completion", summary->after_completion);
    tg_json_put_uint(json, "orchestration", summary->orchestration);
    tg_json_put_uint(json, "inputs", summary->inputs);
    tg_json_put_uint(json, "outputs", summary->outputs);
    tg_json_put_uint(json, "inouts", summary->inouts);
    tg_json_put_uint(json, "scalars", summary->scalars);
    tg_json_put_uint(json, "payload_bytes", summary->payload_bytes);
    tg_json_put_uint(json, "truncated", summary->truncated);
    tg_json_put_uint(json, "overwritten", summary->overwritten);
    tg_json_put_uint(json, "cut_off", counts.cut_off);
    tg_json_put_uint(json, "damaged", counts.damaged);
    put_lost(json, summary);
    tg_json_end_object(json);
}

static void put_recording(struct tg_json *json, const struct tg_recording_info *info)
{
    char name[256];
    cli_recording_name(info, name, sizeof name);
    tg_json_key(json, "recording");
    tg_json_begin_object(json);
    tg_json_put_string(json, "run", name);
    tg_json_put_string(json, "dir", info->dir);
    tg_json_put_string(json, "journal", *info->journal ? info->journal : NULL);
    tg_json_put_string(json, "manifest", *info->manifest ? info->manifest : NULL);
    tg_json_put_string(json, "payload", *info->payload ? info->payload : NULL);
    tg_json_put_string(json, "level", info->level ? tg_level_name(info->level) : NULL);
    tg_json_put_bool(json, "complete", info->complete);
    tg_json_put_string(json, "state", tg_recording_state_name(info->state));
    tg_json_put_bool(json, "foreign", info->foreign);
    tg_json_put_uint(json, "records", info->records);
    tg_json_end_object(json);
}

int view_print_json(const struct view *view)
{
    struct tg_json json;
    struct tg_entry entry;
    uint64_t shown = 0, i = 0, used = 0;
    tg_json_start(&json, stdout);
    tg_json_begin_object(&json);
    put_recording(&json, &view->info);
    put_summary(&json, view);
    if (!view->summary) {
        tg_json_key(&json, "records");
        tg_json_begin_array(&json);
        for (; shown < view->limit.number; i++, shown++) {
            if (!tg_query_next(view->query, view->recording, &i, &entry))
                break;
            tg_entry_allow(&view->info, &used, &entry);
            put_record(&json, view, i, &entry);
        }
        tg_json_end_array(&json);
    }
    int code = cli_json_loss(&json, view->recording);
    tg_json_end_object(&json);
    (void)tg_json_finish(&json); /* main reports errors of stdout */
    return code;
}
