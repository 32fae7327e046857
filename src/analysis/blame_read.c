/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an orchestration submits depends on the scalars that it was given and on the values that it
 * read back. If one of these differs, that explains other tasks, scalars and views, and no task is
 * accused of them. A value that differs is traced to the task that computed it.
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

/* A run that was given another scalar may submit anything else. Returns false if memory ran out. */
bool tg_blame_find_given(struct tg_blame *blame)
{
    const struct tg_match *match = &blame->diff->match;
    if (match->n_tasks == 0 || tg_blame_is_lone(blame, 0) ||
        blame->side[0].tasks->row[match->task[0].a].id != TG_TASK_NONE)
        return true;
    for (uint64_t i = 0; i < match->task[0].n_pairs; i++) {
        uint64_t pair = match->task[0].first_pair + i;
        if (!blame->diff->state[pair].is_scalar ||
            tg_diff_agreement(blame->diff, pair) != TG_DISAGREES)
            continue;
        if (!tg_blame_accuse(blame, TG_GUILT_SCALAR, 0, pair, TG_NONE))
            return false;
        blame->is_given_scalar = true;
    }
    return true;
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

/* True if the orchestration submitted another kernel in this place. */
static bool has_other_kernel(const struct tg_blame *blame, uint32_t task)
{
    uint32_t a = tg_blame_row(blame, task, 0), b = tg_blame_row(blame, task, 1);
    return a != TG_NO_ROW && b != TG_NO_ROW &&
           blame->side[0].tasks->row[a].kernel != blame->side[1].tasks->row[b].kernel;
}

bool tg_blame_follows_read(const struct tg_blame *blame, enum tg_guilt guilt, uint32_t task)
{
    bool is_submitted = guilt == TG_GUILT_SCALAR || guilt == TG_GUILT_VIEW ||
                        guilt == TG_GUILT_REWIRED || guilt == TG_GUILT_EXTRA ||
                        guilt == TG_GUILT_MISSING || has_other_kernel(blame, task);
    bool is_after = blame->read.task != TG_NO_ROW && !began_before(blame, task, 0) &&
                    !began_before(blame, task, 1);
    return is_submitted && (is_after || (blame->is_given_scalar && task != 0));
}
