/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <taskglass/array.h>
#include <taskglass/dtype.h>

#include "base/error.h"
#include "export/export_job.h"
#include "query/array_print.h"

static void put_numbers(FILE *file, const char *label, const int64_t *number, int count)
{
    fprintf(file, "%s[", label);
    for (int i = 0; i < count; i++)
        fprintf(file, "%s%" PRId64, i > 0 ? ", " : "", number[i]);
    fputc(']', file);
}

static void put_kernels(FILE *file, const struct tg_entry *entry)
{
    const char *separator = " kernel ";
    for (int part = 0; part < TG_PARTS; part++) {
        if (!entry->kernel[part])
            continue;
        if (*entry->kernel[part])
            fprintf(file, "%s%s", separator, entry->kernel[part]);
        else
            fprintf(file, "%s#%" PRIu32, separator, entry->record.kernel[part]);
        separator = "+";
    }
}

static void put_whose(FILE *file, uint64_t index, const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    fprintf(file, "# record %" PRIu64 ": task 0x%016" PRIx64, index, record->task_id);
    put_kernels(file, entry);
    fprintf(file, ", %s, %s %s, argument %u\n", tg_stage_name(record->stage),
            tg_record_role_name(record->role), tg_kind_name(record->kind), record->arg_index);
}

static void put_what(FILE *file, const struct tg_record *record, const struct tg_array *array)
{
    fprintf(file, "# %s", tg_dtype_name(record->dtype));
    if (record->kind == TG_KIND_TENSOR) {
        put_numbers(file, ", shape ", record->shape, record->ndim);
        put_numbers(file, ", strides ", record->strides, record->ndim);
        fprintf(file, ", start %" PRId64, record->start);
    }
    if (record->flags & TG_RECORD_HASHED)
        fprintf(file, ", hash 0x%016" PRIx64, record->hash);
    if (record->flags & TG_RECORD_PARTIAL)
        fprintf(file, ", partial: its task had not finished");
    fputc('\n', file);
    if (array->cut)
        fprintf(file, "# truncated: the first %" PRId64 " elements, in one dimension\n",
                array->elements);
}

tg_status tg_export_txt(FILE *file, struct tg_export_job *job, const struct tg_entry *entry,
                        const struct tg_array *array)
{
    static const struct tg_array_layout layout = {.width = 100, .most = INT64_MAX, .edge = 3};
    const struct tg_array_asked asked = {.goes_on = tg_export_goes_on, .context = job};
    put_whose(file, job->index, entry);
    put_what(file, &entry->record, array);
    if (!tg_array_print_asking(file, array, &layout, &asked))
        return tg_export_end(job, TG_OK);
    if (!ferror(file))
        return TG_OK;
    return tg_error_set(job->error, TG_IO_ERROR, "%s", strerror(errno));
}
