/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "analysis/timing.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/timeline_load.h"
#include "base/error.h"
#include "base/files.h"

#define TG_SPENT_NAME_(constant, word, meaning) word,
#define TG_SPENT_TEXT_(constant, word, meaning) meaning,

const char *tg_spent_name(unsigned spent)
{
    static const char *const names[] = {TG_SPENT_MAP(TG_SPENT_NAME_)};
    return spent < TG_SPENT_KINDS ? names[spent] : "?";
}

const char *tg_spent_text(unsigned spent)
{
    static const char *const texts[] = {TG_SPENT_MAP(TG_SPENT_TEXT_)};
    return spent < TG_SPENT_KINDS ? texts[spent] : "?";
}

/* --- opening ----------------------------------------------------------------------------------- */

static bool make_room(struct tg_timing *timing)
{
    size_t n = timing->line.n_tasks + 1;
    timing->begin = malloc(n * sizeof *timing->begin);
    timing->end = malloc(n * sizeof *timing->end);
    timing->ready = malloc(n * sizeof *timing->ready);
    timing->busy = malloc(n * sizeof *timing->busy);
    timing->latency = malloc(n * sizeof *timing->latency);
    timing->delay = calloc(n, sizeof *timing->delay);
    timing->group = malloc(n * sizeof *timing->group);
    timing->place = malloc(n * sizeof *timing->place);
    timing->flags = calloc(n, sizeof *timing->flags);
    timing->code = calloc(n, sizeof *timing->code);
    timing->order = malloc(n * sizeof *timing->order);
    timing->previous = malloc((timing->line.n_parts + 1) * sizeof *timing->previous);
    timing->cores = calloc(timing->line.n_cores + 1, sizeof *timing->cores);
    timing->kinds = calloc(TG_CORE_KINDS + 1, sizeof *timing->kinds);
    return timing->begin && timing->end && timing->ready && timing->busy && timing->latency &&
           timing->delay && timing->group && timing->place && timing->flags && timing->code &&
           timing->order && timing->previous && timing->cores && timing->kinds;
}

static void take_facts(struct tg_timing *timing)
{
    const struct tg_timeline *line = &timing->line;
    timing->info = (struct tg_timing_info){
        .source = line->facts.source,
        .file = timing->file,
        .workload = line->facts.workload,
        .case_name = line->facts.case_name,
        .platform = line->facts.platform,
        .runtime = line->facts.runtime,
        .result = line->facts.result,
        .clock_step = line->facts.clock_step,
        .tasks = line->n_tasks,
        .edges = line->n_edges,
        .unknown_edges = line->unknown_edges,
        .twins = line->twins,
        .backward = line->backward,
        .lost = line->facts.lost,
        .path_unknown = "",
        .wait_unknown = "",
    };
}

static tg_status analyse(struct tg_timing *timing, struct tg_error *error)
{
    take_facts(timing);
    if (!make_room(timing) || !tg_timing_read_tasks(timing))
        return tg_file_no_memory(error);
    if (timing->n_nodes == 0)
        return tg_error_set(error, TG_UNSUPPORTED, "%s: %s", timing->file,
                            timing->line.n_tasks == 0
                                ? "it has no task"
                                : "no task in it has ended at a time that is known");
    if (!tg_timing_group_tasks(timing) || !tg_timing_sweep(timing) ||
        !tg_timing_make_model(timing) || !tg_timing_find_path(timing) ||
        !tg_timing_sum_kernels(timing))
        return tg_file_no_memory(error);
    return TG_OK;
}

tg_status tg_timing_of_timeline(struct tg_timeline *line, const char *file,
                                struct tg_timing **timing, struct tg_error *error)
{
    struct tg_timing *made = calloc(1, sizeof *made);
    *timing = NULL;
    if (!made) {
        tg_timeline_free(line);
        return tg_file_no_memory(error);
    }
    made->line = *line;
    made->file = strdup(file);
    tg_status status = made->file ? analyse(made, error) : tg_file_no_memory(error);
    if (status == TG_OK)
        *timing = made;
    else
        tg_timing_close(made);
    return status;
}

tg_status tg_timing_open(const char *path, struct tg_timing **timing, struct tg_error *error)
{
    TG_REFUSE_NULL(error, path);
    TG_REFUSE_NULL(error, timing);
    struct tg_timeline line;
    struct tg_recording *recording;
    *timing = NULL;
    tg_status status = tg_timeline_load(path, &line, &recording, error);
    if (status == TG_OK)
        status = tg_timing_of_timeline(&line, path, timing, error);
    if (status == TG_OK)
        (*timing)->recording = recording;
    else
        tg_recording_close(recording);
    return status;
}

tg_status tg_timing_of_recording(const struct tg_recording *recording, struct tg_timing **timing,
                                 struct tg_error *error)
{
    TG_REFUSE_NULL(error, recording);
    TG_REFUSE_NULL(error, timing);
    struct tg_recording_info info;
    struct tg_timeline line;
    *timing = NULL;
    tg_recording_get_info(recording, &info);
    tg_status status = tg_timeline_of_recording(recording, &line, error);
    return status == TG_OK ? tg_timing_of_timeline(&line, info.dir, timing, error) : status;
}

void tg_timing_close(struct tg_timing *timing)
{
    if (!timing)
        return;
    tg_timeline_free(&timing->line);
    tg_recording_close(timing->recording);
    void *owned[] = {timing->file,     timing->begin,   timing->end,   timing->ready,
                     timing->busy,     timing->latency, timing->delay, timing->group,
                     timing->place,    timing->flags,   timing->code,  timing->order,
                     timing->previous, timing->groups,  timing->rank,  timing->rank_of,
                     timing->cores,    timing->kinds,   timing->steps, timing->comm,
                     timing->away};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        free(owned[i]);
    free(timing);
}

const struct tg_recording *tg_timing_recording(const struct tg_timing *timing)
{
    return timing ? timing->recording : NULL;
}

/* --- answers ----------------------------------------------------------------------------------- */

void tg_timing_get_info(const struct tg_timing *timing, struct tg_timing_info *info)
{
    if (!timing || !info)
        return;
    *info = timing->info;
}

bool tg_timing_get_task(const struct tg_timing *timing, uint64_t number,
                        struct tg_timing_task *task)
{
    if (!timing || !task || number >= timing->line.n_tasks)
        return false;
    const struct tg_timeline *line = &timing->line;
    const struct tg_timeline_task *from = &line->task[number];
    uint32_t group = timing->group[number];
    const struct tg_timeline_call *call = tg_timing_call(timing, (uint32_t)number);
    uint32_t core = from->n_parts > 0 ? line->part[from->first_part].core : TG_TIMELINE_NONE;
    *task = (struct tg_timing_task){
        .id = from->id,
        .kernel = group == TG_TIMELINE_NONE ? TG_NONE : timing->rank_of[group],
        .scope = from->scope,
        .core = core == TG_TIMELINE_NONE ? TG_NO_KERNEL : line->core[core].number,
        .parts = from->n_parts,
        .begin = timing->flags[number] & TG_TIMING_NO_BEGIN ? TG_NONE : timing->begin[number],
        .end = timing->flags[number] & TG_TIMING_NO_END ? TG_NONE : timing->end[number],
        .submitted = from->submit,
        .ready = timing->ready[number],
        .busy = timing->busy[number],
        .latency = timing->latency[number],
        .comm = tg_timing_comm(timing, (uint32_t)number),
        .peer = call ? call->peer : TG_COMM_NONE,
        .is_call = call != NULL,
        .edges = from->n_edges,
        .on_path = timing->flags[number] & TG_TIMING_ON_PATH,
        .unfinished = timing->flags[number] & TG_TIMING_PARTIAL,
    };
    return true;
}

bool tg_timing_get_step(const struct tg_timing *timing, uint64_t number,
                        struct tg_timing_step *step)
{
    if (!timing || !step || number >= timing->info.steps)
        return false;
    *step = timing->steps[number];
    return true;
}

bool tg_timing_get_kernel(const struct tg_timing *timing, uint64_t number,
                          struct tg_timing_kernel *kernel)
{
    if (!timing || !kernel || number >= timing->info.kernels)
        return false;
    *kernel = timing->groups[timing->rank[number]].sums;
    return true;
}

bool tg_timing_get_core(const struct tg_timing *timing, uint64_t number,
                        struct tg_timing_core *core)
{
    if (!timing || !core || number >= timing->info.cores)
        return false;
    *core = timing->cores[number];
    return true;
}

bool tg_timing_get_kind(const struct tg_timing *timing, uint64_t number,
                        struct tg_timing_core *kind)
{
    if (!timing || !kind || number >= timing->info.kinds)
        return false;
    *kind = timing->kinds[number];
    return true;
}

/* --- the largest ------------------------------------------------------------------------------- */

static uint64_t amount_of(const struct tg_timing *timing, uint32_t task, enum tg_timing_order order)
{
    if (!(timing->flags[task] & TG_TIMING_NODE))
        return 0;
    if (order == TG_TIMING_BY_WAIT)
        return timing->ready[task] == TG_NONE ? 0 : timing->begin[task] - timing->ready[task];
    if (order == TG_TIMING_BY_PATH_RUN && !(timing->flags[task] & TG_TIMING_ON_PATH))
        return 0;
    return tg_timing_run(timing, task);
}

struct amount {
    uint64_t amount;
    uint32_t task;
};

static int by_amount(const void *a, const void *b)
{
    const struct amount *left = a, *right = b;
    if (left->amount != right->amount)
        return left->amount > right->amount ? -1 : 1;
    return (left->task > right->task) - (left->task < right->task);
}

uint64_t tg_timing_rank(const struct tg_timing *timing, enum tg_timing_order order, uint64_t most,
                        uint64_t *number)
{
    uint64_t count = 0;
    if (!timing || !number || (unsigned)order >= TG_TIMING_ORDERS)
        return 0;
    struct amount *list = malloc((timing->line.n_tasks + 1) * sizeof *list);
    if (!list)
        return 0;
    for (uint32_t i = 0; i < timing->line.n_tasks; i++) {
        list[count] = (struct amount){amount_of(timing, i, order), i};
        count += list[count].amount > 0;
    }
    qsort(list, count, sizeof *list, by_amount);
    if (count > most)
        count = most;
    for (uint64_t i = 0; i < count; i++)
        number[i] = list[i].task;
    free(list);
    return count;
}
