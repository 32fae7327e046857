/* SPDX-License-Identifier: Apache-2.0 */
#include "host/task_records.h"
#include "base/error.h"
#include "host/recorded_task_check.h"
#include <stdlib.h>
#include <string.h>
#include <taskglass/comm.h>

static int by_task(const void *a, const void *b)
{
    const struct tg_task_record *x = a, *y = b;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Most recordings are nearly sorted, and sorting what is sorted takes longer than to see that. */
static void sort(struct tg_task_record *record, uint64_t count)
{
    bool sorted = true;
    for (uint64_t i = 1; i < count && sorted; i++)
        sorted = by_task(&record[i - 1], &record[i]) < 0;
    if (!sorted)
        qsort(record, count, sizeof *record, by_task);
}

static bool is_selected(const struct tg_recording *recording, const struct tg_query *query,
                        const struct tg_task_record *record, uint64_t count)
{
    struct tg_entry entry;
    if (tg_query_is_empty(query))
        return true;
    for (uint64_t i = 0; i < count; i++)
        if (tg_recording_get(recording, record[i].index, &entry) &&
            tg_query_matches(query, record[i].index, &entry))
            return true;
    return false;
}

/* Keeps the tasks that are selected, and counts them. */
static void select_tasks(const struct tg_recording *recording, const struct tg_query *query,
                         struct tg_task_records *records)
{
    struct tg_task_record *record = records->record;
    uint64_t kept = 0;
    for (uint64_t first = 0, end; first < records->count; first = end) {
        for (end = first + 1; end < records->count && record[end].task == record[first].task;)
            end++;
        if (!is_selected(recording, query, &record[first], end - first))
            continue;
        memmove(&record[kept], &record[first], (end - first) * sizeof *record);
        kept += end - first;
        records->tasks++;
    }
    records->count = kept;
}

tg_status tg_task_records_sort(const struct tg_recording *recording, const struct tg_query *query,
                               struct tg_task_records *records, struct tg_error *error)
{
    struct tg_recording_info info;
    struct tg_task_record *all;
    struct tg_entry entry;
    tg_recording_get_info(recording, &info);
    *records = (struct tg_task_records){NULL, 0, 0};
    all = calloc(info.records + 1, sizeof *all);
    if (all == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    for (uint64_t i = 0; i < info.records; i++)
        if (tg_recording_get(recording, i, &entry) && entry.record.task_id != TG_TASK_NONE)
            all[records->count++] =
                (struct tg_task_record){entry.record.task_id, i, entry.record.stored};
    sort(all, records->count);
    records->record = all;
    select_tasks(recording, query, records);
    return TG_OK;
}

const char *tg_entry_call(const struct tg_entry *entry)
{
    const char *call;
    for (int part = 0; part < TG_PARTS; part++)
        for (uint32_t i = 0; entry->kernel[part] && (call = tg_comm_kind_name(i)); i++)
            if (strcmp(entry->kernel[part], call) == 0)
                return call;
    return NULL;
}

uint64_t tg_task_records_drop_calls(const struct tg_recording *recording,
                                    struct tg_task_records *records)
{
    struct tg_task_record *record = records->record;
    struct tg_entry entry;
    uint64_t kept = 0, calls = 0;
    bool is_call = false;
    for (uint64_t i = 0; i < records->count; i++) {
        bool is_new = i == 0 || record[i].task != record[i - 1].task;
        if (is_new) {
            is_call = tg_recording_get(recording, record[i].index, &entry) &&
                      tg_entry_call(&entry) != NULL;
            calls += is_call;
        }
        if (!is_call)
            record[kept++] = record[i];
    }
    records->count = kept;
    records->tasks -= calls;
    return calls;
}

void tg_task_records_free(struct tg_task_records *records)
{
    free(records->record);
    records->record = NULL;
}

tg_status tg_task_records_read(const struct tg_recording *recording,
                               const struct tg_task_record *record, uint64_t count, uint64_t limit,
                               struct tg_recorded_task *task, struct tg_error *error)
{
    struct tg_task_reading reading;
    tg_status status = TG_OK;
    tg_task_reading_begin(&reading, recording, record->task, task);
    reading.limit = limit;
    for (uint64_t i = 0; i < count && status == TG_OK; i++)
        status = tg_task_reading_add(&reading, record[i].index, error);
    return status == TG_OK ? tg_task_reading_end(&reading, error) : status;
}
