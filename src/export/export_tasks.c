/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export_tasks.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/spread.h"

enum { FIRST_SLOTS = 1024 };

static size_t place_of(const struct tg_export_tasks *tasks, uint64_t id)
{
    size_t at = (size_t)tg_spread(id) & (tasks->n_slots - 1);
    while (tasks->slot[at] && tasks->at[tasks->slot[at] - 1].id != id)
        at = (at + 1) & (tasks->n_slots - 1);
    return at;
}

struct tg_export_task *tg_export_tasks_find(const struct tg_export_tasks *tasks, uint64_t id)
{
    if (tasks->n_slots == 0)
        return NULL;
    uint32_t number = tasks->slot[place_of(tasks, id)];
    return number > 0 ? &tasks->at[number - 1] : NULL;
}

/* At most half of the slots are taken. */
static bool make_slots(struct tg_export_tasks *tasks)
{
    if (2 * (tasks->count + 1) <= tasks->n_slots)
        return true;
    size_t n_slots = tasks->n_slots > 0 ? 2 * tasks->n_slots : FIRST_SLOTS;
    uint32_t *slot = calloc(n_slots, sizeof *slot);
    if (!slot || tasks->count >= UINT32_MAX - 1) {
        free(slot);
        return false;
    }
    free(tasks->slot);
    tasks->slot = slot;
    tasks->n_slots = n_slots;
    for (size_t i = 0; i < tasks->count; i++)
        slot[place_of(tasks, tasks->at[i].id)] = (uint32_t)i + 1;
    return true;
}

static struct tg_export_task *add_task(struct tg_export_tasks *tasks, uint64_t id, uint64_t index)
{
    if (!make_slots(tasks) ||
        !tg_grow(&tasks->at, &tasks->room, tasks->count + 1, sizeof *tasks->at))
        return NULL;
    tasks->at[tasks->count] = (struct tg_export_task){.id = id, .first = index};
    tasks->slot[place_of(tasks, id)] = (uint32_t)++tasks->count;
    return &tasks->at[tasks->count - 1];
}

/* A time of 0 means that the file has no times. */
static void take_time(struct tg_export_task *task, const struct tg_record *record)
{
    bool is_before = record->stage == TG_BEFORE_DISPATCH;
    uint64_t time = record->time;
    if (time == 0)
        return;
    if (!task->has_begin && !task->has_end)
        task->begin = task->end = time;
    if (is_before && (!task->has_begin || time < task->begin))
        task->begin = time;
    if (!is_before && (!task->has_end || time > task->end))
        task->end = time;
    task->has_begin |= is_before;
    task->has_end |= !is_before;
    /* The file is not trusted: it may say that a task ended before it began. */
    if (task->end < task->begin) {
        uint64_t earlier = task->end;
        task->end = task->begin;
        task->begin = earlier;
    }
    task->core = record->core;
}

static bool take(struct tg_export_job *job, struct tg_export_tasks *tasks, uint64_t index,
                 const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    struct tg_export_task *task = tg_export_tasks_find(tasks, record->task_id);
    if (!task && !(task = add_task(tasks, record->task_id, index)))
        return false;
    task->records++;
    task->is_partial |= (record->flags & TG_RECORD_PARTIAL) != 0;
    task->is_selected |= tg_query_matches(job->config->query, index, entry);
    take_time(task, record);
    return true;
}

tg_status tg_export_tasks_gather(struct tg_export_job *job, struct tg_export_tasks *tasks)
{
    struct tg_entry entry;
    *tasks = (struct tg_export_tasks){0};
    for (uint64_t i = 0; tg_query_next(NULL, job->recording, &i, &entry); i++) {
        if (entry.record.stage == TG_STAGE_ORCHESTRATION || entry.record.task_id == TG_TASK_NONE)
            continue;
        if (!take(job, tasks, i, &entry))
            return tg_export_no_memory(job->error);
        job->done++;
        if (i % 256 == 0 && !tg_export_tell(job))
            break;
    }
    return tg_export_end(job, TG_OK);
}

void tg_export_tasks_free(struct tg_export_tasks *tasks)
{
    free(tasks->at);
    free(tasks->slot);
    *tasks = (struct tg_export_tasks){0};
}
