/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "analysis/blame.h"

/* For each row of one side, the number of its task in the match. */
static uint32_t *tasks_of_rows(const struct tg_match *match, const struct tg_tasks *side, bool is_b)
{
    uint32_t *task = malloc(((size_t)side->n_rows + 1) * sizeof *task);
    for (uint32_t i = 0; task && i < side->n_rows; i++)
        task[i] = TG_NO_ROW;
    for (uint32_t i = 0; task && i < match->n_tasks; i++) {
        uint32_t row = is_b ? match->task[i].b : match->task[i].a;
        if (row != TG_NO_ROW)
            task[row] = i;
    }
    return task;
}

static uint64_t links_of_deps(const struct tg_tasks *side, const uint32_t *task,
                              struct tg_link *link)
{
    const struct tg_deps *deps = side->deps;
    uint64_t count = 0;
    for (uint32_t i = 0; i < deps->n_tasks; i++)
        for (uint64_t k = 0; k < deps->task[i].n_edges; k++)
            link[count++] = (struct tg_link){
                .before = task[side->of_deps[deps->before[deps->task[i].first_edge + k]]],
                .after = task[side->of_deps[i]]};
    return count;
}

static uint64_t links_of_flow(const struct tg_flow *flow, const uint32_t *task,
                              struct tg_link *link)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < flow->n_events; i++) {
        const struct tg_flow_event *event = &flow->event[i];
        for (uint32_t k = 0; k < event->n_writers && !event->is_write; k++)
            link[count++] = (struct tg_link){
                .before = task[flow->event[flow->writer[event->first_writer + k]].row],
                .after = task[event->row]};
    }
    return count;
}

static bool link_tasks(struct tg_blame *blame, bool is_b, const struct tg_flow *flow)
{
    const struct tg_match *match = &blame->diff->match;
    const struct tg_tasks *side = is_b ? &blame->diff->b : &blame->diff->a;
    uint64_t most = flow ? flow->n_writers : side->deps ? side->deps->n_edges : 0, count = 0;
    struct tg_link *link = malloc((size_t)(most + 1) * sizeof *link);
    uint32_t *task = tasks_of_rows(match, side, is_b);
    bool good = link && task;
    if (good && flow)
        count = links_of_flow(flow, task, link);
    else if (good && side->deps)
        count = links_of_deps(side, task, link);
    good = good && tg_links_make(match->n_tasks, link, count, &blame->before);
    free(link);
    free(task);
    return good;
}

/* Takes the edges of deps.json. Without one, a task depends on the tasks whose writes it read. */
static bool choose_graph(struct tg_blame *blame)
{
    const struct tg_diff *diff = blame->diff;
    if (diff->a.deps || diff->b.deps) {
        blame->graph = diff->a.deps ? "deps_a" : "deps_b";
        return link_tasks(blame, !diff->a.deps, NULL);
    }
    if (blame->flow_a.n_writers > 0 || blame->flow_b.n_writers > 0) {
        bool is_b = blame->flow_a.n_writers == 0;
        blame->graph = is_b ? "memory_b" : "memory_a";
        return link_tasks(blame, is_b, is_b ? &blame->flow_b : &blame->flow_a);
    }
    blame->graph = "none";
    return link_tasks(blame, false, NULL);
}

bool tg_blame_read_graph(struct tg_blame *blame)
{
    size_t count = blame->diff->match.n_tasks;
    blame->rank = malloc((count + 1) * sizeof *blame->rank);
    blame->depth = malloc((count + 1) * sizeof *blame->depth);
    return blame->rank && blame->depth && choose_graph(blame) &&
           tg_links_turn(&blame->before, &blame->after) &&
           tg_links_rank(&blame->before, blame->rank, blame->depth);
}
