/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index as RFC 4180 defines it: a head line, lines that end in CR LF, and quotes around fields
 * that contain commas, semicolons, quotes or line ends. Columns have the names of the manifest's keys; lists
 * are numbers separated by blanks. A field that a record does not have is empty.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <taskglass/array.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

#include "base/error.h"
#include "export/export_job.h"

static const char head[] =
    "index,task_id,ring,task,func_id,kernel,stage,role,kind,arg_index,dtype,shape,strides,"
    "start_offset,is_contiguous,bytes,bin_offset,bin_size,truncated,overwritten,partial,marked,"
    "hash,data_ptr,value,raw,core,time_ns\r\n";

/* Spreadsheets take a field that begins with one of these for a formula, quoted or not, and one that
 * begins with an apostrophe for text. Only fields of text come here: -1.5 stays a number. */
static bool is_formula(const char *text)
{
    return *text && strchr("=+-@\t\r", *text);
}

static void put_text(FILE *file, const char *text)
{
    if (!is_formula(text) && !text[strcspn(text, ",;\"\t\r\n")]) {
        fputs(text, file);
        return;
    }
    fputs(is_formula(text) ? "\"'" : "\"", file);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

static void put_numbers(FILE *file, const int64_t *number, int count)
{
    for (int i = 0; i < count; i++)
        fprintf(file, "%s%" PRId64, i > 0 ? " " : "", number[i]);
    fputc(',', file);
}

static void put_kernels(FILE *file, const struct tg_entry *entry)
{
    char names[TG_PARTS * 260] = "";
    size_t at = 0;
    const char *blank = "";
    for (int part = 0; part < TG_PARTS; part++) {
        if (entry->record.kernel[part] == TG_NO_KERNEL)
            continue;
        fprintf(file, "%s%" PRIu32, blank, entry->record.kernel[part]);
        blank = " ";
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%.255s", at > 0 ? "+" : "",
                               entry->kernel[part] ? entry->kernel[part] : "");
    }
    fputc(',', file);
    put_text(file, names);
    fputc(',', file);
}

static void put_who(FILE *file, uint64_t index, const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    fprintf(file, "%" PRIu64 ",0x%016" PRIx64 ",", index, record->task_id);
    if (record->task_id == TG_TASK_NONE)
        fputs(",,", file);
    else
        fprintf(file, "%" PRIu64 ",%" PRIu64 ",", record->task_id >> 32,
                record->task_id & UINT32_MAX);
    put_kernels(file, entry);
    fprintf(file, "%s,%s,%s,%u,%s,", tg_stage_name(record->stage),
            tg_record_role_name(record->role), tg_kind_name(record->kind), record->arg_index,
            tg_dtype_valid(record->dtype) ? tg_dtype_name(record->dtype) : "");
}

static void put_flag(FILE *file, bool flag)
{
    fputs(flag ? "true," : "false,", file);
}

static void put_what(FILE *file, const struct tg_record *record)
{
    bool is_scalar = record->kind == TG_KIND_SCALAR;
    put_numbers(file, record->shape, record->ndim);
    put_numbers(file, record->strides, record->ndim);
    fprintf(file, "%" PRId64 ",", record->start);
    put_flag(file, is_scalar || (record->flags & TG_RECORD_CONTIGUOUS));
    fprintf(file, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", record->bytes, record->position,
            record->stored);
    put_flag(file, record->flags & TG_RECORD_TRUNCATED);
    put_flag(file, record->flags & TG_RECORD_OVERWRITTEN);
    put_flag(file, record->flags & TG_RECORD_PARTIAL);
    put_flag(file, record->flags & TG_RECORD_MARKED);
    if (record->flags & TG_RECORD_HASHED)
        fprintf(file, "0x%016" PRIx64, record->hash);
    fprintf(file, ",0x%016" PRIx64 ",", record->data_ptr);
}

/* As in JSON: a reader of doubles gets exactly the value of a float shorter than float32. */
static void format_exactly(const struct tg_record *record, struct tg_value_text *text)
{
    unsigned dtype = record->dtype;
    bool is_short = tg_dtype_is_float((int)dtype) && tg_bits_of(dtype) < 32;
    uint64_t bits =
        is_short ? tg_encode(TG_FLOAT64, tg_decode(dtype, record->value)) : record->value;
    tg_value_format(is_short ? TG_FLOAT64 : dtype, bits, text);
}

/* Always writes a decimal point, whatever the program's locale uses. */
static void put_value(FILE *file, const struct tg_record *record)
{
    struct tg_value_text text;
    if (record->kind == TG_KIND_SCALAR && !(record->flags & TG_RECORD_NO_VALUE)) {
        format_exactly(record, &text);
        char *comma = strchr(text.text, ',');
        if (comma)
            *comma = '.';
        fprintf(file, "%s,0x%016" PRIx64, text.text, record->value);
    } else {
        fputc(',', file);
    }
}

/* Only a journal has cores and times, and only for the records of tasks. */
static void put_when(FILE *file, const struct tg_export_job *job, const struct tg_record *record)
{
    if (job->info.from_journal && record->stage != TG_STAGE_ORCHESTRATION)
        fprintf(file, ",%" PRIu32 ",%" PRIu64 "\r\n", record->core, record->time);
    else
        fputs(",,\r\n", file);
}

static tg_status write_lines(struct tg_export_job *job, FILE *file)
{
    struct tg_entry entry;
    tg_export_walks(job, 1);
    tg_export_walk(job);
    fputs(head, file);
    while (!ferror(file) && tg_export_next(job, &entry)) {
        put_who(file, job->index, &entry);
        put_what(file, &entry.record);
        put_value(file, &entry.record);
        put_when(file, job, &entry.record);
        job->result.written++;
    }
    if (ferror(file))
        return tg_error_set(job->error, TG_IO_ERROR, "%s", strerror(errno));
    return tg_export_end(job, TG_OK);
}

tg_status tg_export_as_csv(struct tg_export_job *job)
{
    struct tg_export_file file;
    tg_status status = tg_export_file_open(job, job->config->path, &file);
    if (status != TG_OK)
        return status;
    return tg_export_file_close(job, &file, write_lines(job, file.file));
}
