/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that only one side ran. What such a task reads cannot be compared, but the tasks that wrote it
 * can. It is a suspect if a task that both sides have reads what it wrote, or if what it wrote is a
 * result of the run.
 */
#include <stdlib.h>

#include "analysis/blame.h"

static int side_of(const struct tg_blame *blame, uint32_t task)
{
    return tg_blame_row(blame, task, 0) == TG_NO_ROW ? 1 : 0;
}

/* --- where its inputs come from --------------------------------------------------------------- */

struct feeds {
    struct tg_blame *blame;
    uint32_t task;
    bool found;
};

static bool take_feed(void *context, uint32_t task, uint64_t pair, uint32_t event)
{
    struct feeds *feeds = context;
    (void)event;
    if (task != feeds->task &&
        (pair == TG_NONE || tg_diff_agreement(feeds->blame->diff, pair) == TG_DISAGREES)) {
        tg_blame_want(feeds->blame, task);
        feeds->found = true;
    }
    return true;
}

bool tg_blame_trace_lone(struct tg_blame *blame, uint32_t task)
{
    int side = side_of(blame, task);
    const struct tg_tasks *tasks = blame->side[side].tasks;
    const struct tg_task_row *row = &tasks->row[tg_blame_row(blame, task, side)];
    struct feeds feeds = {.blame = blame, .task = task};
    for (uint64_t i = row->first; i < row->first + row->count; i++)
        if (tg_record_ref_stage(&tasks->ref[i]) == TG_BEFORE_DISPATCH)
            tg_blame_writers(blame, side, tasks->ref[i].index, take_feed, &feeds);
    if (feeds.found)
        return true;
    /* If the other side may have run it, nothing is known but that it is not recorded there. */
    enum tg_guilt guilt = side == 0 ? TG_GUILT_EXTRA : TG_GUILT_MISSING;
    if (!tg_diff_has_all_tasks(blame->side[1 - side].tasks))
        guilt = TG_GUILT_UNCLEAR;
    return tg_blame_accuse(blame, guilt, task, TG_NONE, TG_NONE);
}

/* --- results ---------------------------------------------------------------------------------- */

/* Marks the tasks of which another task of their side reads something. */
static void mark_read(const struct tg_blame_side *side, bool *is_read)
{
    const struct tg_flow *flow = side->flow;
    for (uint32_t i = 0; i < flow->n_events; i++) {
        const struct tg_flow_event *event = &flow->event[i];
        for (uint32_t k = 0; k < event->n_writers && !event->is_write; k++) {
            uint32_t row = flow->event[flow->writer[event->first_writer + k]].row;
            if (row != event->row)
                is_read[side->task_of[row]] = true;
        }
    }
}

/* True if the task wrote to a tensor of the case what the other side did not write there. Where the
 * other side wrote something else, its task is not missing: the task of A is the one to look at. */
static bool leaves_a_result(struct tg_blame *blame, uint32_t task)
{
    int side = side_of(blame, task);
    const struct tg_tasks *tasks = blame->side[side].tasks;
    const struct tg_task_row *row = &tasks->row[tg_blame_row(blame, task, side)];
    struct tg_entry entry;
    for (uint64_t i = row->first; i < row->first + row->count; i++)
        if (tg_record_ref_stage(&tasks->ref[i]) == TG_AFTER_COMPLETION &&
            tg_recording_get(tasks->recording, tasks->ref[i].index, &entry) &&
            (entry.record.data_ptr == 0 || tg_place_is_given(blame->diff, side, &entry)) &&
            !tg_place_is_written(blame->diff, side, &entry, side == 0) &&
            !tg_place_is_tiled(blame->diff, side, &entry, side == 0))
            return true;
    return false;
}

bool tg_blame_want_lone(struct tg_blame *blame)
{
    const struct tg_match *match = &blame->diff->match;
    if (match->only_a + match->only_b == 0)
        return true;
    bool *is_read = calloc((size_t)match->n_tasks + 1, sizeof *is_read);
    if (!is_read)
        return false;
    mark_read(&blame->side[0], is_read);
    mark_read(&blame->side[1], is_read);
    for (uint32_t i = 0; i < match->n_tasks; i++)
        if (tg_blame_is_lone(blame, i) && match->task[i].part_of == TG_NO_ROW && !is_read[i] &&
            tg_diff_has_all_tasks(blame->side[1 - side_of(blame, i)].tasks) &&
            leaves_a_result(blame, i))
            tg_blame_want(blame, i);
    free(is_read);
    return true;
}
