/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inputs of a task agree only if all of them are known to agree. No file lists which inputs a
 * task has, so these signs show that one is missing:
 *
 *   - the pair exists, but one side is missing, or nothing decides whether the two are equal;
 *   - a number is missing: arguments are numbered without gaps;
 *   - other tasks of the same kernel have this argument, and records were lost;
 *   - no task of the recordings has an input, because a filter left them out;
 *   - both recordings were filtered, so that the last arguments may be missing on both sides.
 */
#include <math.h>
#include <stdlib.h>
#include <taskglass/wire/stream.h>

#include "analysis/blame.h"
#include "recording/reader.h"

/* One bit per argument number; numbers above 63 do not occur. */
static uint64_t bit_of(unsigned arg)
{
    return arg < 64 ? UINT64_C(1) << arg : 0;
}

/* The arguments that the tasks of one kernel have, over both recordings. */
struct usage {
    const char *kernel;
    uint64_t inputs;
};

struct survey {
    struct usage *usage; /* keyed by the pointer to the kernel's name */
    size_t count;
    bool has_losses;
    bool has_inputs;   /* at least one task has an input */
    bool is_selective; /* both recordings left arguments out on purpose */
};

static int by_kernel(const void *a, const void *b)
{
    uintptr_t left = (uintptr_t)((const struct usage *)a)->kernel;
    uintptr_t right = (uintptr_t)((const struct usage *)b)->kernel;
    return (left > right) - (left < right);
}

static uint64_t inputs_of(const struct tg_tasks *tasks, const struct tg_task_row *row)
{
    uint64_t inputs = 0;
    for (uint64_t i = row->first; i < row->first + row->count; i++)
        if (tg_record_ref_stage(&tasks->ref[i]) == TG_BEFORE_DISPATCH)
            inputs |= bit_of(tasks->ref[i].place & 0xff);
    return inputs;
}

static void add_usage(struct survey *survey, const struct tg_tasks *tasks)
{
    for (uint32_t i = 0; i < tasks->n_rows; i++)
        if (tasks->row[i].id != TG_TASK_NONE) {
            uint64_t inputs = inputs_of(tasks, &tasks->row[i]);
            survey->usage[survey->count++] = (struct usage){tasks->row[i].kernel, inputs};
            survey->has_inputs = survey->has_inputs || inputs;
        }
}

static bool has_losses(const struct tg_tasks *tasks)
{
    uint64_t lost = tasks->damaged + !tasks->info.complete;
    for (int i = 0; i < TG_LOSS_CAUSES; i++)
        lost += tasks->info.summary.lost[i];
    return lost > 0;
}

/* True if arguments may be missing that nothing speaks of. */
static bool is_selective(const struct tg_tasks *tasks)
{
    return tasks->info.level == TG_LEVEL_MARKED || tg_recording_was_filtered(tasks->recording);
}

static bool make_survey(const struct tg_diff *diff, struct survey *survey)
{
    size_t kept = 0;
    *survey = (struct survey){.has_losses = has_losses(&diff->a) || has_losses(&diff->b),
                              .is_selective = is_selective(&diff->a) && is_selective(&diff->b)};
    survey->usage = malloc(((size_t)diff->a.n_rows + diff->b.n_rows + 1) * sizeof *survey->usage);
    if (!survey->usage)
        return false;
    add_usage(survey, &diff->a);
    add_usage(survey, &diff->b);
    qsort(survey->usage, survey->count, sizeof *survey->usage, by_kernel);
    for (size_t i = 0; i < survey->count; i++) {
        if (kept > 0 && survey->usage[kept - 1].kernel == survey->usage[i].kernel)
            survey->usage[kept - 1].inputs |= survey->usage[i].inputs;
        else
            survey->usage[kept++] = survey->usage[i];
    }
    survey->count = kept;
    return true;
}

static uint64_t usual_inputs(const struct survey *survey, const char *kernel)
{
    struct usage key = {.kernel = kernel};
    const struct usage *found = bsearch(&key, survey->usage, survey->count, sizeof key, by_kernel);
    return found ? found->inputs : 0;
}

/* --- places ----------------------------------------------------------------------------------- */

/* The pairs of a fused task are records of several tasks, so they are read. */
static void place_fused(struct tg_blame *blame, const struct tg_matched_task *task)
{
    for (uint64_t i = task->first_pair; i < task->first_pair + task->n_pairs; i++) {
        struct tg_entry entry;
        bool good = tg_blame_get(blame, i, 0, &entry) || tg_blame_get(blame, i, 1, &entry);
        blame->place[i] = good ? (uint16_t)(entry.record.stage << 8 | entry.record.arg_index)
                               : (uint16_t)(TG_STAGE_ORCHESTRATION << 8);
    }
}

/* The pairs of a task and the records of its rows are in the same order, so the stage and the
 * argument of each pair are known without reading a record. */
static void place_pairs(struct tg_blame *blame, uint32_t number)
{
    const struct tg_diff *diff = blame->diff;
    const struct tg_matched_task *task = &diff->match.task[number];
    if (task->is_fused)
        place_fused(blame, task);
    if (task->n_pairs == 0 || task->is_fused)
        return;
    const struct tg_record_ref *a = diff->a.ref + diff->a.row[task->a].first;
    const struct tg_record_ref *b = diff->b.ref + diff->b.row[task->b].first;
    for (uint64_t i = task->first_pair; i < task->first_pair + task->n_pairs; i++) {
        const struct tg_matched_pair *pair = &diff->match.pair[i];
        const struct tg_record_ref *ref = pair->a != TG_NONE ? a : b;
        blame->place[i] = (uint16_t)ref->place;
        a += pair->a != TG_NONE;
        b += pair->b != TG_NONE;
    }
}

/* --- one task --------------------------------------------------------------------------------- */

struct reading {
    struct tg_blame *blame;
    const struct survey *survey;
    uint32_t number;
    uint64_t seen;   /* arguments seen at any stage, on either side */
    uint64_t inputs; /* those seen before dispatch */
    bool differs, unknown;
};

static bool is_worse(const struct tg_diff *diff, uint64_t pair, uint64_t than)
{
    if (than == TG_NONE)
        return true;
    if (tg_diff_is_beyond(diff, pair) != tg_diff_is_beyond(diff, than))
        return tg_diff_is_beyond(diff, pair);
    float error = diff->state[pair].error, other = diff->state[than].error;
    return error > other || (isnan(other) && !isnan(error));
}

static void read_output(struct reading *reading, uint64_t pair, enum tg_agreement agreement)
{
    const struct tg_diff *diff = reading->blame->diff;
    struct tg_blame_task *task = &reading->blame->task[reading->number];
    if (agreement == TG_DISAGREES) {
        task->output = TG_DISAGREES;
        task->beyond_out = task->beyond_out || tg_diff_is_beyond(diff, pair);
        if (is_worse(diff, pair, task->pair))
            task->pair = pair;
    } else if (agreement == TG_AGREES && task->output == TG_AGREEMENT_UNKNOWN) {
        task->output = TG_AGREES;
    }
}

static void read_pair(struct reading *reading, uint64_t pair)
{
    const struct tg_diff *diff = reading->blame->diff;
    struct tg_blame_task *task = &reading->blame->task[reading->number];
    enum tg_agreement agreement = tg_diff_agreement(diff, pair);
    unsigned arg = reading->blame->place[pair] & 0xff;
    unsigned stage = tg_blame_stage(reading->blame, pair);
    reading->seen |= bit_of(arg);
    if (stage == TG_AFTER_COMPLETION) {
        read_output(reading, pair, agreement);
    } else if (stage == TG_BEFORE_DISPATCH) {
        reading->inputs |= bit_of(arg);
        reading->differs = reading->differs || agreement == TG_DISAGREES;
        reading->unknown = reading->unknown || agreement == TG_AGREEMENT_UNKNOWN;
        task->beyond_in = task->beyond_in || tg_diff_is_beyond(diff, pair);
    }
}

/* True if an argument number below the highest one has no record. */
static bool has_gaps(uint64_t seen)
{
    return (seen & (seen + 1)) != 0;
}

static bool misses_inputs(const struct reading *reading, const char *kernel)
{
    const struct survey *survey = reading->survey;
    if (reading->seen == 0 || has_gaps(reading->seen) || survey->is_selective)
        return true;
    if (survey->has_losses && (usual_inputs(survey, kernel) & ~reading->seen))
        return true;
    return reading->inputs == 0 && !survey->has_inputs;
}

static void read_task(struct reading *reading)
{
    const struct tg_diff *diff = reading->blame->diff;
    const struct tg_matched_task *matched = &diff->match.task[reading->number];
    struct tg_blame_task *task = &reading->blame->task[reading->number];
    *task = (struct tg_blame_task){.pair = TG_NONE};
    if (matched->a == TG_NO_ROW || matched->b == TG_NO_ROW)
        return;
    for (uint64_t i = 0; i < matched->n_pairs; i++)
        read_pair(reading, matched->first_pair + i);
    if (reading->differs)
        task->input = TG_DISAGREES;
    else if (reading->unknown ||
             (!matched->is_fused && misses_inputs(reading, diff->a.row[matched->a].kernel)))
        task->input = TG_AGREEMENT_UNKNOWN;
    else
        task->input = TG_AGREES;
}

bool tg_blame_read_tasks(struct tg_blame *blame)
{
    uint32_t count = blame->diff->match.n_tasks;
    struct survey survey;
    blame->task = malloc(((size_t)count + 1) * sizeof *blame->task);
    blame->place = malloc((size_t)(blame->diff->match.n_pairs + 1) * sizeof *blame->place);
    if (!blame->task || !blame->place || !make_survey(blame->diff, &survey))
        return false;
    blame->is_whole =
        !survey.has_losses && !is_selective(&blame->diff->a) && !is_selective(&blame->diff->b);
    for (uint32_t i = 0; i < count; i++) {
        struct reading reading = {.blame = blame, .survey = &survey, .number = i};
        place_pairs(blame, i);
        read_task(&reading);
        blame->wrong += blame->task[i].beyond_out;
    }
    free(survey.usage);
    return true;
}
