/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "analysis/blame.h"

/* --- the two sides ---------------------------------------------------------------------------- */

static void map_rows(const struct tg_blame *blame, int number)
{
    const struct tg_match *match = &blame->diff->match;
    const struct tg_blame_side *side = &blame->side[number];
    for (uint32_t i = 0; i < side->tasks->n_rows; i++)
        side->task_of[i] = TG_NO_ROW;
    for (uint32_t i = 0; i < match->n_tasks; i++) {
        uint32_t row = tg_blame_row(blame, i, number), whole = match->task[i].part_of;
        if (row != TG_NO_ROW)
            side->task_of[row] = whole == TG_NO_ROW ? i : whole;
    }
}

static void map_records(const struct tg_blame *blame, int number)
{
    const struct tg_match *match = &blame->diff->match;
    const struct tg_blame_side *side = &blame->side[number];
    for (uint64_t i = 0; i < side->tasks->info.records; i++)
        side->pair_of[i] = TG_NONE;
    for (uint64_t i = 0; i < match->n_pairs; i++) {
        uint64_t record = tg_blame_record(blame, i, number);
        if (record != TG_NONE)
            side->pair_of[record] = i;
    }
}

bool tg_blame_open_sides(struct tg_blame *blame)
{
    for (int i = 0; i < 2; i++) {
        struct tg_blame_side *side = &blame->side[i];
        side->task_of = malloc(((size_t)side->tasks->n_rows + 1) * sizeof *side->task_of);
        side->pair_of = malloc((size_t)(side->tasks->info.records + 1) * sizeof *side->pair_of);
        if (!side->task_of || !side->pair_of)
            return false;
        map_rows(blame, i);
        map_records(blame, i);
    }
    return true;
}

void tg_blame_close_side(struct tg_blame_side *side)
{
    free(side->pair_of);
    free(side->task_of);
    free(side->later.first);
    free(side->later.writer);
    free(side->later.begin);
    free(side->later.end);
    tg_order_free(&side->order);
}

/* --- edges ------------------------------------------------------------------------------------ */

static uint64_t links_of_deps(const struct tg_blame_side *side, struct tg_link *link)
{
    const struct tg_tasks *tasks = side->tasks;
    const struct tg_deps *deps = tasks->deps;
    uint64_t count = 0;
    for (uint32_t i = 0; i < deps->n_tasks; i++)
        for (uint64_t k = 0; k < deps->task[i].n_edges; k++)
            link[count++] = (struct tg_link){
                .before = side->task_of[tasks->of_deps[deps->before[deps->task[i].first_edge + k]]],
                .after = side->task_of[tasks->of_deps[i]]};
    return count;
}

static uint64_t links_of_flow(const struct tg_blame_side *side, struct tg_link *link)
{
    const struct tg_flow *flow = side->flow;
    uint64_t count = 0;
    for (uint32_t i = 0; i < flow->n_events; i++) {
        const struct tg_flow_event *event = &flow->event[i];
        for (uint32_t k = 0; k < event->n_writers && !event->is_write; k++)
            link[count++] = (struct tg_link){
                .before = side->task_of[flow->event[flow->writer[event->first_writer + k]].row],
                .after = side->task_of[event->row]};
    }
    return count;
}

static uint64_t count_links(const struct tg_blame_side *side)
{
    return side->tasks->deps ? side->tasks->deps->n_edges : side->flow->n_writers;
}

/* Takes the edges of both sides, since each may have tasks that the other lacks: those of deps.json,
 * and without one, from the tasks that wrote bytes to the tasks that read them. */
static bool link_tasks(struct tg_blame *blame)
{
    uint64_t count = 0, most = count_links(&blame->side[0]) + count_links(&blame->side[1]);
    struct tg_link *link = malloc((size_t)(most + 1) * sizeof *link);
    for (int i = 0; link && i < 2; i++)
        count += blame->side[i].tasks->deps ? links_of_deps(&blame->side[i], link + count)
                                            : links_of_flow(&blame->side[i], link + count);
    bool good = link && tg_links_make(blame->diff->match.n_tasks, link, count, &blame->before);
    free(link);
    return good;
}

static const char *name_graph(const struct tg_blame *blame)
{
    if (blame->diff->a.deps || blame->diff->b.deps)
        return blame->diff->a.deps ? "deps_a" : "deps_b";
    if (blame->side[0].flow->n_writers > 0)
        return "memory_a";
    return blame->side[1].flow->n_writers > 0 ? "memory_b" : "none";
}

bool tg_blame_read_graph(struct tg_blame *blame)
{
    size_t count = blame->diff->match.n_tasks;
    blame->graph = name_graph(blame);
    blame->rank = malloc((count + 1) * sizeof *blame->rank);
    blame->depth = malloc((count + 1) * sizeof *blame->depth);
    return blame->rank && blame->depth && link_tasks(blame) &&
           tg_links_rank(&blame->before, blame->rank, blame->depth);
}
