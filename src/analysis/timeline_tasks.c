/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "analysis/timeline_tasks.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/timeline_calls.h"
#include "base/error.h"
#include "base/files.h"
#include "base/grow.h"
#include "base/spread.h"
#include "recording/reader.h"

enum { FIRST_SLOTS = 1024 };

/* --- finding a task by its id -------------------------------------------------------------------- */

static size_t place_of(const struct tg_seen_tasks *seen, uint64_t id)
{
    size_t at = (size_t)tg_spread(id) & (seen->n_slots - 1);
    while (seen->slot[at] && seen->task[seen->slot[at] - 1].id != id)
        at = (at + 1) & (seen->n_slots - 1);
    return at;
}

static bool grow_slots(struct tg_seen_tasks *seen)
{
    if (2 * (seen->count + 1) <= seen->n_slots)
        return true;
    size_t n_slots = seen->n_slots > 0 ? 2 * seen->n_slots : FIRST_SLOTS;
    uint32_t *slot = seen->count < UINT32_MAX / 2 ? calloc(n_slots, sizeof *slot) : NULL;
    if (!slot)
        return false;
    free(seen->slot);
    seen->slot = slot;
    seen->n_slots = n_slots;
    for (size_t i = 0; i < seen->count; i++)
        slot[place_of(seen, seen->task[i].id)] = (uint32_t)i + 1;
    return true;
}

/* --- records ------------------------------------------------------------------------------------- */

/* The timeline's kernel; its number is not trusted, so the table is no larger than the recording. */
static bool find_kernel(struct tg_seen_tasks *seen, uint32_t number, const char *name,
                        uint32_t *index)
{
    *index = TG_TIMELINE_NONE;
    if (!name)
        return true;
    if (number < seen->n_kernels && seen->kernel[number] > 0) {
        *index = seen->kernel[number] - 1;
        return true;
    }
    *index = tg_timeline_add_kernel(seen->timeline, number,
                                    tg_journal_kernel_core(seen->recording, number), name);
    if (*index == TG_TIMELINE_NONE)
        return false;
    if (number >= TG_GROW_FIRST * 64)
        return true;
    if (!tg_grow(&seen->kernel, &seen->kernel_room, (size_t)number + 1, sizeof *seen->kernel))
        return false;
    for (; seen->n_kernels <= number; seen->n_kernels++)
        seen->kernel[seen->n_kernels] = 0;
    seen->kernel[number] = *index + 1;
    return true;
}

/* The task of record `index`; NULL if memory ran out. */
static struct tg_seen_task *see(struct tg_seen_tasks *seen, uint64_t index,
                                const struct tg_record *record)
{
    const char *kernel[TG_PARTS];
    /* Records of a task are near each other, so most of them need no search. */
    uint32_t *recent = &seen->recent[record->task_id % TG_SEEN_RECENT];
    if (*recent > 0 && seen->task[*recent - 1].id == record->task_id)
        return &seen->task[*recent - 1];
    if (!grow_slots(seen))
        return NULL;
    size_t at = place_of(seen, record->task_id);
    if (seen->slot[at]) {
        *recent = seen->slot[at];
        return &seen->task[*recent - 1];
    }
    if (!tg_grow(&seen->task, &seen->room, seen->count + 1, sizeof *seen->task))
        return NULL;
    struct tg_seen_task *task = &seen->task[seen->count];
    *task = (struct tg_seen_task){
        .id = record->task_id, .begin = TG_TIME_UNKNOWN, .end = TG_TIME_UNKNOWN};
    tg_recording_kernels(seen->recording, index, kernel);
    for (int part = 0; part < TG_PARTS; part++)
        if (!find_kernel(seen, record->kernel[part], kernel[part], &task->kernel[part]))
            return NULL;
    *recent = seen->slot[at] = (uint32_t)++seen->count;
    return task;
}

/* A time of 0 means that the file has no times. A stage that is none counts as the first, as everywhere. */
static void take_time(struct tg_seen_tasks *seen, struct tg_seen_task *task,
                      const struct tg_record *record)
{
    if (record->time == 0 || record->time == TG_TIME_UNKNOWN)
        return;
    seen->has_times = true;
    task->core = record->core;
    if (record->stage != TG_AFTER_COMPLETION) {
        if (record->time < task->begin)
            task->begin = record->time;
    } else if (record->flags & TG_RECORD_PARTIAL) {
        task->is_partial = true;
    } else if (task->end == TG_TIME_UNKNOWN || record->time > task->end) {
        task->end = record->time;
    }
}

static tg_status read_records(struct tg_seen_tasks *seen, struct tg_error *error)
{
    const struct tg_record *record;
    struct tg_record room;
    size_t released = 0;
    for (uint64_t i = 0; (record = tg_recording_at_(seen->recording, i, &room)); i++) {
        bool is_task = record->stage != TG_STAGE_ORCHESTRATION && record->task_id != TG_TASK_NONE;
        struct tg_seen_task *task = is_task ? see(seen, i, record) : NULL;
        if (is_task && !task)
            return tg_file_no_memory(error);
        if (is_task)
            take_time(seen, task, record);
        if (seen->of_record)
            seen->of_record[i] = is_task ? (uint32_t)(task - seen->task) : TG_TIMELINE_NONE;
        tg_recording_let_go(seen->recording, i, &released);
    }
    tg_recording_let_go(seen->recording, seen->recording->info.records, &released);
    return TG_OK;
}

tg_status tg_seen_tasks_read(const struct tg_recording *recording, struct tg_timeline *timeline,
                             bool wants_records, struct tg_seen_tasks *seen, struct tg_error *error)
{
    const uint64_t records = recording->info.records;
    *seen = (struct tg_seen_tasks){.recording = recording, .timeline = timeline};
    if (wants_records && records >= UINT32_MAX)
        return tg_error_set(error, TG_BAD_ARGUMENT, "the recording has more than 2^32 records");
    if (wants_records) {
        seen->of_record = malloc(((size_t)records + 1) * sizeof *seen->of_record);
        if (!seen->of_record)
            return tg_file_no_memory(error);
    }
    return read_records(seen, error);
}

void tg_seen_tasks_free(struct tg_seen_tasks *seen)
{
    free(seen->task);
    free(seen->of_record);
    free(seen->slot);
    free(seen->kernel);
    *seen = (struct tg_seen_tasks){0};
}

/* --- parts --------------------------------------------------------------------------------------- */

static uint32_t kind_of_lane(uint32_t lane)
{
    return lane % TG_PARTS == TG_PART_AIC ? TG_AIC : TG_AIV;
}

uint32_t tg_timeline_add_lane(struct tg_timeline *timeline, uint32_t lane)
{
    static const char *const parts[TG_PARTS] = {"AIC", "AIV0", "AIV1"};
    char name[64];
    (void)snprintf(name, sizeof name, "core %u (%s)", lane, parts[lane % TG_PARTS]);
    return tg_timeline_add_core(timeline, lane, kind_of_lane(lane), name);
}

/* The same for the lane of a part; most runs have few of them. */
static uint32_t core_of(struct tg_seen_tasks *seen, uint32_t lane)
{
    if (lane < TG_SEEN_LANES && seen->core[lane] > 0)
        return seen->core[lane] - 1;
    uint32_t core = tg_timeline_add_lane(seen->timeline, lane);
    if (lane < TG_SEEN_LANES && core != TG_TIMELINE_NONE)
        seen->core[lane] = core + 1;
    return core;
}

static bool has_ended(const struct tg_recording_info *info)
{
    return info->state == TG_RECORDING_FINISHED || info->state == TG_RECORDING_UNKNOWN;
}

static void set_times(const struct tg_seen_tasks *seen, const struct tg_seen_task *task,
                      struct tg_timeline_part *part)
{
    part->begin = task->begin;
    part->end = task->end;
    if (task->begin == TG_TIME_UNKNOWN) {
        part->begin = task->end;
        part->flags |= TG_TIMELINE_NO_BEGIN;
    }
    if (task->end != TG_TIME_UNKNOWN)
        return;
    /* A task of a run that ended well has ended, but left no record of it. */
    if (has_ended(&seen->recording->info) && !task->is_partial) {
        part->end = task->begin;
        part->flags |= TG_TIMELINE_NO_END;
    } else {
        part->flags |= TG_TIMELINE_PARTIAL;
    }
}

/* A call of communication keeps no core between its records: what a core did last is its part. */
static void end_call(const struct tg_seen_tasks *seen, struct tg_timeline_part *part)
{
    const uint8_t open = TG_TIMELINE_NO_BEGIN | TG_TIMELINE_NO_END | TG_TIMELINE_PARTIAL;
    uint32_t kind;
    if (part->kernel != TG_TIMELINE_NONE && !(part->flags & open) &&
        tg_is_call_name(seen->timeline->kernel[part->kernel].name, &kind))
        part->begin = part->end;
}

int tg_seen_task_parts(struct tg_seen_tasks *seen, const struct tg_seen_task *task,
                       struct tg_timeline_part part[TG_PARTS])
{
    uint32_t first = task->core - task->core % TG_PARTS;
    int kernels = 0, count = 0;
    if (task->begin == TG_TIME_UNKNOWN && task->end == TG_TIME_UNKNOWN)
        return 0;
    for (int i = 0; i < TG_PARTS; i++)
        kernels += task->kernel[i] != TG_TIMELINE_NONE;
    for (int i = 0; i < TG_PARTS; i++) {
        if (task->kernel[i] == TG_TIMELINE_NONE && !(kernels == 0 && i == 0))
            continue;
        struct tg_timeline_part *made = &part[count++];
        uint32_t lane =
            kernels > 1 && first <= UINT32_MAX - TG_PARTS ? first + (uint32_t)i : task->core;
        *made = tg_timeline_part_of(task->id);
        made->part = (uint8_t)i;
        made->kernel = task->kernel[i];
        made->core = core_of(seen, lane);
        set_times(seen, task, made);
        end_call(seen, made);
        if (made->core == TG_TIMELINE_NONE)
            return -1;
    }
    return count;
}
