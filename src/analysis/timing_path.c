/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The critical path: from the last end of a task back to the start of the run, each time along what held
 * the task back last. That is the end of a task that it waited for, or its submission. Behind a submission
 * the path follows the orchestrator back to the start of the run, unless the orchestrator waited on the
 * way for the end of a task: then the path goes on with that task.
 *
 * It ends: along edges it goes to earlier places of `order`, and each wait of the orchestrator counts once.
 */
#include <stdlib.h>

#include "analysis/timing.h"
#include "base/grow.h"

struct walk {
    struct tg_timing *timing;
    size_t room;
    size_t waits; /* waits of the orchestrator that the path may still use: those before this one */
};

/* The task that released this one last; TG_TIMELINE_NONE if it waited for none. */
static uint32_t find_last(const struct tg_timing *timing, uint32_t task, uint64_t *release)
{
    const struct tg_timeline_task *from = &timing->line.task[task];
    uint32_t last = TG_TIMELINE_NONE;
    for (uint64_t k = from->first_edge; k < from->first_edge + from->n_edges; k++) {
        uint32_t before = timing->line.before[k];
        if (!tg_timing_obeyed(timing, before, task))
            continue;
        uint64_t time = tg_timing_release(timing, before, task);
        bool is_later = last == TG_TIMELINE_NONE || time > *release;
        if (!is_later && time == *release)
            is_later = timing->end[before] > timing->end[last] ||
                       (timing->end[before] == timing->end[last] && before < last);
        if (is_later) {
            last = before;
            *release = time;
        }
    }
    return last;
}

/* Goes back from a submission; returns the task whose end let the orchestrator go on, or
 * TG_TIMELINE_NONE at the start of the run. */
static uint32_t follow_orchestrator(struct walk *walk, uint64_t from, struct tg_timing_step *step)
{
    const struct tg_timing *timing = walk->timing;
    uint64_t start = timing->info.start;
    while (walk->waits > 0) {
        const struct tg_timeline_wait *wait = &timing->line.wait[--walk->waits];
        if (wait->end > from || wait->end <= start)
            continue;
        uint32_t task = (uint32_t)wait->task;
        uint64_t begin = wait->begin > start ? wait->begin : start;
        step->spent[TG_SPENT_ORCHESTRATOR] += from - wait->end;
        if (wait->task != UINT64_MAX && timing->flags[task] & TG_TIMING_NODE &&
            timing->end[task] >= begin && timing->end[task] <= wait->end) {
            step->spent[TG_SPENT_HANDOVER] += wait->end - timing->end[task];
            return task;
        }
        step->spent[TG_SPENT_ROOM] += wait->end - begin;
        from = begin;
    }
    step->spent[TG_SPENT_ORCHESTRATOR] += from - start;
    return TG_TIMELINE_NONE;
}

/* What lies between `from`, where the task could be released, and its begin. */
static void spend_wait(const struct tg_timing *timing, uint32_t task, uint64_t from,
                       struct tg_timing_step *step)
{
    uint64_t ready = timing->ready[task];
    if (ready == TG_NONE) {
        step->spent[TG_SPENT_UNKNOWN] += timing->begin[task] - from;
        return;
    }
    step->spent[TG_SPENT_HANDOVER] += ready - from;
    step->spent[TG_SPENT_BUSY] += timing->busy[task];
    step->spent[TG_SPENT_LATENCY] += timing->latency[task];
}

/* Fills the step of a task and returns the task to go on with. */
static uint32_t take_step(struct walk *walk, uint32_t task, struct tg_timing_step *step)
{
    struct tg_timing *timing = walk->timing;
    uint64_t release = timing->info.start, submit = tg_timing_submit(timing, task);
    uint32_t last = find_last(timing, task, &release);
    *step = (struct tg_timing_step){.task = task};
    step->spent[TG_SPENT_RUN] = tg_timing_run(timing, task);
    step->spent[TG_SPENT_COMM] = tg_timing_comm(timing, task);
    if (timing->away) /* done, and no core had it yet */
        step->spent[TG_SPENT_LATENCY] = timing->away[task] - timing->comm[task];
    if (submit != TG_NONE && submit >= timing->info.start &&
        (last == TG_TIMELINE_NONE || submit > release)) {
        step->by_orchestrator = true;
        spend_wait(timing, task, submit, step);
        last = follow_orchestrator(walk, submit, step);
    } else if (last != TG_TIMELINE_NONE) {
        spend_wait(timing, task, timing->end[last], step);
    } else if (timing->line.facts.host_built || timing->ready[task] == TG_NONE) {
        spend_wait(timing, task, timing->info.start, step);
    } else { /* it said when it was ready, but not why not before */
        step->spent[TG_SPENT_UNKNOWN] = timing->ready[task] - timing->info.start;
        spend_wait(timing, task, timing->ready[task], step);
    }
    step->after = last == TG_TIMELINE_NONE ? TG_NONE : last;
    step->from = last == TG_TIMELINE_NONE ? timing->info.start : timing->end[last];
    return last;
}

static uint32_t find_end(const struct tg_timing *timing)
{
    for (uint32_t i = 0; i < timing->line.n_tasks; i++)
        if (timing->flags[i] & TG_TIMING_NODE && timing->end[i] == timing->info.end)
            return i;
    return TG_TIMELINE_NONE;
}

static void turn(struct tg_timing *timing)
{
    uint64_t n = timing->info.steps;
    for (uint64_t i = 0; i < n / 2; i++) {
        struct tg_timing_step step = timing->steps[i];
        timing->steps[i] = timing->steps[n - 1 - i];
        timing->steps[n - 1 - i] = step;
    }
}

bool tg_timing_find_path(struct tg_timing *timing)
{
    struct walk walk = {.timing = timing, .waits = timing->line.n_waits};
    struct tg_timing_info *info = &timing->info;
    if (*info->path_unknown)
        return true;
    uint32_t task = find_end(timing);
    while (task != TG_TIMELINE_NONE) {
        if (!tg_grow(&timing->steps, &walk.room, info->steps + 1, sizeof *timing->steps))
            return false;
        struct tg_timing_step *step = &timing->steps[info->steps++];
        timing->flags[task] |= TG_TIMING_ON_PATH;
        task = take_step(&walk, task, step);
        for (int i = 0; i < TG_SPENT_KINDS; i++)
            info->spent[i] += step->spent[i];
    }
    turn(timing);
    return true;
}
