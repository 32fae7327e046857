/* SPDX-License-Identifier: Apache-2.0 */
/* The way from each suspect to a wrong result, along data that disagree. */
#include <stdlib.h>

#include "analysis/blame.h"

/* The wrong task at which a path ends, and the number of its steps. */
struct goal {
    uint32_t end; /* TG_NO_ROW: the path reaches no wrong task */
    uint32_t steps;
};

struct ways {
    struct tg_blame *blame;
    struct goal *goal;
    uint32_t task; /* whose inputs are looked at */
};

static bool is_better(const struct tg_blame *blame, const struct goal *goal,
                      const struct goal *than)
{
    if (than->end == TG_NO_ROW || goal->end == TG_NO_ROW)
        return goal->end != TG_NO_ROW;
    if (goal->end != than->end)
        return blame->rank[goal->end] > blame->rank[than->end];
    return goal->steps < than->steps;
}

static void offer(struct ways *ways, uint32_t before)
{
    struct tg_blame *blame = ways->blame;
    struct goal way = {ways->goal[ways->task].end, ways->goal[ways->task].steps + 1};
    if (before == TG_NO_ROW || blame->rank[before] >= blame->rank[ways->task] ||
        !is_better(blame, &way, &ways->goal[before]))
        return;
    ways->goal[before] = way;
    blame->next[before] = ways->task;
}

static bool take_writer(void *context, uint32_t task, uint64_t pair, uint32_t event)
{
    struct ways *ways = context;
    (void)event;
    if (pair == TG_NONE || tg_diff_agreement(ways->blame->diff, pair) != TG_AGREES)
        offer(ways, task);
    return true;
}

/* Without addresses the edges lead to the tasks that an input may come from. */
static void offer_edges(struct ways *ways)
{
    const struct tg_links *before = &ways->blame->before;
    for (uint64_t i = before->first[ways->task]; i < before->first[ways->task + 1]; i++)
        if (ways->blame->task[before->before[i]].output != TG_AGREES)
            offer(ways, before->before[i]);
}

static void offer_inputs(struct ways *ways)
{
    struct tg_blame *blame = ways->blame;
    const struct tg_matched_task *matched = &blame->diff->match.task[ways->task];
    bool has_inputs = false, has_address = false;
    for (uint64_t i = matched->first_pair; i < matched->first_pair + matched->n_pairs; i++) {
        bool is_input = tg_blame_stage(blame, i) == TG_BEFORE_DISPATCH;
        /* Outputs that are written in part keep what was there before. */
        bool is_left = !is_input && blame->task[ways->task].input == TG_AGREES;
        has_inputs = has_inputs || is_input;
        if ((!is_input && !is_left) || tg_diff_agreement(blame->diff, i) == TG_AGREES)
            continue;
        for (int side = 0; side < 2; side++) {
            uint64_t record = tg_blame_record(blame, i, side);
            has_address = has_address || tg_blame_event(blame, side, record);
            tg_blame_writers(blame, side, record, take_writer, ways);
        }
    }
    if ((!has_inputs || blame->task[ways->task].input != TG_AGREES) && !has_address)
        offer_edges(ways);
}

static void offer_lone(struct ways *ways)
{
    struct tg_blame *blame = ways->blame;
    int side = tg_blame_row(blame, ways->task, 0) == TG_NO_ROW ? 1 : 0;
    const struct tg_tasks *tasks = blame->side[side].tasks;
    const struct tg_task_row *row = &tasks->row[tg_blame_row(blame, ways->task, side)];
    for (uint64_t i = row->first; i < row->first + row->count; i++)
        if (tg_record_ref_stage(&tasks->ref[i]) == TG_BEFORE_DISPATCH)
            tg_blame_writers(blame, side, tasks->ref[i].index, take_writer, ways);
}

static void look_back(struct ways *ways, uint32_t task)
{
    struct tg_blame *blame = ways->blame;
    ways->task = task;
    if (ways->goal[task].end == TG_NO_ROW && blame->task[task].beyond_out)
        ways->goal[task].end = task;
    if (ways->goal[task].end == TG_NO_ROW)
        return;
    if (tg_blame_is_lone(blame, task))
        offer_lone(ways);
    else
        offer_inputs(ways);
}

/* Goes from the last task to the first, so that each has its goal before it is offered to the tasks
 * before it. */
bool tg_blame_find_ways(struct tg_blame *blame)
{
    uint32_t count = blame->diff->match.n_tasks;
    struct ways ways = {.blame = blame, .goal = malloc(((size_t)count + 1) * sizeof *ways.goal)};
    uint32_t *order = malloc(((size_t)count + 1) * sizeof *order);
    blame->next = malloc(((size_t)count + 1) * sizeof *blame->next);
    blame->path = malloc(((size_t)count + 1) * sizeof *blame->path);
    blame->step = malloc(((size_t)count + 1) * sizeof *blame->step);
    bool good = ways.goal && order && blame->next && blame->path && blame->step;
    for (uint32_t i = 0; good && i < count; i++) {
        ways.goal[i] = (struct goal){TG_NO_ROW, 0};
        blame->next[i] = TG_NO_ROW;
        order[blame->rank[i]] = i;
    }
    for (uint32_t i = count; good && i > 0; i--)
        look_back(&ways, order[i - 1]);
    free(ways.goal);
    free(order);
    return good;
}
