/* SPDX-License-Identifier: Apache-2.0 */
/*
 *  u64 length │ {"__metadata__": {…}, "name": {"dtype": "F32", …}, …} filled up with spaces │ bytes
 *             └──────────────────────── length, a multiple of 8 ────────────────────────────┘
 *
 * Offsets count from the end of the head; the tensors' bytes follow each other without gaps.
 * Tensors with wide elements come first, so that every tensor begins at a multiple of its element's
 * size.
 *
 * The format has no 4-bit type that its readers agree on, so such tensors are stored as bytes with
 * two elements each, and their metadata say so. The metadata contain one text for each tensor,
 * under its name: JSON with what the recording knows about it.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/device.h>
#include <taskglass/dtype.h>
#include <taskglass/json.h>
#include <taskglass/tensor.h>

#include "base/error.h"
#include "base/files.h"
#include "base/grow.h"
#include "export/export.h"
#include "export/export_job.h"
#include "query/npy_type.h"

/* Readers refuse longer heads. A tensor takes at least LEAST_OF_HEAD bytes of one. */
enum { MOST_HEAD = 100000000, LEAST_OF_HEAD = 200, WIDTHS = 4 };

struct planned {
    uint64_t index;
    uint64_t size;
    struct tg_export_name name;
};

/* The tensors whose elements have the same width: 8, 4, 2 or 1 bytes. */
struct plan {
    struct planned *at;
    size_t count, room;
};

/* JSON that grows in memory. */
struct text {
    FILE *file;
    char *bytes; /* owned by the stream, like `room` */
    size_t room;
    size_t length; /* without the newline at its end */
    struct tg_json json;
};

struct safetensors {
    struct tg_export_job *job;
    struct plan plan[WIDTHS];
    struct tg_export_names *names;
    struct text head, note;
    uint64_t offset; /* of the next tensor, while the head is made */
    FILE *file;
};

/* The format's name for the type; NULL for a type that it does not have. */
static const char *word_of(unsigned dtype)
{
    /* clang-format off */
    static const char *const words[TG_DTYPE_END] = {
        [TG_FLOAT64] = "F64", [TG_FLOAT32] = "F32", [TG_FLOAT16] = "F16", [TG_BFLOAT16] = "BF16",
        [TG_FLOAT8_E4M3FN] = "F8_E4M3", [TG_FLOAT8_E5M2] = "F8_E5M2",
        [TG_FLOAT8_E8M0FNU] = "F8_E8M0",
        [TG_INT64] = "I64", [TG_INT32] = "I32", [TG_INT16] = "I16", [TG_INT8] = "I8",
        [TG_UINT64] = "U64", [TG_UINT32] = "U32", [TG_UINT16] = "U16", [TG_UINT8] = "U8",
        [TG_BOOL] = "BOOL",
    };
    /* clang-format on */
    return words[dtype];
}

static const char *type_of(unsigned dtype)
{
    const char *word = word_of(dtype);
    return word ? word : word_of(tg_npy_held_as(dtype));
}

static bool is_packed(unsigned dtype)
{
    return tg_bits_of(dtype) < 8;
}

static tg_status too_many(const struct safetensors *s)
{
    return tg_error_set(s->job->error, TG_BAD_ARGUMENT,
                        "there are more tensors than a safetensors file can name (its head is "
                        "limited to 100 MB); select fewer, or use npz");
}

/* --- what is written, and in which order ----------------------------------------------------- */

static struct plan *plan_for(struct safetensors *s, unsigned dtype)
{
    unsigned bits = tg_bits_of(dtype);
    return &s->plan[bits == 64 ? 0 : bits == 32 ? 1 : bits == 16 ? 2 : 3];
}

static struct planned *add_planned(struct plan *plan)
{
    if (!tg_grow(&plan->at, &plan->room, plan->count + 1, sizeof *plan->at))
        return NULL;
    return &plan->at[plan->count++];
}

static tg_status plan_one(struct safetensors *s, const struct tg_entry *entry,
                          const struct tg_array *array)
{
    struct tg_export_result *result = &s->job->result;
    struct planned *planned = add_planned(plan_for(s, array->dtype));
    if (!planned)
        return tg_export_no_memory(s->job->error);
    *planned = (struct planned){.index = s->job->index, .size = array->size};
    if (!tg_export_names_make(s->names, s->job->index, entry, &planned->name))
        return tg_export_no_memory(s->job->error);
    result->truncated += array->cut;
    result->as_bits |= word_of(array->dtype) ? 0 : 1u << array->dtype;
    result->written++;
    return result->written > MOST_HEAD / LEAST_OF_HEAD ? too_many(s) : TG_OK;
}

static tg_status make_plan(struct safetensors *s)
{
    struct tg_export_job *job = s->job;
    struct tg_entry entry;
    struct tg_array array;
    tg_status status = TG_OK;
    tg_export_walk(job);
    while (status == TG_OK && tg_export_next(job, &entry)) {
        if (tg_array_of(job->recording, &entry, &array))
            status = plan_one(s, &entry, &array);
        else
            job->result.missing++;
    }
    return tg_export_end(job, status);
}

typedef tg_status (*each_fn)(struct safetensors *s, const struct planned *planned,
                             const struct tg_entry *entry, const struct tg_array *array);

static tg_status take_again(struct safetensors *s, const struct planned *planned, each_fn take)
{
    const struct tg_recording *recording = s->job->recording;
    struct tg_entry entry;
    struct tg_array array;
    bool is_there = tg_recording_get(recording, planned->index, &entry);
    if (is_there)
        tg_export_take(s->job, &entry);
    if (is_there && tg_array_of(recording, &entry, &array) && array.size == planned->size)
        return take(s, planned, &entry, &array);
    return tg_error_set(s->job->error, TG_BAD_ARGUMENT, "the recording changed during the export");
}

/* Calls `take` for every tensor, in the order of the file. */
static tg_status each(struct safetensors *s, each_fn take)
{
    tg_status status = TG_OK;
    for (int width = 0; width < WIDTHS; width++)
        for (size_t i = 0; status == TG_OK && i < s->plan[width].count; i++) {
            status = take_again(s, &s->plan[width].at[i], take);
            s->job->done++;
            if (status == TG_OK && !tg_export_tell(s->job))
                status = tg_export_end(s->job, TG_OK);
        }
    return status;
}

/* --- the head ------------------------------------------------------------------------------- */

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
    tg_json_key(json, "kernel");
    tg_json_begin_line_array(json);
    for (int part = 0; part < TG_PARTS; part++)
        if (entry->kernel[part])
            tg_json_string(json, entry->kernel[part]);
    tg_json_end_array(json);
}

static void put_note(struct tg_json *json, uint64_t index, const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    tg_json_begin_line_object(json);
    tg_json_put_uint(json, "index", index);
    tg_json_put_hex(json, "task", record->task_id);
    put_kernels(json, entry);
    tg_json_put_string(json, "stage", tg_stage_name(record->stage));
    tg_json_put_string(json, "role", tg_record_role_name(record->role));
    tg_json_put_string(json, "kind", tg_kind_name(record->kind));
    tg_json_put_uint(json, "arg", record->arg_index);
    tg_json_put_string(json, "dtype", tg_dtype_name(record->dtype));
    put_numbers(json, "shape", record->shape, record->ndim);
    if (record->flags & TG_RECORD_HASHED)
        tg_json_put_hex(json, "hash", record->hash);
    if (record->flags & TG_RECORD_TRUNCATED)
        tg_json_put_bool(json, "truncated", true);
    if (record->flags & TG_RECORD_PARTIAL)
        tg_json_put_bool(json, "partial", true);
    tg_json_end_object(json);
}

/* Ends the document. Returns false if memory ran out. */
static bool finish_text(struct text *text)
{
    if (tg_json_finish(&text->json) != TG_OK)
        return false;
    long size = ftell(text->file);
    if (size < 1)
        return false;
    text->length = (size_t)size - 1;
    text->bytes[text->length] = '\0';
    return true;
}

/* Writes JSON as a string inside JSON; all notes share one buffer. */
static tg_status add_note(struct safetensors *s, const struct planned *planned,
                          const struct tg_entry *entry, const struct tg_array *array)
{
    (void)array;
    rewind(s->note.file);
    tg_json_start(&s->note.json, s->note.file);
    put_note(&s->note.json, planned->index, entry);
    if (!finish_text(&s->note))
        return tg_export_no_memory(s->job->error);
    tg_json_put_string(&s->head.json, planned->name.text, s->note.bytes);
    return ftell(s->head.file) > MOST_HEAD ? too_many(s) : TG_OK;
}

static tg_status add_tensor(struct safetensors *s, const struct planned *planned,
                            const struct tg_entry *entry, const struct tg_array *array)
{
    struct tg_json *json = &s->head.json;
    int64_t packed[1] = {(int64_t)array->size};
    (void)entry;
    tg_json_key(json, planned->name.text);
    tg_json_begin_line_object(json);
    tg_json_put_string(json, "dtype", type_of(array->dtype));
    if (is_packed(array->dtype))
        put_numbers(json, "shape", packed, 1);
    else
        put_numbers(json, "shape", array->shape, array->ndim);
    tg_json_key(json, "data_offsets");
    tg_json_begin_line_array(json);
    tg_json_uint(json, s->offset);
    tg_json_uint(json, s->offset += array->size);
    tg_json_end_array(json);
    tg_json_end_object(json);
    return ftell(s->head.file) > MOST_HEAD ? too_many(s) : TG_OK;
}

static void put_metadata(struct safetensors *s)
{
    struct tg_json *json = &s->head.json;
    const struct tg_recording_info *info = &s->job->info;
    tg_json_put_string(json, "format", "taskglass");
    tg_json_put_string(json, "taskglass_version", tg_version());
    tg_json_put_string(json, "taskglass_run", info->run_dir);
}

static tg_status make_head(struct safetensors *s)
{
    struct tg_json *json = &s->head.json;
    tg_json_start(json, s->head.file);
    tg_json_begin_line_object(json);
    tg_json_key(json, "__metadata__");
    tg_json_begin_line_object(json);
    put_metadata(s);
    tg_status status = each(s, add_note);
    tg_json_end_object(json);
    if (status == TG_OK)
        status = each(s, add_tensor);
    tg_json_end_object(json);
    if (status != TG_OK)
        return status;
    return finish_text(&s->head) ? TG_OK : tg_export_no_memory(s->job->error);
}

/* --- the file ------------------------------------------------------------------------------- */

static tg_status write_head(const struct safetensors *s)
{
    static const char spaces[8] = "       ";
    size_t padding = (8 - s->head.length % 8) % 8;
    uint64_t length = s->head.length + padding;
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(length >> (8 * i));
    bool good = fwrite(bytes, 1, 8, s->file) == 8 &&
                fwrite(s->head.bytes, 1, s->head.length, s->file) == s->head.length &&
                fwrite(spaces, 1, padding, s->file) == padding;
    return good ? TG_OK : tg_export_failed(s->job, s->job->error);
}

static tg_status write_tensor(struct safetensors *s, const struct planned *planned,
                              const struct tg_entry *entry, const struct tg_array *array)
{
    (void)planned, (void)entry;
    if (tg_export_bytes(s->job, s->file, array->bytes, array->size))
        return TG_OK;
    return tg_export_failed(s->job, s->job->error);
}

static bool open_text(struct text *text)
{
    text->file = open_memstream(&text->bytes, &text->room);
    return text->file != NULL;
}

static void close_text(struct text *text)
{
    if (text->file)
        fclose(text->file);
    free(text->bytes);
}

static tg_status write_all(struct safetensors *s)
{
    s->names = tg_export_names_create();
    if (!s->names || !open_text(&s->head) || !open_text(&s->note))
        return tg_export_no_memory(s->job->error);
    tg_status status = make_plan(s);
    if (status == TG_OK)
        status = make_head(s);
    if (status == TG_OK)
        status = write_head(s);
    return status == TG_OK ? each(s, write_tensor) : status;
}

tg_status tg_export_as_safetensors(struct tg_export_job *job)
{
    struct safetensors s = {.job = job};
    struct tg_export_file file;
    tg_status status = tg_export_begin_values(job);
    if (status != TG_OK)
        return status;
    if (tg_export_count_values(job) == 0)
        return tg_export_nothing(job->error);
    status = tg_export_file_open(job, job->config->path, &file);
    if (status != TG_OK)
        return status;
    s.file = file.file;
    tg_export_walks(job, 4); /* plan, metadata, offsets, bytes */
    status = tg_export_file_close(job, &file, write_all(&s));
    close_text(&s.head);
    close_text(&s.note);
    tg_export_names_destroy(s.names);
    for (int width = 0; width < WIDTHS; width++)
        free(s.plan[width].at);
    return status;
}
