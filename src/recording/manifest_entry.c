/* SPDX-License-Identifier: Apache-2.0 */
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

#include "recording/manifest.h"
#include "recording/record.h"

static void put_kernels(struct tg_json *json, const struct tg_entry *entry)
{
    TG_JSON_KEY(json, "func_id");
    tg_json_begin_array(json);
    for (int part = 0; part < TG_PARTS; part++)
        if (entry->record.kernel[part] != TG_NO_KERNEL)
            tg_json_uint(json, entry->record.kernel[part]);
    tg_json_end_array(json);
    TG_JSON_KEY(json, "kernel");
    tg_json_begin_array(json);
    for (int part = 0; part < TG_PARTS; part++)
        if (entry->record.kernel[part] != TG_NO_KERNEL)
            tg_json_string(json, entry->kernel[part] ? entry->kernel[part] : "");
    tg_json_end_array(json);
}

static void put_list(struct tg_json *json, const int64_t *value, unsigned n)
{
    tg_json_begin_array(json);
    for (unsigned i = 0; i < n; i++)
        tg_json_int(json, value[i]);
    tg_json_end_array(json);
}

/* The text of a float shorter than float64 is the shortest one that a reader of float32 reads exactly;
 * "raw" has the bits. */
static void put_value(struct tg_json *json, unsigned dtype, uint64_t bits)
{
    if (dtype != TG_FLOAT64 && tg_dtype_is_float((int)dtype))
        tg_json_float(json, (float)tg_decode(dtype, bits)); /* exact: none has more bits */
    else
        tg_json_value(json, dtype, bits);
}

static void put_scalar(struct tg_json *json, const struct tg_record *record)
{
    bool is_known = !(record->flags & TG_RECORD_NO_VALUE);
    TG_JSON_KEY(json, "value");
    put_value(json, is_known ? record->dtype : TG_DTYPE_NONE, record->value);
    TG_JSON_KEY(json, "raw");
    if (is_known)
        tg_json_hex(json, record->value);
    else
        tg_json_null(json);
}

static void put_who(struct tg_json *json, const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    TG_JSON_KEY(json, "task_id");
    tg_json_hex(json, record->task_id);
    put_kernels(json, entry);
    TG_JSON_KEY(json, "arg_index");
    tg_json_uint(json, record->arg_index);
    TG_JSON_KEY(json, "role");
    tg_json_string(json, tg_record_role_name(record->role));
    TG_JSON_KEY(json, "stage");
    tg_json_string(json, tg_stage_name(record->stage));
    TG_JSON_KEY(json, "kind");
    tg_json_string(json, tg_kind_name(record->kind));
    TG_JSON_KEY(json, "dtype");
    tg_json_string(json, tg_dtype_name(record->dtype));
}

static void put_where(struct tg_json *json, const struct tg_record *record)
{
    bool is_scalar = record->kind == TG_KIND_SCALAR;
    TG_JSON_KEY(json, "is_contiguous");
    tg_json_bool(json, is_scalar || (record->flags & TG_RECORD_CONTIGUOUS));
    TG_JSON_KEY(json, "ndims");
    tg_json_uint(json, record->ndim);
    TG_JSON_KEY(json, "shape");
    put_list(json, record->shape, record->ndim);
    TG_JSON_KEY(json, "strides");
    put_list(json, record->strides, record->ndim);
    TG_JSON_KEY(json, "start_offset");
    tg_json_int(json, record->start);
    TG_JSON_KEY(json, "numel");
    tg_json_int(json, tg_record_numel(record));
    TG_JSON_KEY(json, "bin_offset");
    tg_json_uint(json, record->position);
    TG_JSON_KEY(json, "bin_size");
    tg_json_uint(json, record->stored);
}

static void put_state(struct tg_json *json, const struct tg_record *record)
{
    TG_JSON_KEY(json, "truncated");
    tg_json_bool(json, record->flags & TG_RECORD_TRUNCATED);
    TG_JSON_KEY(json, "overwritten");
    tg_json_bool(json, record->flags & TG_RECORD_OVERWRITTEN);
    if (record->flags & TG_RECORD_PARTIAL)
        tg_json_put_bool(json, "partial", true);
    if (record->flags & TG_RECORD_MARKED)
        tg_json_put_bool(json, "marked", true);
    if (record->flags & TG_RECORD_READ)
        tg_json_put_bool(json, "read", true);
    TG_JSON_KEY(json, "hash");
    if (record->flags & TG_RECORD_HASHED)
        tg_json_hex(json, record->hash);
    else
        tg_json_null(json);
    TG_JSON_KEY(json, "data_ptr");
    tg_json_hex(json, record->data_ptr);
}

/* Longer than any entry: three names of 255 bytes, each byte as \\u0000, are most of it. */
enum { LONGEST_ENTRY = 1 << 13 };

void tg_manifest_put_entry(struct tg_json *json, const struct tg_entry *entry, bool with_check)
{
    /* The text of the entry must be in the buffer as a whole: its check covers it. */
    if (json->room - json->used < LONGEST_ENTRY)
        tg_json_flush(json);
    tg_json_begin_line_object(json);
    size_t begin = json->used - 1; /* the brace */
    put_who(json, entry);
    if (entry->record.kind == TG_KIND_SCALAR)
        put_scalar(json, &entry->record);
    put_where(json, &entry->record);
    put_state(json, &entry->record);
    if (with_check)
        tg_json_put_hex(json, "check", tg_content_hash(json->buffer + begin, json->used - begin));
    tg_json_end_object(json);
}
