/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that the orchestration read back. What it submits afterwards depends on them: if a value
 * differs because the task that computed it does, that task explains other tasks, scalars and views.
 */
#include "analysis/blame.h"

static bool get_read(const struct tg_blame *blame, int side, uint64_t number,
                     struct tg_entry *entry)
{
    const struct tg_tasks *tasks = blame->side[side].tasks;
    return tg_recording_get(tasks->recording, tasks->read[number], entry);
}

/* The task of the match that a value came from; TG_NO_ROW. */
static uint32_t task_of(const struct tg_blame *blame, int side, const struct tg_entry *entry)
{
    const struct tg_blame_side *of = &blame->side[side];
    uint32_t row = tg_tasks_find(of->tasks, entry->record.task_id);
    return row == TG_NO_ROW || entry->record.task_id == TG_TASK_NONE ? TG_NO_ROW : of->task_of[row];
}

/* Finds the first value that differs. Later ones may follow from it. */
void tg_blame_find_read(struct tg_blame *blame)
{
    const struct tg_tasks *a = blame->side[0].tasks, *b = blame->side[1].tasks;
    struct tg_entry left, right;
    blame->read = (struct tg_blame_read){.task = TG_NO_ROW};
    for (uint64_t i = 0; i < a->n_reads && i < b->n_reads; i++) {
        if (!get_read(blame, 0, i, &left) || !get_read(blame, 1, i, &right))
            return;
        if (left.record.value == right.record.value && left.record.dtype == right.record.dtype)
            continue;
        uint32_t task = task_of(blame, 0, &left);
        bool is_theirs = task != TG_NO_ROW && task == task_of(blame, 1, &right) &&
                         blame->task[task].output == TG_DISAGREES;
        if (is_theirs)
            blame->read = (struct tg_blame_read){task, {left.record.time, right.record.time}};
        return;
    }
}

/* True if the task certainly began before the value was read. */
static bool began_before(const struct tg_blame *blame, uint32_t task, int side)
{
    uint32_t row = tg_blame_row(blame, task, side);
    const struct tg_tasks *tasks = blame->side[side].tasks;
    struct tg_entry entry;
    if (row == TG_NO_ROW || blame->read.time[side] == 0)
        return false;
    const struct tg_task_row *of = &tasks->row[row];
    for (uint64_t i = of->first; i < of->first + of->count; i++)
        if (tg_recording_get(tasks->recording, tasks->ref[i].index, &entry) &&
            entry.record.time != 0 && entry.record.time < blame->read.time[side])
            return true;
    return false;
}

bool tg_blame_follows_read(const struct tg_blame *blame, enum tg_guilt guilt, uint32_t task)
{
    bool is_submitted = guilt == TG_GUILT_SCALAR || guilt == TG_GUILT_VIEW ||
                        guilt == TG_GUILT_REWIRED || guilt == TG_GUILT_EXTRA ||
                        guilt == TG_GUILT_MISSING;
    return blame->read.task != TG_NO_ROW && is_submitted && !began_before(blame, task, 0) &&
           !began_before(blame, task, 1);
}
