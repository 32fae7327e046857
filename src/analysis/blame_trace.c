/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goes back from every task with an argument beyond the tolerance, along the data that disagree. Of
 * the inputs of a task, those beyond the tolerance explain what is wrong with it; only if there are
 * none, those that merely have other bits do. So a task that rounds differently is accused if its
 * rounding grew into something wrong, but not because something else did.
 */
#include <stdlib.h>

#include "analysis/blame.h"

void tg_blame_want(struct tg_blame *blame, uint32_t task)
{
    if (task == TG_NO_ROW || blame->task[task].is_wanted)
        return;
    blame->task[task].is_wanted = true;
    blame->todo[blame->n_todo++] = task;
}

/* --- tasks that both sides have --------------------------------------------------------------- */

static bool accuse_race(struct tg_blame *blame, const struct tg_blame_race *race, uint64_t pair)
{
    return tg_blame_accuse(blame, TG_GUILT_UNORDERED, race->task, pair, race->other);
}

static bool trace_introduced(struct tg_blame *blame, uint32_t task)
{
    struct tg_blame_race race;
    bool found;
    if (!tg_blame_task_race(blame, task, &race, &found))
        return false;
    if (found)
        return accuse_race(blame, &race, blame->task[task].pair);
    if (tg_blame_is_left_over(blame, task))
        return true;
    return tg_blame_accuse(blame, TG_GUILT_INTRODUCED, task, blame->task[task].pair, TG_NONE);
}

/* Some inputs are not known: if a task that they may come from disagrees, it is traced; if none
 * does, this task may have begun it. */
static bool trace_doubtful(struct tg_blame *blame, uint32_t task)
{
    const struct tg_matched_task *matched = &blame->diff->match.task[task];
    bool found = false;
    for (uint64_t i = matched->first_pair; i < matched->first_pair + matched->n_pairs; i++)
        if (tg_blame_stage(blame, i) == TG_BEFORE_DISPATCH &&
            tg_diff_agreement(blame->diff, i) == TG_AGREEMENT_UNKNOWN)
            found = tg_blame_doubt(blame, task, i) || found;
    if (!found)
        found = tg_blame_want_before(blame, task, TG_DISAGREES);
    return found || tg_blame_accuse(blame, TG_GUILT_UNCLEAR, task, blame->task[task].pair, TG_NONE);
}

static bool trace_inputs(struct tg_blame *blame, uint32_t task,
                         bool (*explain)(struct tg_blame *blame, uint32_t task, uint64_t pair))
{
    const struct tg_matched_task *matched = &blame->diff->match.task[task];
    bool beyond_only = blame->task[task].beyond_in;
    for (uint64_t i = matched->first_pair; i < matched->first_pair + matched->n_pairs; i++) {
        bool is_followed = beyond_only ? tg_diff_is_beyond(blame->diff, i)
                                       : tg_diff_agreement(blame->diff, i) == TG_DISAGREES;
        if (is_followed && tg_blame_stage(blame, i) == TG_BEFORE_DISPATCH &&
            !explain(blame, task, i))
            return false;
    }
    return true;
}

static bool has_own_output(const struct tg_blame *blame, uint32_t task)
{
    const struct tg_matched_task *matched = &blame->diff->match.task[task];
    for (uint64_t i = matched->first_pair; i < matched->first_pair + matched->n_pairs; i++)
        if (tg_blame_stage(blame, i) == TG_AFTER_COMPLETION && tg_blame_is_own_output(blame, i))
            return true;
    return false;
}

static bool trace_matched(struct tg_blame *blame, uint32_t task)
{
    const struct tg_blame_task *state = &blame->task[task];
    if (state->input == TG_DISAGREES)
        return trace_inputs(blame, task, tg_blame_explain);
    /* What is wrong may be what the other side's kernel does not write. */
    if (state->output == TG_AGREES)
        return !has_own_output(blame, task) ||
               tg_blame_accuse(blame, TG_GUILT_UNCLEAR, task, TG_NONE, TG_NONE);
    if (state->output == TG_DISAGREES && state->input == TG_AGREES)
        return trace_introduced(blame, task);
    return trace_doubtful(blame, task);
}

/* --- all of them ------------------------------------------------------------------------------ */

static void want_wrong_ones(struct tg_blame *blame)
{
    for (uint32_t i = 0; i < blame->diff->match.n_tasks; i++)
        if (blame->task[i].beyond_in || blame->task[i].beyond_out)
            tg_blame_want(blame, i);
}

/* Results that are right, in the wrong place. */
static bool accuse_misplaced(struct tg_blame *blame)
{
    const struct tg_match *match = &blame->diff->match;
    for (uint64_t i = 0; i < match->n_pairs; i++)
        if (blame->diff->state[i].reason == TG_REASON_PLACE &&
            !tg_blame_accuse(blame, TG_GUILT_VIEW, match->pair[i].task, i, TG_NONE))
            return false;
    return true;
}

/* True if the suspect with this number, the last one, began a difference by itself. */
static bool has_begun(const struct tg_blame *blame, uint64_t number)
{
    enum tg_guilt guilt =
        number < blame->n_suspects ? blame->suspect[number].guilt : TG_GUILT_INHERITED;
    return guilt == TG_GUILT_INTRODUCED || guilt == TG_GUILT_UNCLEAR;
}

/* Two tasks that changed their order wrote each other's inputs, so each explains the other. */
static bool trace_turns(struct tg_blame *blame)
{
    for (uint32_t i = 0; i < blame->diff->match.n_tasks; i++)
        if (blame->task[i].is_wanted && blame->task[i].input == TG_DISAGREES &&
            !trace_inputs(blame, i, tg_blame_explain_turn))
            return false;
    return true;
}

bool tg_blame_trace(struct tg_blame *blame)
{
    uint32_t count = blame->diff->match.n_tasks;
    blame->todo = malloc(((size_t)count + 1) * sizeof *blame->todo);
    if (!blame->todo)
        return false;
    if (!accuse_misplaced(blame) || !tg_blame_want_lone(blame))
        return false;
    want_wrong_ones(blame);
    while (blame->n_todo > 0) {
        uint32_t task = blame->todo[--blame->n_todo];
        uint64_t accused = blame->n_suspects;
        bool good = tg_blame_is_lone(blame, task) ? tg_blame_trace_lone(blame, task)
                                                  : trace_matched(blame, task);
        if (!good)
            return false;
        blame->inherited += blame->task[task].beyond_out && !has_begun(blame, accused);
    }
    return blame->n_suspects > 0 || trace_turns(blame);
}
