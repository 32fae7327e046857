/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges a task by its trials. First a few trials in one launch: they end, change nothing outside, and give
 * the same outputs, or the task is examined. An examination runs one trial at a time: nothing else is in the
 * arena then, and trials that are compared have the same addresses and differ in one thing alone.
 */
#include "host/guarded.h"
#include "base/error.h"
#include "host/device.h"
#include "host/guard_finding.h"
#include "host/guard_trial.h"
#include <stdlib.h>
#include <string.h>

tg_status tg_guarded_open(struct tg_guard_bench *bench, struct tg_guarded **guarded,
                          struct tg_error *error)
{
    *guarded = calloc(1, sizeof **guarded);
    if (*guarded == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    (*guarded)->bench = bench;
    tg_guard_patterns_make(&(*guarded)->patterns);
    return TG_OK;
}

void tg_guarded_close(struct tg_guarded *g)
{
    if (g == NULL)
        return;
    tg_guard_trials_leave(g);
    for (uint32_t i = 0; i < TG_GUARD_TRIALS; i++) {
        free(g->trial[i].before);
        free(g->trial[i].after);
    }
    tg_guard_memory_free(&g->memory);
    free(g->now);
    free(g->next);
    free(g);
}

/* ── the first look ────────────────────────────────────────────────────────────────────── */

static void plan(const struct tg_guarded *g, struct tg_guard_trial *trial, enum tg_guard_side side,
                 uint8_t pattern)
{
    trial->plan = (struct tg_guard_plan){.side = side, .has_pages = g->has_pages};
    trial->fill = (struct tg_guard_fill){
        .output = pattern, .gap = pattern, .zone = pattern, .other_block = -1};
}

/* The trials of the first look; returns how many there are. Patterns differ between any two. */
static uint32_t plan_look(struct tg_guarded *g, struct tg_guard_trial *trial[TG_GUARD_TRIALS])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < TG_GUARD_TRIALS; i++)
        trial[i] = &g->trial[i];
    plan(g, trial[n++], g->has_pages ? TG_GUARD_END : TG_GUARD_LOOSE, 0);
    plan(g, trial[n++], g->has_pages ? TG_GUARD_END : TG_GUARD_LOOSE, 1);
    plan(g, trial[n++], g->has_pages ? TG_GUARD_BEGIN : TG_GUARD_LOOSE, 2);
    if (g->has_pages && tg_guard_is_tighter(&g->memory))
        plan(g, trial[n++], TG_GUARD_TIGHT, 3);
    /* Reads of all else fault. */
    if (!g->has_pages || g->memory.has_outputs || g->memory.has_gaps)
        plan(g, trial[n++], g->has_pages ? TG_GUARD_END : TG_GUARD_LOOSE, 4);
    return n;
}

static bool same_outputs(const struct tg_guard_memory *m, const struct tg_guard_trial *a,
                         const struct tg_guard_trial *b)
{
    for (uint32_t i = 0; i < m->n_blocks; i++)
        if (!tg_guard_is_same(&m->block[i], tg_guard_after(a, i), tg_guard_after(b, i)))
            return false;
    return true;
}

static bool is_clean(const struct tg_guard_memory *m, const struct tg_guard_trial *t)
{
    for (uint32_t i = 0; i < m->n_blocks; i++)
        if (!tg_guard_is_clean(&m->block[i], &t->place[i], t->before + t->place[i].buffer,
                               t->after + t->place[i].buffer))
            return false;
    return true;
}

/* True if nothing in the trials deserves a closer look. */
static tg_status look(struct tg_guarded *g, bool *is_good, struct tg_error *error)
{
    struct tg_guard_trial *trial[TG_GUARD_TRIALS];
    struct tg_guard_failure failure;
    uint32_t n = plan_look(g, trial), ended;
    tg_status status = tg_guard_trials_run(g, trial, n, &ended, &failure, error);
    *is_good = status == TG_OK && ended == n;
    /* A task that fits the device only alone is examined at once. */
    if (status == TG_NO_MEMORY)
        return TG_OK;
    for (uint32_t i = 0; i < n && *is_good; i++)
        *is_good = is_clean(&g->memory, trial[i]) &&
                   (i == 0 || same_outputs(&g->memory, trial[0], trial[i]));
    return status;
}

/* ── the examination ───────────────────────────────────────────────────────────────────── */

/* The base, one trial for each other pattern, and one for all else. */
enum { BASE = 0, OTHER = 1, SCRATCH = TG_GUARD_PATTERNS };

struct examination {
    struct tg_guarded *g;
    struct tg_guard_report *report;
    struct tg_error *error;
    tg_status status; /* of the first call that failed; nothing runs after that */
    bool is_over;     /* the kernel does not end, so no more can be found */
    uint32_t block; /* at which the last trial faulted; UINT32_MAX: at none, or it did not fault */
};

/* The block that is as far from the place of a fault in both trials; UINT32_MAX: none. */
static uint32_t block_of_both(const struct tg_guard_memory *m, const struct tg_guard_place *place_a,
                              uint64_t at_a, const struct tg_guard_place *place_b, uint64_t at_b)
{
    for (uint32_t b = 0; b < m->n_blocks; b++)
        if (at_a - place_a[b].data == at_b - place_b[b].data)
            return b;
    return UINT32_MAX;
}

/* Finds the block from which a kernel came to the place of its fault, which may lie nearer to another one: runs the
 * trial again with the blocks farther apart. */
static void trace_back(struct examination *x, const struct tg_guard_trial *trial,
                       struct tg_guard_failure *failure)
{
    struct tg_guarded *g = x->g;
    struct tg_guard_trial *again = &g->trial[SCRATCH];
    struct tg_guard_place place[TG_MAX_TENSORS];
    struct tg_guard_failure other;
    uint32_t ended;
    if (failure->end != TG_GUARD_FAULTED || !failure->has_place || g->memory.n_blocks < 2)
        return;
    memcpy(place, trial->place, sizeof place);
    struct tg_guard_plan plan = trial->plan;
    again->fill = trial->fill;
    again->plan = plan;
    again->plan.spread = TG_GUARD_BYTES;
    x->status = tg_guard_trials_run(g, &again, 1, &ended, &other, x->error);
    if (x->status == TG_OK && other.end == TG_GUARD_FAULTED && other.has_place)
        failure->block = block_of_both(&g->memory, place, failure->at, again->place, other.at);
    if (again == trial) {
        again->plan = plan;
        memcpy(again->place, place, sizeof place);
    }
}

/* Runs one trial. False if it did not end, or could not be run. */
static bool try(struct examination *x, struct tg_guard_trial *trial)
{
    struct tg_guard_failure failure;
    uint32_t ended = 0;
    x->block = UINT32_MAX;
    if (x->status != TG_OK || x->is_over)
        return false;
    x->status = tg_guard_trials_run(x->g, &trial, 1, &ended, &failure, x->error);
    if (x->status != TG_OK)
        return false;
    if (failure.end == TG_GUARD_ENDED) {
        tg_guard_find_writes(&x->g->memory, trial, x->report);
        return true;
    }
    /* Less alignment than the recorded address had is no fault of the kernel. TIGHT has less; the others may
     * have it where a kernel relies on the remainders of two addresses, which LOOSE keeps. */
    if (!failure.has_place && (trial->plan.side == TG_GUARD_TIGHT ||
                               (trial->plan.side != TG_GUARD_LOOSE && failure.is_odd)))
        return false;
    trace_back(x, trial, &failure);
    x->block = tg_guard_find_failure(&x->g->memory, trial, &failure, x->report);
    x->is_over = failure.end != TG_GUARD_FAULTED;
    return false;
}

/* Lets the kernel fault at the first byte outside that it touches. Then it may touch that block, to see whether
 * it faults at another one, too. True if it faulted at one that had not faulted before. */
static bool try_side(struct examination *x, enum tg_guard_side side)
{
    struct tg_guard_trial *trial = &x->g->trial[SCRATCH];
    uint32_t found = x->report->misuse, loose = 0;
    do {
        plan(x->g, trial, side, 0);
        trial->plan.loose = loose;
        (void)try(x, trial);
        loose |= x->block < TG_MAX_TENSORS ? UINT32_C(1) << x->block : 0;
    } while (x->block != UINT32_MAX && loose != trial->plan.loose);
    return x->report->misuse > found;
}

static void try_pages(struct examination *x)
{
    if (!x->g->has_pages)
        return;
    (void)try_side(x, TG_GUARD_BEGIN);
    /* A device that is lost costs more than a trial: what faults at END has faulted at TIGHT. */
    if (!tg_guard_is_tighter(&x->g->memory) || !try_side(x, TG_GUARD_TIGHT))
        (void)try_side(x, TG_GUARD_END);
}

static void plan_base(const struct examination *x, struct tg_guard_trial *trial)
{
    plan(x->g, trial, TG_GUARD_LOOSE, 0);
}

/* True if a trial that has ended gave other outputs than the base, and does so again, while the base stays as
 * it is. Otherwise the outputs vary by themselves, and no trial of this task can tell what it reads. */
static bool has_changed(struct examination *x, const struct tg_guard_trial *trial)
{
    struct tg_guarded *g = x->g;
    struct tg_guard_trial *scratch = &g->trial[SCRATCH];
    if (x->report->varies || same_outputs(&g->memory, &g->trial[BASE], trial))
        return false;
    scratch->plan = trial->plan;
    scratch->fill = trial->fill;
    if (!try(x, scratch))
        return false;
    x->report->varies |= !same_outputs(&g->memory, trial, scratch);
    plan_base(x, scratch);
    if (!try(x, scratch))
        return false;
    x->report->varies |= !same_outputs(&g->memory, &g->trial[BASE], scratch);
    return !x->report->varies;
}

/* Old contents of outputs: what never changes was never written, and what changes depends on them. */
static void try_outputs(struct examination *x)
{
    struct tg_guarded *g = x->g;
    const struct tg_guard_trial *trial[TG_GUARD_PATTERNS] = {&g->trial[BASE]};
    bool changes = false;
    if (!g->memory.has_outputs)
        return;
    for (uint32_t pattern = 1; pattern < TG_GUARD_PATTERNS; pattern++) {
        struct tg_guard_trial *t = &g->trial[pattern];
        trial[pattern] = t;
        plan_base(x, t);
        t->fill.output = (uint8_t)pattern;
        if (!try(x, t))
            return;
        changes |= has_changed(x, t);
    }
    tg_guard_find_unwritten(&g->memory, trial, TG_GUARD_PATTERNS, x->report);
    if (changes && !x->report->varies)
        tg_guard_find_old(&g->memory, trial, TG_GUARD_PATTERNS, x->report);
}

/* ── reads ─────────────────────────────────────────────────────────────────────────────── */

/* A piece of a block's region that is filled with another pattern than the rest. */
struct piece {
    uint32_t block;
    bool in_zone;
    uint8_t pattern;
    uint64_t from, to;
};

static bool piece_matters(struct examination *x, const struct piece *p)
{
    struct tg_guard_trial *t = &x->g->trial[OTHER];
    plan_base(x, t);
    t->fill.other_block = (int)p->block;
    t->fill.in_zone = p->in_zone;
    t->fill.other_pattern = p->pattern;
    t->fill.from = p->from;
    t->fill.to = p->to;
    return try(x, t) && has_changed(x, t);
}

/* Finds the first byte of a piece that matters, or with from_end the last one: where a change of all bytes up to
 * there begins to matter. A change of parts of an element may not matter, so the piece is only cut at one end. */
static void narrow(struct examination *x, const struct piece *p, bool from_end)
{
    const struct tg_guard_place *place = &x->g->trial[BASE].place[p->block];
    uint64_t data = place->data - place->region, low = p->from, high = p->to;
    while (high - low > 1 && x->status == TG_OK && !x->is_over && !x->report->varies) {
        uint64_t middle = low + (high - low) / 2;
        struct piece part = *p;
        if (from_end)
            part.from = middle;
        else
            part.to = middle;
        if (piece_matters(x, &part) == from_end)
            low = middle;
        else
            high = middle;
    }
    if (x->status == TG_OK && !x->report->varies)
        tg_guard_find_read(&x->g->memory, p->block, (int64_t)low - (int64_t)data, x->report);
}

/* True if a fault has shown such a read already, with its line. */
static bool is_known(const struct examination *x, uint32_t b, uint32_t kind)
{
    for (uint32_t i = 0; i < x->report->n_findings; i++) {
        const struct tg_guard_finding *f = &x->report->finding[i];
        if (f->kind == kind && f->argument != UINT32_MAX && x->g->memory.block_of[f->argument] == b)
            return true;
    }
    return false;
}

/* Finds reads of a block's zones and gaps that change an output. */
static void try_block(struct examination *x, uint32_t b, uint8_t pattern)
{
    const struct tg_guard_block *block = &x->g->memory.block[b];
    const struct tg_guard_place *place = &x->g->trial[BASE].place[b];
    uint64_t data = place->data - place->region, end = data + block->size;
    const struct piece piece[] = {
        {b, true, pattern, 0, data},
        {b, true, pattern, end, place->region_size},
        {b, false, pattern, data, end},
    };
    static const uint32_t kind[] = {TG_GUARD_READ_BEFORE, TG_GUARD_READ_BEHIND, TG_GUARD_READ_GAP};
    for (uint32_t i = 0; i < 3; i++)
        if ((i < 2 || block->has_gaps) && piece[i].from < piece[i].to && !is_known(x, b, kind[i]) &&
            piece_matters(x, &piece[i]))
            narrow(x, &piece[i], i == 0);
}

/* First all zones and gaps at once: most tasks read none. */
static void try_reads(struct examination *x)
{
    struct tg_guarded *g = x->g;
    for (uint32_t pattern = 1; pattern < TG_GUARD_PATTERNS; pattern++) {
        struct tg_guard_trial *t = &g->trial[OTHER];
        plan_base(x, t);
        t->fill.zone = t->fill.gap = (uint8_t)pattern;
        if (!try(x, t) || !has_changed(x, t))
            continue;
        uint32_t found = x->report->misuse;
        for (uint32_t b = 0; b < g->memory.n_blocks; b++)
            try_block(x, b, (uint8_t)pattern);
        if (x->report->misuse > found)
            return;
    }
}

static tg_status examine(struct tg_guarded *g, struct tg_guard_report *report,
                         struct tg_error *error)
{
    struct examination x = {.g = g, .report = report, .error = error};
    struct tg_guard_trial *base = &g->trial[BASE], *again = &g->trial[SCRATCH];
    try_pages(&x);
    plan_base(&x, base);
    plan_base(&x, again);
    if (try(&x, base) && try(&x, again)) {
        report->varies = !same_outputs(&g->memory, base, again);
        try_outputs(&x);
        if (!report->varies)
            try_reads(&x);
    }
    return x.status;
}

tg_status tg_guarded_run(struct tg_guarded *g, const struct tg_recorded_task *task,
                         struct tg_guard_report *report, struct tg_error *error)
{
    bool is_good = false;
    tg_status status = TG_OK;
    memset(report, 0, offsetof(struct tg_guard_report, finding));
    g->runs = 0;
    if (!tg_guard_memory_of(task, &g->memory))
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory for the task's arguments");
    if (g->bench->device == NULL || g->bench->device->lost) {
        tg_guard_trials_leave(g);
        status = g->bench->reopen(g->bench, error);
    }
    if (status != TG_OK)
        return status;
    g->has_pages = g->bench->device->ops->protect != NULL;
    report->has_pages = g->has_pages;
    status = look(g, &is_good, error);
    if (status == TG_OK && !is_good)
        status = examine(g, report, error);
    if (status != TG_OK)
        return status;
    report->on = true;
    report->runs = g->runs;
    tg_guard_write_texts(task, report);
    return TG_OK;
}
