/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the record that a request names. */
#include "workbench/shown.h"

#include <stdio.h>
#include <string.h>
#include <taskglass/dtype.h>
#include <taskglass/wire/stream.h>

#include "base/error.h"

/* Why nothing of a record can be shown, and what to do about it. */
static const char *reason_of(const struct tg_shown *shown)
{
    const struct tg_record *record = &shown->entry.record;
    const unsigned level = shown->run->info.level;
    if (record->flags & TG_RECORD_NO_VALUE)
        return "the recording does not have the value of this scalar";
    if (!tg_dtype_valid(record->dtype))
        return "the recording does not say of which type the elements are";
    if (record->flags & TG_RECORD_OVERWRITTEN)
        return "its values were overwritten before they could be written to the disk; record with --dump-policy block";
    if (record->flags & TG_RECORD_EXCESS)
        return "it is not read because other records have the same bytes or they are a hole of the file, and it is larger than 16 GiB";
    if (record->flags & TG_RECORD_TRUNCATED)
        return "its values were to be recorded, but nothing of them is in the file; record again with --dump-policy block";
    if (record->stage == TG_STAGE_ORCHESTRATION)
        return "the values of what the orchestration is given are not recorded with it; look at the records of the tasks that use it";
    if (level == TG_LEVEL_META || level == TG_LEVEL_HASH)
        return "its values were not recorded at this level; record with --dump-tensor full";
    return "its values were not recorded; record with --dump-tensor full, without a filter that leaves it out";
}

static void set_shape(struct tg_shown *shown)
{
    const struct tg_array *array = &shown->array;
    shown->ndim = array->ndim > 0 ? array->ndim : 1;
    shown->shape[0] = array->elements;
    for (int i = 0; i < array->ndim; i++)
        shown->shape[i] = array->shape[i];
}

tg_status tg_shown_take(struct tg_bench_run *run, struct tg_ask *ask, const char *name,
                        struct tg_shown *shown, struct tg_error *error)
{
    uint64_t used = 0;
    memset(shown, 0, sizeof *shown);
    shown->run = run;
    tg_status status = tg_ask_uint(ask, name, 0, INT64_MAX, UINT64_MAX, &shown->index, error);
    if (status == TG_OK)
        status = tg_bench_need_recording(run, error);
    if (status != TG_OK)
        return status;
    if (!tg_recording_get(run->recording, shown->index, &shown->entry))
        return tg_error_set(error, TG_NOT_FOUND, "there is no record %llu; the run has %llu",
                            (unsigned long long)shown->index,
                            (unsigned long long)run->info.records);
    tg_entry_allow(&run->info, &used, &shown->entry);
    shown->is_readable = tg_array_of(run->recording, &shown->entry, &shown->array);
    if (!shown->is_readable) {
        shown->array = (struct tg_array){0};
        (void)snprintf(shown->why, sizeof shown->why, "%s", reason_of(shown));
    }
    set_shape(shown);
    return TG_OK;
}

tg_status tg_shown_need(const struct tg_shown *shown, struct tg_error *error)
{
    return shown->is_readable
               ? TG_OK
               : tg_error_set(error, TG_UNSUPPORTED, "record %llu of '%s': %s",
                              (unsigned long long)shown->index, shown->run->key, shown->why);
}

tg_status tg_shown_take_readable(struct tg_bench_run *run, struct tg_ask *ask, const char *name,
                                 struct tg_shown *shown, struct tg_error *error)
{
    tg_status status = tg_shown_take(run, ask, name, shown, error);
    return status == TG_OK ? tg_shown_need(shown, error) : status;
}
