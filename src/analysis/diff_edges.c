/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges that only one side's deps.json has, between tasks that both sides have. Another edge alone is
 * no error: another way may order the two tasks, or nothing they do needs an order. It is a race if
 * the side without the edge has no other way between the two although they use the same bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/deps_order.h"
#include "analysis/diff.h"
#include "analysis/overlap.h"
#include "base/error.h"
#include "base/grow.h"

/* Races are looked for at so many edges; the others are listed only. */
enum { MOST_RACES = 10000 };

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "no memory to compare the edges of two graphs");
}

static const struct tg_tasks *tasks_of(const struct tg_diff *diff, int side)
{
    return side == 0 ? &diff->a : &diff->b;
}

static uint32_t row_of(const struct tg_diff *diff, uint64_t task, int side)
{
    const struct tg_matched_task *matched = &diff->match.task[task];
    return side == 0 ? matched->a : matched->b;
}

/* --- tasks by number -------------------------------------------------------------------------- */

/* Of each task of a deps.json, its number in the match; parts of a fusion have that of the whole.
 * TG_NO_ROW for a task that only one side has. */
static uint32_t *number_tasks(const struct tg_diff *diff, int side)
{
    const struct tg_match *match = &diff->match;
    const struct tg_tasks *tasks = tasks_of(diff, side);
    uint32_t *number = malloc(((size_t)tasks->deps->n_tasks + 1) * sizeof *number);
    for (uint32_t i = 0; number && i < tasks->deps->n_tasks; i++)
        number[i] = TG_NO_ROW;
    for (uint32_t i = 0; number && i < match->n_tasks; i++) {
        const struct tg_matched_task *task = &match->task[i];
        uint32_t row = row_of(diff, i, side), whole = task->part_of;
        bool is_matched = task->a != TG_NO_ROW && task->b != TG_NO_ROW;
        if (row == TG_NO_ROW || tasks->row[row].deps == TG_NO_ROW)
            continue;
        if (is_matched || whole != TG_NO_ROW)
            number[tasks->row[row].deps] = is_matched ? i : whole;
    }
    return number;
}

/* --- comparing -------------------------------------------------------------------------------- */

struct comparing {
    struct tg_diff *diff;
    uint32_t *number[2];
    uint64_t *seen; /* of each task: the task that was last found to wait for it, plus one */
    struct tg_order order[2];
    uint64_t races; /* edges at which a race was looked for */
};

/* True if a record of one task and a record of the other, one of them a write, have bytes in
 * common. */
static bool share_bytes(const struct tg_tasks *tasks, uint32_t row, uint32_t other)
{
    const struct tg_task_row *x = &tasks->row[row], *y = &tasks->row[other];
    struct tg_entry a, b;
    for (uint64_t i = x->first; i < x->first + x->count; i++) {
        if (!tg_recording_get(tasks->recording, tasks->ref[i].index, &a) ||
            a.record.kind != TG_KIND_TENSOR)
            continue;
        for (uint64_t k = y->first; k < y->first + y->count; k++)
            if (tg_recording_get(tasks->recording, tasks->ref[k].index, &b) &&
                b.record.kind == TG_KIND_TENSOR &&
                (a.record.stage == TG_AFTER_COMPLETION || b.record.stage == TG_AFTER_COMPLETION) &&
                tg_records_overlap(&a.record, &b.record))
                return true;
    }
    return false;
}

static bool is_race(struct comparing *comparing, const struct tg_diff_edge *edge)
{
    int side = edge->in_a ? 1 : 0; /* the one without the edge */
    const struct tg_tasks *tasks = tasks_of(comparing->diff, side);
    uint32_t before = row_of(comparing->diff, edge->before, side);
    uint32_t after = row_of(comparing->diff, edge->after, side);
    if (tasks->deps->lost > 0 || comparing->races++ >= MOST_RACES)
        return false;
    uint32_t from = tasks->row[before].deps, to = tasks->row[after].deps;
    if (from == TG_NO_ROW || to == TG_NO_ROW)
        return false;
    return !tg_order_waits(&comparing->order[side], from, to) &&
           !tg_order_waits(&comparing->order[side], to, from) && share_bytes(tasks, before, after);
}

static bool add_edge(struct comparing *comparing, uint32_t before, uint32_t after, int side)
{
    struct tg_diff *diff = comparing->diff;
    struct tg_diff_edge edge = {.before = before, .after = after, .in_a = side == 0};
    if (!tg_grow(&diff->edge, &diff->edge_room, (size_t)diff->n_edges + 1, sizeof *diff->edge))
        return false;
    edge.race = is_race(comparing, &edge);
    diff->edge[diff->n_edges++] = edge;
    return true;
}

/* Calls for each task that the task at `at` waits for on one side. */
static bool mark_edges(struct comparing *comparing, int side, uint32_t at, uint32_t after,
                       bool adds)
{
    const struct tg_deps *deps = tasks_of(comparing->diff, side)->deps;
    const struct tg_deps_task *task = &deps->task[at];
    for (uint64_t i = 0; i < task->n_edges; i++) {
        uint32_t before = comparing->number[side][deps->before[task->first_edge + i]];
        if (before == TG_NO_ROW || before == after)
            continue;
        bool is_new = comparing->seen[before] != (uint64_t)after + 1;
        comparing->seen[before] = (uint64_t)after + 1;
        if (adds && is_new && !add_edge(comparing, before, after, side))
            return false;
    }
    return true;
}

/* Marks what one side's task waits for, and adds what the other side's waits for besides. */
static bool compare_sides(struct comparing *comparing, int side)
{
    struct tg_diff *diff = comparing->diff;
    const struct tg_match *match = &diff->match;
    for (uint32_t i = 0; i < match->n_tasks; i++)
        comparing->seen[i] = 0;
    for (uint32_t i = 0; i < match->n_tasks; i++) {
        uint32_t a = match->task[i].a, b = match->task[i].b;
        if (a == TG_NO_ROW || b == TG_NO_ROW || match->task[i].is_fused)
            continue;
        uint32_t here = tasks_of(diff, side)->row[side == 0 ? a : b].deps;
        uint32_t there = tasks_of(diff, 1 - side)->row[side == 0 ? b : a].deps;
        if (here == TG_NO_ROW || there == TG_NO_ROW)
            continue;
        if (!mark_edges(comparing, 1 - side, there, i, false) ||
            !mark_edges(comparing, side, here, i, true))
            return false;
    }
    return true;
}

static const char *why_not(const struct tg_diff *diff)
{
    if (!diff->a.deps || !diff->b.deps)
        return "a recording has no deps.json";
    if (strcmp(diff->a.deps->runtime, diff->b.deps->runtime) != 0)
        return "the runtimes differ: one finds edges that the other is told";
    return "";
}

tg_status tg_diff_compare_edges(struct tg_diff *diff, const char **reason, struct tg_error *error)
{
    TG_REFUSE_NULL(error, diff);
    TG_REFUSE_NULL(error, reason);
    struct comparing comparing = {.diff = diff};
    *reason = why_not(diff);
    if (**reason || diff->has_edges)
        return TG_OK;
    comparing.order[0].deps = diff->a.deps;
    comparing.order[1].deps = diff->b.deps;
    comparing.number[0] = number_tasks(diff, 0);
    comparing.number[1] = number_tasks(diff, 1);
    comparing.seen = malloc(((size_t)diff->match.n_tasks + 1) * sizeof *comparing.seen);
    bool good = comparing.number[0] && comparing.number[1] && comparing.seen &&
                compare_sides(&comparing, 0) && compare_sides(&comparing, 1);
    diff->has_edges = good;
    free(comparing.number[0]);
    free(comparing.number[1]);
    free(comparing.seen);
    tg_order_free(&comparing.order[0]);
    tg_order_free(&comparing.order[1]);
    return good ? TG_OK : no_memory(error);
}

bool tg_diff_get_edge(const struct tg_diff *diff, uint64_t number, struct tg_diff_edge *edge)
{
    if (diff == NULL || edge == NULL)
        return false;
    if (number >= diff->n_edges)
        return false;
    *edge = diff->edge[number];
    return true;
}
