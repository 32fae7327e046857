/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inputs of a task agree only if all of them are known to agree. No file lists which inputs a
 * task has, so these signs show that one is missing:
 *
 *   - the pair exists, but one side is missing, or nothing decides whether the two are equal;
 *   - a number is missing: arguments are numbered without gaps;
 *   - other tasks of the same kernel have this argument, and records were lost;
 *   - the task has no input at all, although it waited for another task, or the whole recording has
 *     no inputs (a filter left them out).
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/blame.h"

enum tg_state tg_blame_pair_state(const struct tg_diff *diff, uint64_t pair)
{
    const struct tg_pair_state *state = &diff->state[pair];
    if (state->verdict == TG_VERDICT_SAME || state->verdict == TG_VERDICT_CLOSE)
        return TG_STATE_AGREES;
    if (state->verdict == TG_VERDICT_DIFFERS || state->reason == TG_REASON_OTHER_HASH)
        return TG_STATE_DIFFERS;
    return TG_STATE_UNKNOWN;
}

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
    bool has_inputs; /* at least one task has an input */
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

static bool make_survey(const struct tg_diff *diff, struct survey *survey)
{
    size_t kept = 0;
    *survey = (struct survey){.has_losses = has_losses(&diff->a) || has_losses(&diff->b)};
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

/* --- one task --------------------------------------------------------------------------------- */

struct reading {
    struct tg_blame *blame;
    const struct survey *survey;
    uint32_t number;
    uint64_t seen;   /* arguments seen at any stage, on either side */
    uint64_t inputs; /* those seen before dispatch */
    bool differs, unknown;
};

static unsigned stage_of(const struct tg_diff *diff, const struct tg_matched_pair *pair,
                         unsigned *arg)
{
    struct tg_entry entry;
    bool good = pair->a != TG_NONE ? tg_recording_get(diff->a.recording, pair->a, &entry)
                                   : tg_recording_get(diff->b.recording, pair->b, &entry);
    *arg = good ? entry.record.arg_index : UINT8_MAX;
    return good ? entry.record.stage : TG_STAGE_ORCHESTRATION;
}

static void read_output(struct reading *reading, uint64_t pair, enum tg_state state)
{
    struct tg_blame_task *task = &reading->blame->task[reading->number];
    float error = reading->blame->diff->state[pair].error;
    if (state == TG_STATE_DIFFERS) {
        task->output = TG_STATE_DIFFERS;
        if (task->pair == TG_NONE || error > task->error || (isnan(task->error) && !isnan(error))) {
            task->pair = pair;
            task->error = error;
        }
    } else if (state == TG_STATE_AGREES && task->output == TG_STATE_UNKNOWN) {
        task->output = TG_STATE_AGREES;
    }
}

static void read_pair(struct reading *reading, uint64_t pair)
{
    const struct tg_diff *diff = reading->blame->diff;
    enum tg_state state = tg_blame_pair_state(diff, pair);
    unsigned arg, stage = stage_of(diff, &diff->match.pair[pair], &arg);
    reading->seen |= bit_of(arg);
    if (stage == TG_AFTER_COMPLETION) {
        read_output(reading, pair, state);
    } else if (stage == TG_BEFORE_DISPATCH) {
        reading->inputs |= bit_of(arg);
        reading->differs = reading->differs || state == TG_STATE_DIFFERS;
        reading->unknown = reading->unknown || state == TG_STATE_UNKNOWN;
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
    const struct tg_links *before = &reading->blame->before;
    bool waits = before->first[reading->number + 1] > before->first[reading->number];
    if (has_gaps(reading->seen))
        return true;
    if (survey->has_losses && (usual_inputs(survey, kernel) & ~reading->seen))
        return true;
    return reading->inputs == 0 && (waits || !survey->has_inputs);
}

static void read_task(struct reading *reading)
{
    const struct tg_diff *diff = reading->blame->diff;
    const struct tg_matched_task *matched = &diff->match.task[reading->number];
    struct tg_blame_task *task = &reading->blame->task[reading->number];
    *task = (struct tg_blame_task){.pair = TG_NONE, .error = (float)NAN};
    if (matched->a == TG_NO_ROW || matched->b == TG_NO_ROW)
        return;
    for (uint64_t i = 0; i < matched->n_pairs; i++)
        read_pair(reading, matched->first_pair + i);
    if (reading->differs)
        task->input = TG_STATE_DIFFERS;
    else if (reading->unknown || misses_inputs(reading, diff->a.row[matched->a].kernel))
        task->input = TG_STATE_UNKNOWN;
    else
        task->input = TG_STATE_AGREES;
}

bool tg_blame_read_tasks(struct tg_blame *blame)
{
    uint32_t count = blame->diff->match.n_tasks;
    struct survey survey;
    blame->task = malloc(((size_t)count + 1) * sizeof *blame->task);
    if (!blame->task || !make_survey(blame->diff, &survey))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct reading reading = {.blame = blame, .survey = &survey, .number = i};
        read_task(&reading);
        blame->wrong += blame->task[i].output == TG_STATE_DIFFERS;
    }
    free(survey.usage);
    return true;
}
