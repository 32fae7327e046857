/* SPDX-License-Identifier: Apache-2.0 */
/* Writes txt, npy and npz, record by record, for the records that have values. */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <taskglass/dtype.h>

#include "base/error.h"
#include "base/files.h"
#include "export/export.h"
#include "export/export_job.h"

struct writer {
    struct tg_export_job *job;
    struct tg_export_names *names;
    struct tg_export_file file; /* the file that all records go to */
    struct tg_npz *npz;
    tg_status (*write)(struct writer *writer, const struct tg_entry *entry,
                       const struct tg_array *array);
};

static tg_status make_name(struct writer *writer, const struct tg_entry *entry,
                           struct tg_export_name *name)
{
    if (tg_export_names_make(writer->names, writer->job->index, entry, name))
        return TG_OK;
    return tg_export_no_memory(writer->job->error);
}

static tg_status write_txt(struct writer *writer, const struct tg_entry *entry,
                           const struct tg_array *array)
{
    struct tg_export_job *job = writer->job;
    if (job->result.written > 0)
        fputc('\n', writer->file.file);
    return tg_export_txt(writer->file.file, job, entry, array);
}

static tg_status write_npz(struct writer *writer, const struct tg_entry *entry,
                           const struct tg_array *array)
{
    struct tg_export_name name;
    tg_status status = make_name(writer, entry, &name);
    if (status == TG_OK)
        status = tg_export_npz_add(writer->npz, name.text, array, writer->job->error);
    return status;
}

static tg_status write_only_npy(struct writer *writer, const struct tg_entry *entry,
                                const struct tg_array *array)
{
    (void)entry;
    return tg_export_npy(writer->file.file, array, writer->job, writer->job->error);
}

static tg_status write_file(struct writer *writer, const char *path, const struct tg_array *array)
{
    struct tg_export_file file;
    tg_status status = tg_export_file_open(writer->job, path, &file);
    if (status != TG_OK)
        return status;
    status = tg_export_npy(file.file, array, writer->job, writer->job->error);
    return tg_export_file_close(writer->job, &file, status);
}

static tg_status write_npy_of_many(struct writer *writer, const struct tg_entry *entry,
                                   const struct tg_array *array)
{
    struct tg_export_name name;
    char file[sizeof name.text + 5];
    tg_status status = make_name(writer, entry, &name);
    if (status != TG_OK)
        return status;
    snprintf(file, sizeof file, "%s.npy", name.text);
    char *path = tg_path_join(writer->job->config->path, file);
    status = path ? write_file(writer, path, array) : tg_export_no_memory(writer->job->error);
    free(path);
    return status;
}

static bool lacks(const struct writer *writer, unsigned dtype)
{
    return writer->write != write_txt &&
           strcmp(tg_dtype_name((int)dtype), tg_export_type(dtype)) != 0;
}

static tg_status write_each(struct writer *writer)
{
    struct tg_export_job *job = writer->job;
    struct tg_entry entry;
    struct tg_array array;
    tg_status status = TG_OK;
    tg_export_walks(job, 1);
    tg_export_walk(job);
    while (status == TG_OK && tg_export_next(job, &entry)) {
        if (!tg_array_of(job->recording, &entry, &array)) {
            job->result.missing++;
            continue;
        }
        status = writer->write(writer, &entry, &array);
        job->result.truncated += array.cut;
        job->result.as_bits |= lacks(writer, array.dtype) ? 1u << array.dtype : 0;
        job->result.written += status == TG_OK;
    }
    return tg_export_end(job, status);
}

static tg_status write_to_one_file(struct writer *writer)
{
    struct tg_export_job *job = writer->job;
    tg_status status = tg_export_file_open(job, job->config->path, &writer->file);
    if (status != TG_OK)
        return status;
    if (writer->write == write_npz)
        status = tg_export_npz_begin(writer->file.file, job, &writer->npz, job->error);
    if (status == TG_OK)
        status = write_each(writer);
    if (status == TG_OK && writer->npz)
        status = tg_export_npz_end(writer->npz, job->error);
    tg_export_npz_free(writer->npz);
    return tg_export_file_close(job, &writer->file, status);
}

static tg_status write_to_folder(struct writer *writer)
{
    struct tg_export_job *job = writer->job;
    tg_status status = tg_export_folder_make(job, job->config->path);
    return status == TG_OK ? write_each(writer) : status;
}

int tg_export_count_values(const struct tg_export_job *job)
{
    struct tg_entry entry;
    struct tg_array array;
    uint64_t index = 0, limit = job->config->limit;
    int found = 0;
    for (uint64_t taken = 0; found < 2 && (limit == 0 || taken < limit); taken++, index++) {
        if (!tg_query_next(job->config->query, job->recording, &index, &entry))
            break;
        tg_export_take(job, &entry);
        found += tg_array_of(job->recording, &entry, &array);
    }
    return found;
}

tg_status tg_export_nothing(struct tg_error *error)
{
    return tg_error_set(error, TG_NOT_FOUND,
                        "nothing to export: no record is selected that has values");
}

static tg_status export_with(struct writer *writer, tg_status (*to)(struct writer *writer))
{
    writer->names = tg_export_names_create();
    if (!writer->names)
        return tg_export_no_memory(writer->job->error);
    tg_status status = to(writer);
    tg_export_names_destroy(writer->names);
    return status;
}

tg_status tg_export_as_txt(struct tg_export_job *job)
{
    struct writer writer = {.job = job, .write = write_txt};
    tg_status status = tg_export_begin_values(job);
    if (status != TG_OK)
        return status;
    if (tg_export_count_values(job) == 0)
        return tg_export_nothing(job->error);
    return export_with(&writer, write_to_one_file);
}

tg_status tg_export_as_npz(struct tg_export_job *job)
{
    struct writer writer = {.job = job, .write = write_npz};
    tg_status status = tg_export_begin_values(job);
    if (status != TG_OK)
        return status;
    if (tg_export_count_values(job) == 0)
        return tg_export_nothing(job->error);
    return export_with(&writer, write_to_one_file);
}

static bool is_npy_file(const char *path)
{
    size_t length = strlen(path);
    return strcmp(path, "-") == 0 || (length >= 4 && strcmp(path + length - 4, ".npy") == 0);
}

tg_status tg_export_as_npy(struct tg_export_job *job)
{
    struct writer writer = {.job = job, .write = write_npy_of_many};
    const char *path = job->config->path;
    tg_status status = tg_export_begin_values(job);
    if (status != TG_OK)
        return status;
    int few = tg_export_count_values(job);
    if (few == 0)
        return tg_export_nothing(job->error);
    if (!is_npy_file(path))
        return export_with(&writer, write_to_folder);
    if (few > 1)
        return tg_error_set(job->error, TG_BAD_ARGUMENT,
                            "'%s' would hold one record; name a directory for several", path);
    writer.write = write_only_npy;
    return export_with(&writer, write_to_one_file);
}
