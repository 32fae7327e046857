/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run as a set of constraints: a task begins when it is submitted, the tasks that it waited for have
 * ended and the part before it on each of its cores has ended; and then its own delay passes. The delay is
 * what the run itself shows beyond these, so the model without a change gives exactly the times of the run.
 */
#include <stdlib.h>

#include "analysis/timing.h"
#include "base/error.h"
#include "base/files.h"

/* Times of the changed run, as distances from the start. */
struct model {
    const struct tg_timing *timing;
    const struct tg_timing_change *change;
    uint32_t group;     /* whose run time changes; TG_TIMELINE_NONE */
    uint64_t *end;      /* by task */
    uint64_t *part_end; /* by part */
};

/* --- cores ------------------------------------------------------------------------------------- */

/* Links each part of a node with the one before it on its core: by begin, then end, then place of their
 * tasks. Only a part that ended before counts. */
static void link_parts(struct tg_timing *timing, const struct tg_timing_key *key, size_t count,
                       uint32_t *last)
{
    const struct tg_timeline *line = &timing->line;
    for (size_t i = 0; i < line->n_cores; i++)
        last[i] = TG_TIMELINE_NONE;
    for (size_t i = 0; i < count; i++) {
        const struct tg_timeline_part *part = &line->part[key[i].number];
        uint32_t before = last[part->core];
        if (before != TG_TIMELINE_NONE &&
            tg_timing_part_end(&line->part[before]) <= tg_timing_part_begin(part) &&
            timing->place[line->part[before].task] < timing->place[part->task])
            timing->previous[key[i].number] = before;
        last[part->core] = key[i].number;
    }
}

static size_t list_parts(struct tg_timing *timing, struct tg_timing_key *key)
{
    size_t count = 0;
    for (size_t i = 0; i < timing->line.n_parts; i++)
        timing->previous[i] = TG_TIMELINE_NONE;
    for (uint32_t i = 0; i < timing->n_nodes; i++) {
        const struct tg_timeline_task *task = &timing->line.task[timing->order[i]];
        for (uint32_t k = task->first_part; k < task->first_part + task->n_parts; k++)
            if (timing->line.part[k].core != TG_TIMELINE_NONE)
                key[count++] = (struct tg_timing_key){
                    .key = tg_timing_part_end(&timing->line.part[k]) - timing->info.start,
                    .number = k};
    }
    return count;
}

static bool find_previous(struct tg_timing *timing)
{
    size_t n = timing->line.n_parts;
    uint64_t most = timing->info.end - timing->info.start;
    struct tg_timing_key *key = malloc((n + 1) * sizeof *key);
    struct tg_timing_key *spare = malloc((n + 1) * sizeof *spare);
    uint32_t *last = malloc((timing->line.n_cores + 1) * sizeof *last);
    bool good = key && spare && last;
    if (good) {
        size_t count = list_parts(timing, key);
        tg_timing_sort(key, spare, count, most);
        for (size_t i = 0; i < count; i++)
            key[i].key =
                tg_timing_part_begin(&timing->line.part[key[i].number]) - timing->info.start;
        tg_timing_sort(key, spare, count, most);
        link_parts(timing, key, count, last);
    }
    free(key);
    free(spare);
    free(last);
    return good;
}

/* --- the constraints --------------------------------------------------------------------------- */

static void take_later(uint64_t *time, uint64_t other)
{
    if (other > *time)
        *time = other;
}

/* The earliest begin of a task, before its delay. */
static uint64_t held_until(const struct model *model, uint32_t task)
{
    const struct tg_timing *timing = model->timing;
    const struct tg_timeline *line = &timing->line;
    const struct tg_timeline_task *from = &line->task[task];
    uint64_t time = 0, submit = tg_timing_submit(timing, task);
    if (submit != TG_NONE && submit >= timing->info.start && !model->change->no_orchestrator)
        time = submit - timing->info.start;
    for (uint64_t k = from->first_edge; k < from->first_edge + from->n_edges; k++) {
        uint32_t before = line->before[k];
        if (!tg_timing_obeyed(timing, before, task))
            continue;
        uint64_t lag = model->change->no_latency
                           ? 0
                           : tg_timing_release(timing, before, task) - timing->end[before];
        take_later(&time, model->end[before] + lag);
    }
    for (uint32_t k = from->first_part; k < from->first_part + from->n_parts; k++) {
        uint32_t before = timing->previous[k];
        if (before == TG_TIMELINE_NONE || model->change->unlimited_cores)
            continue;
        /* A part of a mix may begin later than the first one. */
        uint64_t later = tg_timing_part_begin(&line->part[k]) - timing->begin[task];
        if (model->part_end[before] > later)
            take_later(&time, model->part_end[before] - later);
    }
    return time;
}

static uint64_t changed_run(const struct model *model, uint32_t task,
                            const struct tg_timeline_part *part)
{
    uint64_t run = tg_timing_part_end(part) - tg_timing_part_begin(part);
    if (model->group == TG_TIMELINE_NONE || model->timing->group[task] != model->group)
        return run;
    return run / 100 * model->change->percent + run % 100 * model->change->percent / 100;
}

static uint64_t delay_of(const struct model *model, uint32_t task)
{
    const struct tg_timing *timing = model->timing;
    /* What is not known to be waiting stays. */
    bool is_dropped = model->change->no_latency && timing->ready[task] != TG_NONE;
    return is_dropped ? 0 : timing->delay[task];
}

static void place_task(struct model *model, uint32_t task, uint64_t begin)
{
    const struct tg_timing *timing = model->timing;
    const struct tg_timeline_task *from = &timing->line.task[task];
    model->end[task] = begin;
    for (uint32_t k = from->first_part; k < from->first_part + from->n_parts; k++) {
        const struct tg_timeline_part *part = &timing->line.part[k];
        model->part_end[k] = begin + (tg_timing_part_begin(part) - timing->begin[task]) +
                             changed_run(model, task, part);
        take_later(&model->end[task], model->part_end[k]);
    }
}

static bool start_model(struct model *model)
{
    const struct tg_timeline *line = &model->timing->line;
    model->end = calloc(line->n_tasks + 1, sizeof *model->end);
    model->part_end = calloc(line->n_parts + 1, sizeof *model->part_end);
    return model->end && model->part_end;
}

static void free_model(struct model *model)
{
    free(model->end);
    free(model->part_end);
}

/* --- the whole --------------------------------------------------------------------------------- */

bool tg_timing_make_model(struct tg_timing *timing)
{
    static const struct tg_timing_change nothing = {.kernel = TG_NONE, .percent = 100};
    struct model model = {.timing = timing, .change = &nothing, .group = TG_TIMELINE_NONE};
    bool good = find_previous(timing) && start_model(&model);
    for (uint32_t i = 0; good && i < timing->n_nodes; i++) {
        uint32_t task = timing->order[i];
        uint64_t begin = timing->begin[task] - timing->info.start;
        timing->delay[task] = begin - held_until(&model, task);
        place_task(&model, task, begin);
    }
    free_model(&model);
    return good;
}

static uint64_t run_again(struct model *model)
{
    const struct tg_timing *timing = model->timing;
    uint64_t span = 0;
    for (uint32_t i = 0; i < timing->n_nodes; i++) {
        uint32_t task = timing->order[i];
        place_task(model, task, held_until(model, task) + delay_of(model, task));
        take_later(&span, model->end[task]);
    }
    return span;
}

tg_status tg_timing_what_if(const struct tg_timing *timing, const struct tg_timing_change *change,
                            uint64_t *span, struct tg_error *error)
{
    TG_REFUSE_NULL(error, timing);
    TG_REFUSE_NULL(error, change);
    TG_REFUSE_NULL(error, span);
    struct model model = {.timing = timing, .change = change, .group = TG_TIMELINE_NONE};
    if (change->percent > 100)
        return tg_error_set(error, TG_BAD_ARGUMENT, "%u percent of a run time; give 0 to 100",
                            change->percent);
    if (change->kernel != TG_NONE && change->kernel >= timing->info.kernels)
        return tg_error_set(error, TG_BAD_ARGUMENT, "there is no kernel %llu; there are %llu",
                            (unsigned long long)change->kernel,
                            (unsigned long long)timing->info.kernels);
    if (*timing->info.path_unknown)
        return tg_error_set(error, TG_UNSUPPORTED, "%s", timing->info.path_unknown);
    if (change->kernel != TG_NONE)
        model.group = timing->rank[change->kernel];
    bool good = start_model(&model);
    if (good)
        *span = run_again(&model);
    free_model(&model);
    return good ? TG_OK : tg_file_no_memory(error);
}
