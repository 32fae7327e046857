/* SPDX-License-Identifier: Apache-2.0 */
#include "shake/outcome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/outputs.h>
#include <taskglass/recording.h>

#include "analysis/deps.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/names.h"

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "out of host memory for the results of a run");
}

/* --- the recording ------------------------------------------------------------------------------ */

/* When a task was first seen, which on one core is the order in which tasks ran. */
struct sight {
    uint64_t time;
    uint64_t index; /* in the journal */
    uint64_t task;
};

static int by_time(const void *a, const void *b)
{
    const struct sight *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int by_task(const void *a, const void *b)
{
    const struct tg_outcome_record *x = a, *y = b;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    return x->argument < y->argument ? -1 : x->argument > y->argument;
}

static bool is_of_task(const struct tg_record *record)
{
    return record->stage != TG_STAGE_ORCHESTRATION && record->task_id != TG_TASK_NONE;
}

static bool is_comparable(const struct tg_record *record)
{
    if (record->flags & TG_RECORD_PARTIAL)
        return false;
    return record->kind == TG_KIND_SCALAR || (record->flags & TG_RECORD_HASHED);
}

static bool read_records(const struct tg_recording *recording, struct tg_outcome *outcome)
{
    size_t room = 0;
    struct tg_entry entry;
    for (uint64_t i = 0; tg_recording_get(recording, i, &entry); i++) {
        const struct tg_record *record = &entry.record;
        if (!is_of_task(record) || !is_comparable(record))
            continue;
        if (!tg_grow(&outcome->record, &room, outcome->n_records + 1, sizeof *outcome->record))
            return false;
        outcome->record[outcome->n_records++] = (struct tg_outcome_record){
            .task = record->task_id,
            .hash = record->kind == TG_KIND_SCALAR ? record->value : record->hash,
            .stage = record->stage,
            .argument = record->arg_index,
        };
    }
    if (outcome->n_records > 0)
        qsort(outcome->record, outcome->n_records, sizeof *outcome->record, by_task);
    return true;
}

/* The order of starts from the times of records, where the device did not keep it. */
static bool order_by_times(const struct tg_recording *recording, struct tg_outcome *outcome)
{
    size_t room = 0;
    uint64_t n = 0;
    struct sight *sight = NULL;
    struct tg_entry entry;
    for (uint64_t i = 0; tg_recording_get(recording, i, &entry); i++) {
        if (!is_of_task(&entry.record))
            continue;
        if (!tg_grow(&sight, &room, n + 1, sizeof *sight)) {
            free(sight);
            return false;
        }
        sight[n++] = (struct sight){entry.record.time, i, entry.record.task_id};
    }
    if (n > 0)
        qsort(sight, n, sizeof *sight, by_time);
    outcome->start = malloc((n + 1) * sizeof *outcome->start);
    for (uint64_t i = 0; outcome->start && i < n; i++)
        if (i == 0 || sight[i].task != sight[i - 1].task)
            outcome->start[outcome->n_starts++] = sight[i].task;
    free(sight);
    return outcome->start != NULL;
}

/* --- the tasks ---------------------------------------------------------------------------------- */

static int by_task_id(const void *a, const void *b)
{
    uint64_t x = ((const struct tg_outcome_place *)a)->id;
    uint64_t y = ((const struct tg_outcome_place *)b)->id;
    return x < y ? -1 : x > y;
}

static bool sort_tasks(struct tg_outcome *outcome)
{
    uint32_t n = outcome->deps ? outcome->deps->n_tasks : 0;
    outcome->by_id = malloc(((size_t)n + 1) * sizeof *outcome->by_id);
    if (!outcome->by_id)
        return false;
    for (uint32_t i = 0; i < n; i++)
        outcome->by_id[i] = (struct tg_outcome_place){outcome->deps->task[i].id, i};
    if (n > 1)
        qsort(outcome->by_id, n, sizeof *outcome->by_id, by_task_id);
    return true;
}

uint32_t tg_outcome_find(const struct tg_outcome *outcome, uint64_t task)
{
    struct tg_outcome_place key = {task, 0};
    const struct tg_outcome_place *found = NULL;
    if (outcome->deps && outcome->by_id)
        found = bsearch(&key, outcome->by_id, outcome->deps->n_tasks, sizeof key, by_task_id);
    return found ? found->place : UINT32_MAX;
}

void tg_outcome_describe(const struct tg_outcome *outcome, uint64_t task,
                         struct tg_shake_task *text)
{
    uint32_t place = tg_outcome_find(outcome, task);
    memset(text, 0, sizeof *text);
    text->id = task;
    if (place == UINT32_MAX)
        return;
    const struct tg_deps_task *known = &outcome->deps->task[place];
    size_t used = 0;
    for (int i = 0; i < TG_PARTS && known->kernel[i] && used < sizeof text->kernel; i++)
        used += (size_t)snprintf(text->kernel + used, sizeof text->kernel - used, "%s%s",
                                 i ? "+" : "", known->kernel[i]);
    snprintf(text->line, sizeof text->line, "%s", *known->line ? known->line : known->scope);
}

bool tg_outcome_order(const struct tg_outcome *outcome, const struct tg_outcome *base,
                      uint32_t *order)
{
    uint32_t n = base->deps ? base->deps->n_tasks : 0, made = 0;
    uint8_t *placed = calloc((size_t)n + 1, 1);
    if (!placed)
        return false;
    for (uint64_t i = 0; i < outcome->n_starts; i++) {
        uint32_t place = tg_outcome_find(base, outcome->start[i]);
        if (place == UINT32_MAX || placed[place])
            continue;
        placed[place] = 1;
        order[made++] = place;
    }
    for (uint32_t t = 0; t < n; t++)
        if (!placed[t])
            order[made++] = t;
    free(placed);
    return true;
}

/* --- reading ------------------------------------------------------------------------------------ */

static bool read_outputs(const struct tg_execution *execution, struct tg_outcome *outcome)
{
    struct tg_execution_info info;
    struct tg_output output;
    size_t room = 0;
    tg_execution_get(execution, &info);
    for (uint32_t i = 0; tg_execution_output(execution, i, &output); i++) {
        if (!tg_grow(&outcome->output, &room, i + 1, sizeof *outcome->output))
            return false;
        struct tg_outcome_output *kept = &outcome->output[outcome->n_outputs++];
        *kept = (struct tg_outcome_output){.hash = tg_content_hash(output.bytes, output.size),
                                           .size = output.size,
                                           .is_golden = true};
        snprintf(kept->name, sizeof kept->name, "%s", output.name);
        for (uint32_t c = 0; c < info.n_outputs; c++)
            if (strcmp(info.outputs[c].name, output.name) == 0)
                kept->is_golden = info.outputs[c].mismatches == 0;
    }
    return true;
}

static bool keep_starts(const struct tg_schedule_result *schedule, struct tg_outcome *outcome)
{
    outcome->start = malloc((schedule->n_starts + 1) * sizeof *outcome->start);
    if (!outcome->start)
        return false;
    memcpy(outcome->start, schedule->starts, schedule->n_starts * sizeof *outcome->start);
    outcome->n_starts = schedule->n_starts;
    return true;
}

static tg_status read_recording(const struct tg_recording *recording,
                                const struct tg_execution_info *info, struct tg_outcome *outcome,
                                struct tg_error *error)
{
    struct tg_recording_info about;
    tg_status status = tg_deps_find(recording, &outcome->deps, error);
    if (status != TG_OK)
        return status;
    tg_recording_get_info(recording, &about);
    for (int i = 0; i < TG_LOSS_CAUSES; i++)
        outcome->lost += about.summary.lost[i];
    outcome->lost += about.damaged;
    bool has_starts = info->run.schedule.n_starts > 0 && info->run.schedule.starts;
    if (!read_records(recording, outcome) || !sort_tasks(outcome) ||
        !(has_starts ? keep_starts(&info->run.schedule, outcome)
                     : order_by_times(recording, outcome)))
        return no_memory(error);
    return tg_recording_check_files(recording, error);
}

tg_status tg_outcome_read(const struct tg_execution *execution, struct tg_outcome *outcome,
                          struct tg_error *error)
{
    struct tg_execution_info info;
    struct tg_recording *recording = NULL;
    memset(outcome, 0, sizeof *outcome);
    tg_execution_get(execution, &info);
    outcome->status = info.status;
    outcome->seconds = info.run.execute_seconds;
    tg_name_clean(info.error, strlen(info.error), outcome->text, sizeof outcome->text);
    outcome->case_name = strdup(info.case_name);
    if (!outcome->case_name || !read_outputs(execution, outcome))
        return no_memory(error);
    tg_status status = tg_recording_open(info.output_dir, &recording, error);
    if (status == TG_OK)
        status = read_recording(recording, &info, outcome, error);
    tg_recording_close(recording);
    return status;
}

void tg_outcome_clear(struct tg_outcome *outcome)
{
    tg_deps_free(outcome->deps);
    free(outcome->case_name);
    free(outcome->by_id);
    free(outcome->start);
    free(outcome->record);
    free(outcome->output);
    memset(outcome, 0, sizeof *outcome);
}
