/* SPDX-License-Identifier: Apache-2.0 */
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

#include "recording/manifest.h"
#include "recording/record.h"

static void put_kernels(struct tg_out *out, const struct tg_entry *entry)
{
    const char *comma = "";
    tg_out_text(out, ", \"func_id\": [");
    for (int part = 0; part < TG_PARTS; part++)
        if (entry->record.kernel[part] != TG_NO_KERNEL) {
            tg_out_text(out, comma);
            tg_out_uint(out, entry->record.kernel[part]);
            comma = ", ";
        }
    comma = "";
    tg_out_text(out, "], \"kernel\": [");
    for (int part = 0; part < TG_PARTS; part++)
        if (entry->record.kernel[part] != TG_NO_KERNEL) {
            tg_out_text(out, comma);
            tg_out_string(out, entry->kernel[part] ? entry->kernel[part] : "");
            comma = ", ";
        }
    tg_out_text(out, "]");
}

static void put_list(struct tg_out *out, const char *key, const int64_t *value, unsigned n)
{
    tg_out_text(out, key);
    for (unsigned i = 0; i < n; i++) {
        if (i > 0)
            tg_out_text(out, ", ");
        tg_out_int(out, value[i]);
    }
    tg_out_text(out, "]");
}

/* 64-bit integers are strings: most readers of JSON have no integers beyond 2^53. */
static void put_integer(struct tg_out *out, unsigned dtype, uint64_t bits)
{
    unsigned size = tg_bits_of(dtype);
    const char *quote = size == 64 ? "\"" : "";
    tg_out_text(out, quote);
    if (tg_dtype_is_signed((int)dtype))
        tg_out_int(out, tg_sign_extend(size, bits));
    else
        tg_out_uint(out, bits);
    tg_out_text(out, quote);
}

static void put_value(struct tg_out *out, unsigned dtype, uint64_t bits)
{
    if (tg_bits_of(dtype) == 0)
        tg_out_text(out, "null");
    else if (dtype == TG_BOOL)
        tg_out_bool(out, bits != 0);
    else if (dtype == TG_FLOAT64)
        tg_out_double(out, tg_double_from_bits(bits));
    else if (tg_dtype_is_float((int)dtype))
        tg_out_float(out, (float)tg_decode(dtype, bits)); /* exact: none has more bits */
    else
        put_integer(out, dtype, bits);
}

static void put_scalar(struct tg_out *out, const struct tg_record *record)
{
    tg_out_text(out, ", \"value\": ");
    put_value(out, record->dtype, record->value);
    tg_out_text(out, ", \"raw\": ");
    tg_out_hex(out, record->value);
}

static void put_flag(struct tg_out *out, const char *key, const struct tg_record *record,
                     unsigned flag)
{
    tg_out_text(out, key);
    tg_out_bool(out, record->flags & flag);
}

static void put_who(struct tg_out *out, const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    tg_out_text(out, "{\"task_id\": ");
    tg_out_hex(out, record->task_id);
    put_kernels(out, entry);
    tg_out_text(out, ", \"arg_index\": ");
    tg_out_uint(out, record->arg_index);
    tg_out_text(out, ", \"role\": \"");
    tg_out_text(out, tg_record_role_name(record->role));
    tg_out_text(out, "\", \"stage\": \"");
    tg_out_text(out, tg_stage_name(record->stage));
    tg_out_text(out, record->kind == TG_KIND_SCALAR ? "\", \"kind\": \"scalar"
                                                    : "\", \"kind\": \"tensor");
    tg_out_text(out, "\", \"dtype\": \"");
    tg_out_text(out, tg_dtype_name(record->dtype));
    tg_out_text(out, "\"");
}

static void put_where(struct tg_out *out, const struct tg_record *record)
{
    if (record->kind == TG_KIND_SCALAR)
        tg_out_text(out, ", \"is_contiguous\": true");
    else
        put_flag(out, ", \"is_contiguous\": ", record, TG_RECORD_CONTIGUOUS);
    tg_out_text(out, ", \"ndims\": ");
    tg_out_uint(out, record->ndim);
    put_list(out, ", \"shape\": [", record->shape, record->ndim);
    put_list(out, ", \"strides\": [", record->strides, record->ndim);
    tg_out_text(out, ", \"start_offset\": ");
    tg_out_int(out, record->kind == TG_KIND_SCALAR ? 0 : record->start);
    tg_out_text(out, ", \"numel\": ");
    tg_out_int(out, tg_record_numel(record));
    tg_out_text(out, ", \"bin_offset\": ");
    tg_out_uint(out, record->position);
    tg_out_text(out, ", \"bin_size\": ");
    tg_out_uint(out, record->stored);
}

static void put_state(struct tg_out *out, const struct tg_record *record)
{
    put_flag(out, ", \"truncated\": ", record, TG_RECORD_TRUNCATED);
    put_flag(out, ", \"overwritten\": ", record, TG_RECORD_OVERWRITTEN);
    if (record->flags & TG_RECORD_PARTIAL)
        put_flag(out, ", \"partial\": ", record, TG_RECORD_PARTIAL);
    if (record->flags & TG_RECORD_MARKED)
        put_flag(out, ", \"marked\": ", record, TG_RECORD_MARKED);
    tg_out_text(out, ", \"hash\": ");
    if (record->flags & TG_RECORD_HASHED)
        tg_out_hex(out, record->hash);
    else
        tg_out_text(out, "null");
    tg_out_text(out, ", \"data_ptr\": ");
    tg_out_hex(out, record->data_ptr);
    tg_out_text(out, "}");
}

void tg_manifest_put_entry(struct tg_out *out, const struct tg_entry *entry)
{
    put_who(out, entry);
    if (entry->record.kind == TG_KIND_SCALAR)
        put_scalar(out, &entry->record);
    put_where(out, &entry->record);
    put_state(out, &entry->record);
}
