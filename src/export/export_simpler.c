/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The format has no place for some of what we record. Kernel names, hashes, marks and times are left out,
 * because nothing in the format claims that they were never there. A record of a task that had not
 * finished is left out as well and counted, because its reader would take it for a finished one.
 */
#define _GNU_SOURCE 1
#include "export/export_simpler.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>
#include <taskglass/wire/stream.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "recording/record.h"

/* --- words and values --------------------------------------------------------------------------- */

void tg_simpler_put_dtype(struct tg_json *json, const char *key, unsigned dtype)
{
    char name[32];
    const char *ours = tg_dtype_valid((int)dtype) ? tg_dtype_name((int)dtype) : "unknown";
    size_t i = 0;
    for (; ours[i] && i + 1 < sizeof name; i++)
        name[i] = (char)toupper((unsigned char)ours[i]);
    name[i] = '\0';
    tg_json_put_string(json, key, name);
}

void tg_simpler_put_list(struct tg_json *json, const char *key, const int64_t *number, int count)
{
    tg_json_key(json, key);
    tg_json_begin_line_array(json);
    for (int i = 0; i < count; i++)
        tg_json_int(json, number[i]);
    tg_json_end_array(json);
}

tg_status tg_simpler_json_status(struct tg_json *json, struct tg_error *error)
{
    if (tg_json_finish(json) == TG_OK)
        return TG_OK;
    return tg_error_set(error, TG_IO_ERROR, "%s", strerror(errno ? errno : EIO));
}

/* Floats of 32 bits and more as numbers with a point; NaN is null, as the other implementation has it. */
static void put_float(struct tg_json *json, unsigned dtype, uint64_t bits)
{
    double value = tg_decode(dtype, bits);
    if (isnan(value))
        tg_json_null(json);
    else if (isinf(value))
        tg_json_string(json, value < 0 ? "-$Inf" : "$Inf");
    else if (dtype == TG_FLOAT32)
        tg_json_float(json, (float)value);
    else
        tg_json_real(json, value);
}

/* The other implementation has numbers for these types and for every other one the bits. */
static void put_value(struct tg_json *json, const struct tg_record *record)
{
    switch (record->dtype) {
    case TG_FLOAT32:
    case TG_FLOAT64:
        put_float(json, record->dtype, record->value);
        break;
    case TG_INT32:
    case TG_INT64:
        tg_json_int(json, tg_sign_extend(tg_bits_of(record->dtype), record->value));
        break;
    case TG_BOOL:
        tg_json_bool(json, record->value != 0);
        break;
    default:
        tg_json_uint(json, record->value);
        break;
    }
}

/* --- the manifest -------------------------------------------------------------------------------- */

struct writer {
    struct tg_export_job *job;
    struct tg_json json;
    FILE *payload; /* NULL: no record has a payload, and there is no file */
    uint64_t position;
};

static bool is_written(const struct tg_entry *entry)
{
    return !(entry->record.flags & TG_RECORD_PARTIAL);
}

static void put_who(struct tg_json *json, const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    tg_json_put_hex(json, "task_id", record->task_id);
    tg_json_key(json, "func_id");
    tg_json_begin_line_array(json);
    for (int part = 0; part < TG_PARTS; part++)
        if (record->kernel[part] != TG_NO_KERNEL)
            tg_json_uint(json, record->kernel[part]);
    tg_json_end_array(json);
    tg_json_put_uint(json, "arg_index", record->arg_index);
    tg_json_put_string(json, "role", tg_record_role_name(record->role));
    tg_json_put_string(json, "stage", tg_stage_name(record->stage));
    tg_json_put_string(json, "kind", tg_kind_name(record->kind));
    tg_simpler_put_dtype(json, "dtype", record->dtype);
}

/* A scalar whose value is unknown has no value; null would be NaN. */
static void put_entry(struct writer *writer, const struct tg_entry *entry)
{
    struct tg_json *json = &writer->json;
    const struct tg_record *record = &entry->record;
    bool is_scalar = record->kind == TG_KIND_SCALAR;
    tg_json_begin_line_object(json);
    put_who(json, entry);
    if (is_scalar && !(record->flags & TG_RECORD_NO_VALUE)) {
        tg_json_key(json, "value");
        put_value(json, record);
    }
    tg_json_put_bool(json, "is_contiguous", is_scalar || (record->flags & TG_RECORD_CONTIGUOUS));
    tg_simpler_put_list(json, "shape", record->shape, record->ndim);
    tg_simpler_put_list(json, "strides", record->strides, record->ndim);
    tg_json_key(json, "start_offset");
    tg_json_int(json, is_scalar ? 0 : record->start);
    tg_json_key(json, "numel");
    tg_json_int(json, tg_record_numel(record));
    tg_json_put_uint(json, "bin_offset", record->stored > 0 ? writer->position : 0);
    tg_json_put_uint(json, "bin_size", record->stored);
    tg_json_put_bool(json, "truncated", record->flags & TG_RECORD_TRUNCATED);
    tg_json_put_bool(json, "overwritten", record->flags & TG_RECORD_OVERWRITTEN);
    tg_json_end_object(json);
}

/* Its levels: 1 marked arguments, 2 everything, 3 everything, with payloads of marked arguments. */
static unsigned level_of(const struct writer *writer)
{
    switch (writer->job->info.level) {
    case TG_LEVEL_MARKED:
        return 1;
    case TG_LEVEL_FULL:
        return 2;
    case TG_LEVEL_OFF: /* unknown */
        return writer->payload ? 2 : 3;
    default:
        return 3;
    }
}

static uint64_t lost_records(const struct tg_record_summary *summary)
{
    uint64_t lost = 0;
    for (int cause = 0; cause < TG_LOSS_CAUSES; cause++)
        lost += cause == TG_LOSS_OVERWRITTEN ? 0 : summary->lost[cause];
    return lost;
}

static void put_head(struct writer *writer, const struct tg_record_summary *counted)
{
    struct tg_json *json = &writer->json;
    const struct tg_record_summary *said = &writer->job->info.summary;
    tg_json_put_string(json, "run_dir", "args_dump");
    tg_json_key(json, "bin_format");
    tg_json_begin_object(json);
    tg_json_put_string(json, "type", "logical_contiguous");
    tg_json_put_string(json, "byte_order", "little_endian");
    tg_json_end_object(json);
    tg_json_put_uint(json, "dump_args_level", level_of(writer));
    tg_json_put_uint(json, "total_args", counted->recorded);
    tg_json_put_uint(json, "before_dispatch", counted->before_dispatch);
    tg_json_put_uint(json, "after_completion", counted->after_completion);
    tg_json_put_uint(json, "input_args", counted->inputs + counted->scalars);
    tg_json_put_uint(json, "output_args", counted->outputs);
    tg_json_put_uint(json, "inout_args", counted->inouts);
    tg_json_put_uint(json, "truncated_args", counted->truncated);
    tg_json_put_uint(json, "dropped_records", lost_records(said));
    tg_json_put_uint(json, "dropped_overwrite",
                     counted->overwritten + said->lost[TG_LOSS_OVERWRITTEN]);
    tg_json_put_string(json, "bin_file", writer->payload ? "args.bin" : NULL);
}

static tg_status put_payload(struct writer *writer, const struct tg_entry *entry)
{
    const void *bytes = tg_recording_payload(writer->job->recording, entry);
    size_t size = (size_t)entry->record.stored;
    if (size == 0 || !bytes)
        return TG_OK;
    if (!tg_export_bytes(writer->job, writer->payload, bytes, size))
        return tg_export_failed(writer->job, writer->job->error);
    writer->position += size;
    return TG_OK;
}

static tg_status put_entries(struct writer *writer)
{
    struct tg_export_job *job = writer->job;
    struct tg_entry entry;
    tg_status status = TG_OK;
    tg_json_key(&writer->json, "args");
    tg_json_begin_array(&writer->json);
    tg_export_walk(job);
    while (status == TG_OK && tg_export_next(job, &entry)) {
        if (!is_written(&entry)) {
            job->result.missing++;
            continue;
        }
        put_entry(writer, &entry);
        status = put_payload(writer, &entry);
        job->result.truncated += (entry.record.flags & TG_RECORD_TRUNCATED) != 0;
        job->result.written++;
    }
    tg_json_end_array(&writer->json);
    return tg_export_end(job, status);
}

static tg_status put_manifest(struct writer *writer, FILE *file,
                              const struct tg_record_summary *counted)
{
    tg_json_start(&writer->json, file);
    tg_json_begin_object(&writer->json);
    put_head(writer, counted);
    tg_status status = put_entries(writer);
    tg_json_end_object(&writer->json);
    return status == TG_OK ? tg_simpler_json_status(&writer->json, writer->job->error) : status;
}

/* --- the folder ---------------------------------------------------------------------------------- */

/* Counts the records that are written. */
static bool count(struct tg_export_job *job, struct tg_record_summary *counted)
{
    struct tg_entry entry;
    bool has_payloads = false;
    *counted = (struct tg_record_summary){0};
    tg_export_walk(job);
    while (tg_export_next(job, &entry)) {
        if (!is_written(&entry))
            continue;
        tg_record_count(counted, &entry.record);
        has_payloads = has_payloads || entry.record.stored > 0;
    }
    return has_payloads;
}

/* The payload file is complete before the manifest that refers to it is. */
static tg_status write_records(struct tg_export_job *job, const char *manifest_path,
                               const char *payload_path)
{
    struct tg_export_file manifest, payload = {0};
    struct tg_record_summary counted;
    struct writer writer = {.job = job};
    bool has_payloads = count(job, &counted);
    tg_status status = tg_export_end(job, TG_OK);
    if (status == TG_OK && has_payloads)
        status = tg_export_file_open(job, payload_path, &payload);
    if (status != TG_OK)
        return status;
    writer.payload = payload.file;
    status = tg_export_file_open(job, manifest_path, &manifest);
    bool has_manifest = status == TG_OK;
    if (has_manifest)
        status = put_manifest(&writer, manifest.file, &counted);
    if (has_payloads)
        status = tg_export_file_close(job, &payload, status);
    return has_manifest ? tg_export_file_close(job, &manifest, status) : status;
}

struct paths {
    char *dump, *manifest, *payload, *deps;
};

static bool make_paths(const char *folder, struct paths *paths)
{
    paths->dump = tg_path_join(folder, "args_dump");
    paths->deps = tg_path_join(folder, "deps.json");
    paths->manifest = paths->dump ? tg_path_join(paths->dump, "args_dump.json") : NULL;
    paths->payload = paths->dump ? tg_path_join(paths->dump, "args.bin") : NULL;
    return paths->deps && paths->manifest && paths->payload;
}

static void free_paths(struct paths *paths)
{
    free(paths->dump);
    free(paths->manifest);
    free(paths->payload);
    free(paths->deps);
}

/* An export into the run itself would replace the deps.json that it reads. */
static tg_status check_folder(const struct tg_export_job *job)
{
    struct stat target, own;
    const char *path = job->config->path;
    char *run = strcmp(path, "-") == 0 ? NULL : tg_path_join(job->info.dir, "..");
    bool is_run =
        run && stat(path, &target) == 0 &&
        ((stat(run, &own) == 0 && own.st_dev == target.st_dev && own.st_ino == target.st_ino) ||
         (stat(job->info.dir, &own) == 0 && own.st_dev == target.st_dev &&
          own.st_ino == target.st_ino));
    free(run);
    if (strcmp(path, "-") == 0)
        return tg_error_set(job->error, TG_BAD_ARGUMENT,
                            "simpler is a folder, which standard output cannot hold; name one");
    if (is_run)
        return tg_error_set(job->error, TG_BAD_ARGUMENT,
                            "'%s' is the run itself; name another folder", path);
    return TG_OK;
}

static tg_status write_folder(struct tg_export_job *job, const struct paths *paths)
{
    bool has_deps;
    tg_status status = tg_export_folder_make(job, job->config->path);
    if (status == TG_OK)
        status = tg_export_folder_make(job, paths->dump);
    if (status == TG_OK)
        status = write_records(job, paths->manifest, paths->payload);
    return status == TG_OK ? tg_simpler_put_deps(job, paths->deps, &has_deps) : status;
}

tg_status tg_export_as_simpler(struct tg_export_job *job)
{
    struct paths paths = {0};
    tg_status status = check_folder(job);
    if (status == TG_OK)
        status = tg_export_begin_values(job);
    if (status != TG_OK)
        return status;
    tg_export_walks(job, 2);
    status = make_paths(job->config->path, &paths) ? write_folder(job, &paths)
                                                   : tg_export_no_memory(job->error);
    free_paths(&paths);
    return status;
}
