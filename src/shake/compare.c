/* SPDX-License-Identifier: Apache-2.0 */
/* How two runs of the same case differ. */
#include <stdio.h>
#include <string.h>

#include "analysis/deps.h"
#include "shake/outcome.h"
#include <taskglass/wire/record.h>

#define WORD(constant, number, word, text) word,
#define MEANING(constant, number, word, text) text,

const char *tg_shake_result_name(unsigned result)
{
    static const char *const words[] = {TG_SHAKE_RESULT_MAP(WORD)};
    return result < TG_SHAKE_RESULTS ? words[result] : "unknown";
}

const char *tg_shake_result_text(unsigned result)
{
    static const char *const texts[] = {TG_SHAKE_RESULT_MAP(MEANING)};
    return result < TG_SHAKE_RESULTS ? texts[result] : "unknown";
}

const char *tg_shake_change_name(unsigned change)
{
    static const char *const words[] = {TG_SHAKE_CHANGE_MAP(WORD)};
    return change < TG_SHAKE_CHANGES ? words[change] : "unknown";
}

const char *tg_shake_change_text(unsigned change)
{
    static const char *const texts[] = {TG_SHAKE_CHANGE_MAP(MEANING)};
    return change < TG_SHAKE_CHANGES ? texts[change] : "unknown";
}

/* The worst change so far is kept. */
static void raise_to(struct tg_shake_difference *difference, uint32_t change)
{
    if (difference->change < change)
        difference->change = change;
}

/* --- outputs ------------------------------------------------------------------------------------ */

static void compare_outputs(const struct tg_outcome *base, const struct tg_outcome *run,
                            struct tg_shake_difference *difference)
{
    for (uint32_t i = 0; i < base->n_outputs && i < run->n_outputs; i++) {
        const struct tg_outcome_output *a = &base->output[i], *b = &run->output[i];
        bool is_wrong = a->is_golden && !b->is_golden;
        uint32_t change = is_wrong                                   ? TG_CHANGE_GOLDEN
                          : a->hash != b->hash || a->size != b->size ? TG_CHANGE_OUTPUT
                                                                     : TG_CHANGE_NONE;
        if (change <= difference->change)
            continue;
        raise_to(difference, change);
        snprintf(difference->output, sizeof difference->output, "%s", b->name);
    }
}

static void compare_ends(const struct tg_outcome *base, const struct tg_outcome *run,
                         struct tg_shake_difference *difference)
{
    difference->status = run->status;
    snprintf(difference->text, sizeof difference->text, "%s", run->text);
    if (run->status == TG_MISMATCH && base->status == TG_OK)
        raise_to(difference, TG_CHANGE_GOLDEN);
    else if (run->status != base->status)
        raise_to(difference, TG_CHANGE_DEVICE);
}

/* --- tasks -------------------------------------------------------------------------------------- */

static bool is_alike(const struct tg_deps_task *a, const struct tg_deps_task *b)
{
    for (int i = 0; i < TG_PARTS; i++) {
        if (!a->kernel[i] != !b->kernel[i])
            return false;
        if (a->kernel[i] && strcmp(a->kernel[i], b->kernel[i]) != 0)
            return false;
    }
    return a->id == b->id;
}

/* A run that failed may have submitted fewer tasks. */
static void compare_task_lists(const struct tg_outcome *base, const struct tg_outcome *run,
                               struct tg_shake_difference *difference)
{
    if (!base->deps || !run->deps || difference->change == TG_CHANGE_DEVICE)
        return;
    uint32_t a = base->deps->n_tasks, b = run->deps->n_tasks, n = 0;
    while (n < a && n < b && is_alike(&base->deps->task[n], &run->deps->task[n]))
        n++;
    if (n == a && n == b)
        return;
    raise_to(difference, TG_CHANGE_TASKS);
    difference->has_task = true;
    tg_outcome_describe(n < b ? run : base, n < b ? run->deps->task[n].id : base->deps->task[n].id,
                        &difference->task);
}

/* The records of one task: from the first with its id to the one before `end`. */
struct span {
    uint64_t first, end;
};

static struct span records_of(const struct tg_outcome *outcome, uint64_t task)
{
    uint64_t low = 0, high = outcome->n_records;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (outcome->record[middle].task < task)
            low = middle + 1;
        else
            high = middle;
    }
    struct span span = {low, low};
    while (span.end < outcome->n_records && outcome->record[span.end].task == task)
        span.end++;
    return span;
}

/* What differs in one task: the first argument, and whether it differs already before the task. */
struct task_change {
    bool reads, writes;
    uint32_t read_argument, written_argument;
};

static void note_change(const struct tg_outcome_record *record, struct task_change *change)
{
    if (record->stage == TG_BEFORE_DISPATCH && !change->reads) {
        change->reads = true;
        change->read_argument = record->argument;
    } else if (record->stage == TG_AFTER_COMPLETION && !change->writes) {
        change->writes = true;
        change->written_argument = record->argument;
    }
}

/* Records that only one run has are left out: a run that failed lacks some. */
static struct task_change compare_task(const struct tg_outcome *base, const struct tg_outcome *run,
                                       uint64_t task)
{
    struct span a = records_of(base, task), b = records_of(run, task);
    struct task_change change = {0};
    while (a.first < a.end && b.first < b.end) {
        const struct tg_outcome_record *x = &base->record[a.first], *y = &run->record[b.first];
        int which = x->stage != y->stage ? x->stage - y->stage : x->argument - y->argument;
        if (which == 0 && x->hash != y->hash)
            note_change(y, &change);
        a.first += which <= 0;
        b.first += which >= 0;
    }
    return change;
}

/* The first task, in the order of the run, that read or wrote other bytes. If `alone`, only one that wrote
 * other bytes although it read the same. */
static void compare_tasks(const struct tg_outcome *base, const struct tg_outcome *run, bool alone,
                          struct tg_shake_difference *difference)
{
    for (uint64_t i = 0; i < run->n_starts; i++) {
        struct task_change change = compare_task(base, run, run->start[i]);
        difference->tasks += change.writes;
        if (change.writes)
            raise_to(difference, TG_CHANGE_TASK);
        if (difference->has_task || (!change.reads && !change.writes) || (alone && change.reads))
            continue;
        difference->has_task = true;
        difference->reads = change.reads;
        difference->argument = change.reads ? change.read_argument : change.written_argument;
        tg_outcome_describe(run, run->start[i], &difference->task);
    }
}

void tg_outcome_compare(const struct tg_outcome *base, const struct tg_outcome *run,
                        struct tg_shake_difference *difference)
{
    memset(difference, 0, sizeof *difference);
    compare_outputs(base, run, difference);
    compare_ends(base, run, difference);
    compare_task_lists(base, run, difference);
    compare_tasks(base, run, false, difference);
}

bool tg_outcome_repeats(const struct tg_outcome *first, const struct tg_outcome *again, bool strict,
                        struct tg_shake_difference *difference)
{
    memset(difference, 0, sizeof *difference);
    compare_outputs(first, again, difference);
    compare_ends(first, again, difference);
    compare_task_lists(first, again, difference);
    compare_tasks(first, again, true, difference);
    return difference->change <= (strict ? TG_CHANGE_NONE : TG_CHANGE_TASK);
}
