/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over all events in the order of time: parts begin and end on cores, tasks become ready and
 * begin. Between two events nothing changes, so the pass adds the time between them to clocks that run only
 * while something holds, such as "a task is ready that an AIC core can run". What a core or a task saw of
 * such a clock is its value at the end minus its value at the beginning.
 *
 * The cores that a task needs are a code: 4 * AIC cores + AIV cores, up to three of each. Code 0 is one
 * core of any kind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/timing.h"

enum { EITHER = 0, ONE_AIV = 1, ONE_AIC = 4, CODES = 16 };
enum event { BEGIN, END, READY, START };
enum { KINDS = TG_CORE_KINDS + 1 }; /* AIC, AIV, (either), not known */

/* What runs on a core, and the clocks when it became idle. */
struct core_state {
    int64_t depth; /* files are not trusted: several parts may run at a time */
    uint64_t since, could, any;
};

struct sweep {
    struct tg_timing *timing;
    struct tg_timing_key *event, *spare;
    size_t count;
    uint64_t now;
    struct core_state *core;
    int64_t idle[KINDS];    /* cores that are idle, by kind */
    int64_t waiting[CODES]; /* tasks that are ready and have not begun */
    uint64_t could[KINDS];  /* clocks: a task is ready that a core of the kind could run alone */
    uint64_t any;           /* clock: a task is ready */
    uint64_t free_[CODES];  /* clocks: the cores of the code are idle */
    uint8_t used[CODES], n_used; /* the codes that tasks have */
};

/* --- what tasks need --------------------------------------------------------------------------- */

static uint32_t kind_of_core(const struct tg_timing *timing, uint32_t core)
{
    return core == TG_TIMELINE_NONE ? TG_CORE_KINDS : timing->line.core[core].kind;
}

/* Where the kernel may run; if the file does not say, where it did. */
static uint32_t kind_of_part(const struct tg_timing *timing, const struct tg_timeline_part *part)
{
    uint32_t kind =
        part->kernel == TG_TIMELINE_NONE ? TG_CORE_KINDS : timing->line.kernel[part->kernel].kind;
    return kind < TG_CORE_KINDS ? kind : kind_of_core(timing, part->core);
}

static uint8_t code_of(const struct tg_timing *timing, uint32_t task)
{
    const struct tg_timeline_task *from = &timing->line.task[task];
    unsigned aic = 0, aiv = 0;
    for (uint32_t i = 0; i < from->n_parts; i++) {
        uint32_t kind = kind_of_part(timing, &timing->line.part[from->first_part + i]);
        aic += kind == TG_AIC;
        aiv += kind == TG_AIV;
    }
    return (uint8_t)(4 * (aic < 3 ? aic : 3) + (aiv < 3 ? aiv : 3));
}

static bool is_free(const struct sweep *sweep, uint8_t code)
{
    int64_t unknown = sweep->idle[TG_CORE_KINDS];
    int64_t aic = sweep->idle[TG_AIC] + unknown, aiv = sweep->idle[TG_AIV] + unknown;
    if (code == EITHER)
        return sweep->idle[TG_AIC] + aiv > 0;
    return aic >= code / 4 && aiv >= code % 4;
}

/* --- the clocks -------------------------------------------------------------------------------- */

static void go_to(struct sweep *sweep, uint64_t time)
{
    uint64_t step = time - sweep->now;
    if (step == 0)
        return;
    sweep->now = time;
    int64_t all = 0;
    for (uint8_t i = 0; i < sweep->n_used; i++) {
        all += sweep->waiting[sweep->used[i]];
        if (is_free(sweep, sweep->used[i]))
            sweep->free_[sweep->used[i]] += step;
    }
    if (all == 0)
        return;
    int64_t aic = sweep->waiting[ONE_AIC] + sweep->waiting[EITHER];
    int64_t aiv = sweep->waiting[ONE_AIV] + sweep->waiting[EITHER];
    sweep->any += step;
    if (aic > 0)
        sweep->could[TG_AIC] += step;
    if (aiv > 0)
        sweep->could[TG_AIV] += step;
    if (aic + aiv > 0)
        sweep->could[TG_CORE_KINDS] += step;
}

static void end_idle(struct sweep *sweep, uint32_t number)
{
    struct core_state *state = &sweep->core[number];
    uint32_t kind = sweep->timing->line.core[number].kind;
    struct tg_timing_core *core = &sweep->timing->cores[number];
    uint64_t any = sweep->any - state->any, could = sweep->could[kind] - state->could;
    core->idle += sweep->now - state->since;
    core->latency += could;
    core->other += any - could;
    core->nothing += sweep->now - state->since - any;
    sweep->idle[kind]--;
}

static void begin_idle(struct sweep *sweep, uint32_t number)
{
    struct core_state *state = &sweep->core[number];
    uint32_t kind = sweep->timing->line.core[number].kind;
    state->since = sweep->now;
    state->any = sweep->any;
    state->could = sweep->could[kind];
    sweep->idle[kind]++;
}

static void meet(struct sweep *sweep, const struct tg_timing_key *event)
{
    struct tg_timing *timing = sweep->timing;
    uint32_t number = event->number;
    go_to(sweep, event->key);
    switch ((enum event)event->what) {
    case BEGIN:
        timing->cores[number].tasks++;
        if (sweep->core[number].depth++ == 0)
            end_idle(sweep, number);
        break;
    case END:
        if (sweep->core[number].depth-- == 1)
            begin_idle(sweep, number);
        break;
    case READY:
        timing->latency[number] = sweep->free_[timing->code[number]];
        sweep->waiting[timing->code[number]]++;
        break;
    case START:
        timing->latency[number] = sweep->free_[timing->code[number]] - timing->latency[number];
        timing->busy[number] =
            timing->begin[number] - timing->ready[number] - timing->latency[number];
        sweep->waiting[timing->code[number]]--;
        break;
    }
}

/* --- the events -------------------------------------------------------------------------------- */

static void add_event(struct sweep *sweep, uint64_t time, enum event what, uint32_t number)
{
    const struct tg_timing_info *info = &sweep->timing->info;
    if (time > info->end)
        time = info->end;
    sweep->event[sweep->count++] =
        (struct tg_timing_key){.key = time - info->start, .number = number, .what = what};
}

/* A part without an end occupies its core until the end of the span. */
static void add_part(struct sweep *sweep, const struct tg_timeline_part *part)
{
    uint64_t begin = tg_timing_part_begin(part);
    if (part->core == TG_TIMELINE_NONE || begin == TG_TIME_UNKNOWN)
        return;
    add_event(sweep, begin, BEGIN, part->core);
    add_event(sweep, tg_timing_part_end(part), END, part->core);
}

static void note_code(struct sweep *sweep, uint8_t code)
{
    for (uint8_t i = 0; i < sweep->n_used; i++)
        if (sweep->used[i] == code)
            return;
    sweep->used[sweep->n_used++] = code;
}

static void add_events(struct sweep *sweep)
{
    struct tg_timing *timing = sweep->timing;
    for (size_t i = 0; i < timing->line.n_parts; i++)
        add_part(sweep, &timing->line.part[i]);
    for (uint32_t i = 0; i < timing->line.n_tasks; i++) {
        timing->code[i] = code_of(timing, i);
        timing->busy[i] = timing->latency[i] = timing->ready[i] == TG_NONE ? TG_NONE : 0;
        if (timing->ready[i] == TG_NONE || timing->ready[i] == timing->begin[i])
            continue;
        note_code(sweep, timing->code[i]);
        add_event(sweep, timing->ready[i], READY, i);
        add_event(sweep, timing->begin[i], START, i);
    }
}

/* --- sums -------------------------------------------------------------------------------------- */

static void start_cores(struct sweep *sweep)
{
    struct tg_timing *timing = sweep->timing;
    for (uint32_t i = 0; i < timing->line.n_cores; i++) {
        const struct tg_timeline_core *core = &timing->line.core[i];
        timing->cores[i] = (struct tg_timing_core){
            .name = core->name, .number = core->number, .kind = core->kind, .cores = 1};
        begin_idle(sweep, i);
    }
}

static void finish_core(struct tg_timing *timing, struct tg_timing_core *core)
{
    core->run = timing->info.end - timing->info.start - core->idle;
    timing->info.run += core->run;
    timing->info.idle += core->idle;
    if (*timing->info.wait_unknown)
        core->nothing = core->other = core->latency = TG_NONE;
}

static void add_to_kind(struct tg_timing *timing, const struct tg_timing_core *core)
{
    static const char *const names[KINDS] = {
        [TG_AIC] = "AIC", [TG_AIV] = "AIV", [TG_EITHER] = "?", [TG_CORE_KINDS] = "?"};
    struct tg_timing_core *kind = NULL;
    for (uint64_t i = 0; i < timing->info.kinds && !kind; i++)
        if (timing->kinds[i].kind == core->kind)
            kind = &timing->kinds[i];
    if (!kind) {
        kind = &timing->kinds[timing->info.kinds++];
        *kind = (struct tg_timing_core){
            .name = names[core->kind], .number = TG_TIMELINE_NONE, .kind = core->kind};
    }
    kind->cores++;
    kind->tasks += core->tasks;
    kind->run += core->run;
    kind->idle += core->idle;
    if (*timing->info.wait_unknown) {
        kind->nothing = kind->other = kind->latency = TG_NONE;
        return;
    }
    kind->nothing += core->nothing;
    kind->other += core->other;
    kind->latency += core->latency;
}

static int by_number(const void *a, const void *b)
{
    const struct tg_timing_core *left = a, *right = b;
    return (left->number > right->number) - (left->number < right->number);
}

static int by_kind(const void *a, const void *b)
{
    const struct tg_timing_core *left = a, *right = b;
    return (left->kind > right->kind) - (left->kind < right->kind);
}

static void finish(struct sweep *sweep)
{
    struct tg_timing *timing = sweep->timing;
    go_to(sweep, timing->info.end - timing->info.start);
    for (uint32_t i = 0; i < timing->line.n_cores; i++) {
        if (sweep->core[i].depth <= 0)
            end_idle(sweep, i);
        finish_core(timing, &timing->cores[i]);
    }
    qsort(timing->cores, timing->line.n_cores, sizeof *timing->cores, by_number);
    for (uint32_t i = 0; i < timing->line.n_cores; i++)
        add_to_kind(timing, &timing->cores[i]);
    qsort(timing->kinds, timing->info.kinds, sizeof *timing->kinds, by_kind);
    timing->info.cores = timing->line.n_cores;
}

static void sum_waits(struct tg_timing *timing)
{
    struct tg_timing_info *info = &timing->info;
    info->dispatched = TG_NONE;
    if (*info->wait_unknown) {
        info->wait = info->wait_busy = TG_NONE;
        return;
    }
    for (uint32_t i = 0; i < timing->line.n_tasks; i++) {
        if (timing->ready[i] == TG_NONE)
            continue;
        uint64_t dispatch = timing->line.part[timing->line.task[i].first_part].dispatch;
        uint64_t given = dispatch > timing->ready[i] ? dispatch : timing->ready[i];
        info->wait += timing->begin[i] - timing->ready[i];
        info->wait_busy += timing->busy[i];
        info->waited += timing->begin[i] > timing->ready[i];
        if (dispatch != TG_TIME_UNKNOWN && given <= timing->begin[i])
            info->dispatched =
                (info->dispatched == TG_NONE ? 0 : info->dispatched) + timing->begin[i] - given;
    }
}

/* The work that only one kind of core can do, and all work, divided among the cores that can do it. */
static void bound_work(struct tg_timing *timing)
{
    uint64_t work[KINDS] = {0}, cores[KINDS] = {0};
    for (size_t i = 0; i < timing->line.n_cores; i++)
        cores[timing->line.core[i].kind]++;
    for (size_t i = 0; i < timing->line.n_parts; i++) {
        const struct tg_timeline_part *part = &timing->line.part[i];
        if (timing->flags[part->task] & TG_TIMING_NODE && part->core != TG_TIMELINE_NONE)
            work[kind_of_part(timing, part)] +=
                tg_timing_part_end(part) - tg_timing_part_begin(part);
    }
    uint64_t unknown = cores[TG_CORE_KINDS], all = 0;
    uint64_t able[3] = {cores[TG_AIC] + unknown, cores[TG_AIV] + unknown, timing->line.n_cores};
    for (int kind = 0; kind < KINDS; kind++)
        all += work[kind];
    uint64_t amount[3] = {work[TG_AIC], work[TG_AIV], all};
    for (int i = 0; i < 3; i++) {
        uint64_t share = able[i] > 0 ? amount[i] / able[i] + (amount[i] % able[i] > 0) : 0;
        if (share > timing->info.bound_work)
            timing->info.bound_work = share;
    }
    /* Parts of a file that is not trusted may overlap on a core. */
    if (timing->info.bound_work > timing->info.end - timing->info.start)
        timing->info.bound_work = timing->info.end - timing->info.start;
}

bool tg_timing_sweep(struct tg_timing *timing)
{
    struct sweep sweep = {.timing = timing};
    size_t room = 2 * timing->line.n_parts + 2 * timing->line.n_tasks + 1;
    sweep.event = malloc(room * sizeof *sweep.event);
    sweep.spare = malloc(room * sizeof *sweep.spare);
    sweep.core = calloc(timing->line.n_cores + 1, sizeof *sweep.core);
    bool good = sweep.event && sweep.spare && sweep.core;
    if (good) {
        start_cores(&sweep);
        add_events(&sweep);
        tg_timing_sort(sweep.event, sweep.spare, sweep.count,
                       timing->info.end - timing->info.start);
        for (size_t i = 0; i < sweep.count; i++)
            meet(&sweep, &sweep.event[i]);
        finish(&sweep);
        sum_waits(timing);
        bound_work(timing);
    }
    free(sweep.event);
    free(sweep.spare);
    free(sweep.core);
    return good;
}
