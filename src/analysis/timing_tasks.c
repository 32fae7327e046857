/* SPDX-License-Identifier: Apache-2.0 */
/* Times of tasks from those of their parts, the span of the run, an order, and when tasks became ready. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/deps_graph.h"
#include "analysis/timing.h"

/* --- times ------------------------------------------------------------------------------------- */

static void take_part(struct tg_timing *timing, uint32_t task, const struct tg_timeline_part *part)
{
    uint8_t *flags = &timing->flags[task];
    uint64_t begin = part->begin, end = part->end;
    if (part->flags & TG_TIMELINE_PARTIAL || (end == TG_TIME_UNKNOWN && begin != TG_TIME_UNKNOWN))
        *flags |= TG_TIMING_PARTIAL;
    if (part->flags & TG_TIMELINE_NO_BEGIN || begin == TG_TIME_UNKNOWN) {
        *flags |= TG_TIMING_NO_BEGIN;
        begin = end;
    }
    if (part->flags & TG_TIMELINE_NO_END) {
        *flags |= TG_TIMING_NO_END;
        end = begin;
    }
    if (begin < timing->begin[task]) /* TG_NONE is larger than any time */
        timing->begin[task] = begin;
    if (end != TG_TIME_UNKNOWN && (timing->end[task] == TG_NONE || end > timing->end[task]))
        timing->end[task] = end;
}

/* A task that has a part without an end has no end. */
static void take_parts(struct tg_timing *timing, uint32_t task)
{
    const struct tg_timeline_task *from = &timing->line.task[task];
    bool has_end = from->n_parts > 0;
    timing->begin[task] = timing->end[task] = TG_NONE;
    for (uint32_t i = 0; i < from->n_parts; i++) {
        const struct tg_timeline_part *part = &timing->line.part[from->first_part + i];
        take_part(timing, task, part);
        has_end = has_end && part->end != TG_TIME_UNKNOWN;
    }
    if (!has_end)
        timing->end[task] = TG_NONE;
    uint8_t *flags = &timing->flags[task];
    bool is_known = timing->begin[task] != TG_NONE;
    if (is_known && has_end)
        *flags |= TG_TIMING_NODE;
    timing->n_nodes += (*flags & TG_TIMING_NODE) != 0;
    timing->info.unfinished += is_known && *flags & TG_TIMING_PARTIAL;
    timing->info.half_timed += is_known && !(*flags & TG_TIMING_PARTIAL) &&
                               *flags & (TG_TIMING_NO_BEGIN | TG_TIMING_NO_END);
    timing->info.timed +=
        *flags & TG_TIMING_NODE && !(*flags & (TG_TIMING_NO_BEGIN | TG_TIMING_NO_END));
}

/* --- calls ------------------------------------------------------------------------------------- */

static int by_task(const void *a, const void *b)
{
    const struct tg_timeline_call *left = a, *right = b;
    return (left->task > right->task) - (left->task < right->task);
}

const struct tg_timeline_call *tg_timing_call(const struct tg_timing *timing, uint32_t task)
{
    struct tg_timeline_call key = {.task = task};
    const struct tg_timeline *line = &timing->line;
    return line->n_calls == 0
               ? NULL
               : bsearch(&key, line->call, line->n_calls, sizeof *line->call, by_task);
}

/* A call begins when it was posted; if that is not known, when it was ready: a core posts it at once. Until
 * it was done it waited for another rank. */
static void take_call(struct tg_timing *timing, const struct tg_timeline_call *call)
{
    uint32_t task = call->task;
    const uint64_t finish = timing->begin[task];
    uint64_t begin = call->posted != TG_TIME_UNKNOWN ? call->posted : timing->line.task[task].ready;
    timing->flags[task] |= TG_TIMING_CALL;
    timing->info.calls++;
    if (!(timing->flags[task] & TG_TIMING_NODE) || begin >= finish)
        return; /* an unknown time is larger than any other */
    timing->begin[task] = begin;
    timing->away[task] = finish - begin;
    uint64_t done = call->done < finish ? call->done : finish;
    timing->comm[task] = done > begin ? done - begin : 0;
    timing->info.comm += timing->comm[task];
}

static bool take_calls(struct tg_timing *timing)
{
    const struct tg_timeline *line = &timing->line;
    if (line->n_calls == 0)
        return true;
    timing->comm = calloc(line->n_tasks + 1, sizeof *timing->comm);
    timing->away = calloc(line->n_tasks + 1, sizeof *timing->away);
    if (!timing->comm || !timing->away)
        return false;
    for (size_t i = 0; i < line->n_calls; i++)
        take_call(timing, &line->call[i]);
    return true;
}

static void take_start(struct tg_timing *timing, uint64_t time)
{
    if (time < timing->info.start)
        timing->info.start = time;
}

static void find_span(struct tg_timing *timing)
{
    struct tg_timing_info *info = &timing->info;
    info->start = timing->line.facts.start;
    info->end = 0;
    for (uint32_t i = 0; i < timing->line.n_tasks; i++) {
        const struct tg_timeline_task *task = &timing->line.task[i];
        take_start(timing, timing->begin[i]);
        take_start(timing, task->submit_begin);
        take_start(timing, task->submit);
        take_start(timing, task->ready);
        if (timing->flags[i] & TG_TIMING_NODE && timing->end[i] > info->end)
            info->end = timing->end[i];
    }
    if (info->start > info->end)
        info->start = info->end;
    info->run_end = timing->line.facts.end;
    if (info->run_end < info->end)
        info->run_end = TG_NONE;
}

/* --- an order ---------------------------------------------------------------------------------- */

struct sorting {
    struct tg_links links, after;
    uint32_t *queue; /* tasks in the order of the edges */
    uint32_t *waits; /* tasks before it that are not in the queue */
    uint64_t *chain; /* the longest chain of run times that ends with the task */
    uint32_t count;
};

/* True for an edge that the times of the run contradict. */
static bool is_early(const struct tg_timing *timing, uint32_t before, uint32_t after)
{
    return timing->flags[before] & timing->flags[after] & TG_TIMING_NODE &&
           !tg_timing_obeyed(timing, before, after);
}

/* Files are not trusted: a bound above the span would be none. */
static void limit_chain(struct tg_timing_info *info)
{
    if (info->bound_chain > info->end - info->start)
        info->bound_chain = info->end - info->start;
}

/* Puts tasks into the queue behind all tasks that they wait for; fewer than all if there is a cycle. */
static void sort_by_edges(struct tg_timing *timing, struct sorting *sorting)
{
    const struct tg_links *after = &sorting->after;
    uint32_t n = sorting->links.n_tasks;
    for (uint32_t i = 0; i < n; i++) {
        sorting->waits[i] = (uint32_t)(sorting->links.first[i + 1] - sorting->links.first[i]);
        if (sorting->waits[i] == 0)
            sorting->queue[sorting->count++] = i;
    }
    for (uint32_t at = 0; at < sorting->count; at++) {
        uint32_t task = sorting->queue[at];
        if (timing->flags[task] & TG_TIMING_NODE)
            sorting->chain[task] += tg_timing_run(timing, task);
        if (sorting->chain[task] > timing->info.bound_chain)
            timing->info.bound_chain = sorting->chain[task];
        for (uint64_t k = after->first[task]; k < after->first[task + 1]; k++) {
            uint32_t other = after->before[k];
            if (sorting->chain[other] < sorting->chain[task] && !is_early(timing, task, other))
                sorting->chain[other] = sorting->chain[task];
            if (--sorting->waits[other] == 0)
                sorting->queue[sorting->count++] = other;
        }
    }
}

/* The tasks of a cycle come last; they wait for one another, so none of them can be judged. */
static void take_cycle(struct tg_timing *timing, struct sorting *sorting)
{
    uint64_t first = TG_NONE;
    uint32_t n = sorting->links.n_tasks;
    if (sorting->count == n)
        return;
    for (uint32_t i = 0; i < n; i++)
        if (sorting->waits[i] > 0) {
            sorting->queue[sorting->count++] = i;
            if (first == TG_NONE)
                first = timing->line.task[i].id;
        }
    timing->info.bound_chain = TG_NONE;
    (void)snprintf(timing->unknown, sizeof timing->unknown,
                   "the edges form a cycle, at or before task %llu:%llu: no such run is possible",
                   (unsigned long long)(first >> 32), (unsigned long long)(first & UINT32_MAX));
    timing->info.path_unknown = timing->unknown;
}

static bool order_nodes(struct tg_timing *timing, const struct sorting *sorting)
{
    uint32_t n = sorting->links.n_tasks, count = 0;
    struct tg_timing_key *key = malloc(((size_t)n + 1) * sizeof *key);
    struct tg_timing_key *spare = malloc(((size_t)n + 1) * sizeof *spare);
    if (key && spare) {
        for (uint32_t i = 0; i < n; i++) {
            uint32_t task = sorting->queue[i];
            timing->place[task] = TG_TIMELINE_NONE;
            if (timing->flags[task] & TG_TIMING_NODE)
                key[count++] = (struct tg_timing_key){
                    .key = timing->begin[task] - timing->info.start, .number = task};
        }
        tg_timing_sort(key, spare, count, timing->info.end - timing->info.start);
        for (uint32_t i = 0; i < count; i++) {
            timing->order[i] = key[i].number;
            timing->place[key[i].number] = i;
        }
    }
    bool good = key && spare;
    free(key);
    free(spare);
    return good;
}

static bool make_order(struct tg_timing *timing)
{
    struct sorting sorting = {
        .links = {.n_tasks = (uint32_t)timing->line.n_tasks, .before = timing->line.before}};
    size_t n = timing->line.n_tasks;
    sorting.links.first = malloc((n + 1) * sizeof *sorting.links.first);
    sorting.queue = malloc((n + 1) * sizeof *sorting.queue);
    sorting.waits = malloc((n + 1) * sizeof *sorting.waits);
    sorting.chain = calloc(n + 1, sizeof *sorting.chain);
    bool good = sorting.links.first && sorting.queue && sorting.waits && sorting.chain;
    if (good) {
        for (size_t i = 0; i < n; i++)
            sorting.links.first[i] = timing->line.task[i].first_edge;
        sorting.links.first[n] = timing->line.n_edges;
        good = tg_links_turn(&sorting.links, &sorting.after);
    }
    if (good) {
        sort_by_edges(timing, &sorting);
        limit_chain(&timing->info);
        take_cycle(timing, &sorting);
        good = order_nodes(timing, &sorting);
    }
    free(sorting.links.first);
    free(sorting.queue);
    free(sorting.waits);
    free(sorting.chain);
    tg_links_free(&sorting.after);
    return good;
}

/* --- ready ------------------------------------------------------------------------------------- */

bool tg_timing_obeyed(const struct tg_timing *timing, uint32_t before, uint32_t after)
{
    return timing->flags[before] & TG_TIMING_NODE && timing->end[before] <= timing->begin[after];
}

uint64_t tg_timing_release(const struct tg_timing *timing, uint32_t before, uint32_t after)
{
    const struct tg_timeline_task *task = &timing->line.task[before];
    uint64_t release = timing->end[before];
    for (uint32_t i = 0; i < task->n_parts; i++) {
        uint64_t done = timing->line.part[task->first_part + i].done;
        if (done != TG_TIME_UNKNOWN && done > release && done <= timing->begin[after])
            release = done;
    }
    return release;
}

uint64_t tg_timing_submit(const struct tg_timing *timing, uint32_t task)
{
    uint64_t submit = timing->line.task[task].submit;
    return submit <= timing->begin[task] ? submit : TG_NONE;
}

static void take_later(uint64_t *time, uint64_t other)
{
    if (other != TG_NONE && (*time == TG_NONE || other > *time))
        *time = other;
}

/* True if the file says which tasks this one waited for. */
static bool has_edges(const struct tg_timing *timing, uint32_t task)
{
    const struct tg_timeline_facts *facts = &timing->line.facts;
    return facts->has_edges && (!facts->has_list || timing->line.task[task].is_listed);
}

static void find_ready(struct tg_timing *timing, uint32_t task)
{
    const struct tg_timeline *line = &timing->line;
    const struct tg_timeline_task *from = &line->task[task];
    uint64_t ready = TG_NONE, last = 0;
    bool is_known = true;
    bool is_said = from->ready <= timing->begin[task];
    if (is_said)
        ready = from->ready;
    else if (line->facts.host_built)
        ready = timing->info.start;
    for (uint64_t k = from->first_edge; k < from->first_edge + from->n_edges; k++) {
        uint32_t before = line->before[k];
        if (!tg_timing_obeyed(timing, before, task)) {
            timing->info.early_edges += (timing->flags[before] & TG_TIMING_NODE) != 0;
            continue;
        }
        uint64_t release = tg_timing_release(timing, before, task);
        take_later(&ready, is_said ? timing->end[before] : release);
        if (release >= last) {
            bool is_open = timing->flags[before] & TG_TIMING_NO_END;
            is_known = release > last ? !is_open : is_known && !is_open;
            last = release;
        }
    }
    take_later(&ready, tg_timing_submit(timing, task));
    is_known = is_said || (is_known && has_edges(timing, task));
    if (!is_known || timing->flags[task] & TG_TIMING_NO_BEGIN)
        ready = TG_NONE;
    timing->ready[task] = ready;
    timing->info.has_ready = timing->info.has_ready || is_said;
}

static void find_all_ready(struct tg_timing *timing)
{
    bool is_any = false;
    timing->info.has_submits = timing->line.facts.host_built;
    for (uint32_t i = 0; i < timing->line.n_tasks; i++) {
        timing->ready[i] = TG_NONE;
        if (timing->flags[i] & TG_TIMING_NODE)
            find_ready(timing, i);
        is_any = is_any || timing->ready[i] != TG_NONE;
        if (timing->line.task[i].submit != TG_TIME_UNKNOWN)
            timing->info.has_submits = true;
    }
    if (!is_any)
        timing->info.wait_unknown =
            timing->line.facts.has_edges
                ? "nothing says when tasks became ready"
                : "the edges between tasks are not known, and so not when tasks became ready";
}

/* A path along only a part of the edges would be a wrong one. */
static void check_edges(struct tg_timing *timing)
{
    struct tg_timing_info *info = &timing->info;
    uint64_t unlisted = 0, lost = timing->line.facts.lost_list;
    for (uint32_t i = 0; i < timing->line.n_tasks; i++)
        unlisted += timing->flags[i] & TG_TIMING_NODE && !has_edges(timing, i);
    if (!timing->line.facts.has_edges) {
        info->bound_chain = TG_NONE;
        info->path_unknown = "which task waited for which is not known: there is no deps.json";
    } else if (unlisted + lost > 0 && !*info->path_unknown) {
        info->bound_chain = TG_NONE;
        (void)snprintf(
            timing->unknown, sizeof timing->unknown,
            "deps.json lacks %llu of the tasks that ran, and the run lost %llu of its tasks or "
            "edges",
            (unsigned long long)unlisted, (unsigned long long)lost);
        info->path_unknown = timing->unknown;
    }
}

bool tg_timing_read_tasks(struct tg_timing *timing)
{
    for (uint32_t i = 0; i < timing->line.n_tasks; i++)
        take_parts(timing, i);
    if (!take_calls(timing))
        return false;
    find_span(timing);
    if (timing->n_nodes == 0)
        return true;
    if (!make_order(timing))
        return false;
    find_all_ready(timing);
    check_edges(timing);
    return true;
}
