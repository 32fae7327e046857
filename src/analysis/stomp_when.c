/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tasks can have run while the bytes of a stomp changed. A task reads its inputs before its kernel
 * begins, and its outputs after it has ended, so the times of its own records bound the time of its kernels.
 * The tasks that it waited for, and those that waited for it, bound it too, also where it has no record.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/deps_graph.h"
#include "analysis/stomp.h"

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A record has the time at which the device began to make it, or an earlier one of the same stage. */
static void take_own_times(const struct tg_find *find, struct tg_stomp_time *times)
{
    struct tg_entry entry;
    for (uint32_t i = 0; i < find->flow.n_events; i++) {
        const struct tg_flow_event *event = &find->flow.event[i];
        struct tg_stomp_time *of = &times[event->row];
        if (!event->is_write) {
            of->began = later(of->began, event->time);
            of->dispatched = earlier(of->dispatched, event->time);
        } else if (tg_recording_get(find->recording, event->record, &entry) &&
                   !(entry.record.flags & TG_RECORD_PARTIAL)) {
            of->ended = earlier(of->ended, event->time);
        }
    }
}

static bool link_rows(const struct tg_tasks *tasks, struct tg_links *links)
{
    const struct tg_deps *deps = tasks->deps;
    uint64_t at = 0;
    struct tg_link *link = malloc((size_t)(deps->n_edges + 1) * sizeof *link);
    if (!link)
        return false;
    for (uint32_t i = 0; i < deps->n_tasks; i++)
        for (uint64_t k = 0; k < deps->task[i].n_edges; k++)
            link[at++] = (struct tg_link){
                tasks->of_deps[deps->before[deps->task[i].first_edge + k]], tasks->of_deps[i]};
    bool good = tg_links_make(tasks->n_rows, link, at, links);
    free(link);
    return good;
}

/* The rows in an order in which each comes after those that it waits for. NULL: no memory. */
static uint32_t *in_order(const struct tg_links *links)
{
    uint32_t *rank = malloc(((size_t)links->n_tasks + 1) * sizeof *rank);
    uint32_t *row = calloc((size_t)links->n_tasks + 1, sizeof *row);
    bool good = rank && row && tg_links_rank(links, rank, NULL);
    for (uint32_t i = 0; good && i < links->n_tasks; i++)
        row[rank[i]] = i;
    free(rank);
    if (good)
        return row;
    free(row);
    return NULL;
}

/* A task is complete only after its outputs were recorded, and the next one begins later than that. If that
 * time is not known, it begins at least later than the task before it can have begun. */
static void bound_beginnings(const struct tg_links *links, const uint32_t *order,
                             struct tg_stomp_time *times)
{
    for (uint32_t i = 0; i < links->n_tasks; i++)
        for (uint64_t k = links->first[order[i]]; k < links->first[order[i] + 1]; k++) {
            const struct tg_stomp_time *before = &times[links->before[k]];
            uint64_t known = before->ended == UINT64_MAX ? before->began : before->ended;
            times[order[i]].began = later(times[order[i]].began, known);
        }
}

/* A task had ended before the inputs of a task that waited for it were recorded. */
static void bound_ends(const struct tg_links *links, const uint32_t *order,
                       struct tg_stomp_time *times)
{
    for (uint32_t i = links->n_tasks; i-- > 0;)
        for (uint64_t k = links->first[order[i]]; k < links->first[order[i] + 1]; k++) {
            const struct tg_stomp_time *after = &times[order[i]];
            struct tg_stomp_time *before = &times[links->before[k]];
            before->ended = earlier(before->ended, earlier(after->dispatched, after->ended));
        }
}

struct tg_stomp_time *tg_stomp_times(const struct tg_find *find)
{
    struct tg_links links = {0};
    struct tg_stomp_time *times = calloc((size_t)find->tasks.n_rows + 1, sizeof *times);
    if (!times)
        return NULL;
    for (uint32_t i = 0; i < find->tasks.n_rows; i++)
        times[i].ended = times[i].dispatched = UINT64_MAX;
    if (!tg_stomp_has_times(find))
        return times;
    take_own_times(find, times);
    if (!find->tasks.deps)
        return times;
    uint32_t *order = link_rows(&find->tasks, &links) ? in_order(&links) : NULL;
    bool good = order != NULL;
    if (good) {
        bound_beginnings(&links, order, times);
        bound_ends(&links, order, times);
    } else {
        free(times);
    }
    tg_links_free(&links);
    free(order);
    return good ? times : NULL;
}

bool tg_stomp_has_times(const struct tg_find *find)
{
    return strcmp(find->flow.order, "time") == 0;
}

struct tg_stomp_window tg_stomp_window_of(const struct tg_find *find,
                                          const struct tg_stomp_time *times,
                                          const struct tg_find_finding *finding)
{
    const struct tg_flow *flow = &find->flow;
    struct tg_stomp_window window = {.first = flow->of_record[finding->before],
                                     .last = flow->of_record[finding->record]};
    const struct tg_flow_event *last = &flow->event[window.last];
    if (!tg_stomp_has_times(find))
        return (struct tg_stomp_window){window.first, window.last, 0, UINT64_MAX, UINT64_MAX};
    window.from = flow->event[window.first].time;
    window.read = last->time;
    /* Making a record takes time; it was made before the kernel of its task had ended. */
    window.to = times[last->row].ended;
    return window;
}

bool tg_stomp_may_have_run(const struct tg_find *find, const struct tg_stomp_time *times,
                           const struct tg_stomp_window *window, uint32_t row)
{
    const struct tg_flow *flow = &find->flow;
    bool wrote_first = row == flow->event[window->first].row && flow->event[window->first].is_write;
    /* The record of `last` was made before the kernel of its own task ran. */
    return find->tasks.row[row].id != TG_TASK_NONE && row != flow->event[window->last].row &&
           !wrote_first && times[row].ended > window->from && times[row].began < window->to;
}
