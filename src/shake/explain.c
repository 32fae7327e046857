/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a schedule that broke the case to an answer. No order is accused before the same schedule has given
 * the same result again, and the baseline too: a kernel that depends on the time or on memory that nobody
 * wrote differs under every schedule, and also under the same one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/deps.h"
#include "base/error.h"
#include "shake/session.h"

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "out of host memory for reducing a schedule");
}

static const struct tg_schedule fifo = {.policy = TG_SCHEDULE_FIFO};

/* Runs the schedule again. If that gives another result, the answer is UNSTABLE and *same is false. */
static tg_status repeat(struct tg_shake_session *s, const struct tg_schedule *schedule,
                        const char *keep, const struct tg_outcome *first, bool *same,
                        struct tg_error *error)
{
    struct tg_outcome again;
    struct tg_shake_difference difference, between;
    tg_status status = tg_session_try(s, schedule, keep, &again, &difference, error);
    if (status == TG_OK) {
        *same = tg_outcome_repeats(first, &again, s->threshold == TG_CHANGE_TASK, &between);
        if (!*same) {
            s->shake->info.result = TG_SHAKE_UNSTABLE;
            s->shake->info.difference = between;
        }
    }
    tg_outcome_clear(&again);
    return status;
}

static tg_status repeat_both(struct tg_shake_session *s, const struct tg_schedule *schedule,
                             const struct tg_outcome *failed, bool *same, struct tg_error *error)
{
    tg_status status = TG_OK;
    s->phase = TG_SHAKE_REPEAT;
    s->total = 4;
    *same = true;
    for (s->done = 0; s->done < 4 && status == TG_OK && *same; s->done++) {
        bool is_first = s->done == 0;
        status = s->done % 2
                     ? repeat(s, &fifo, NULL, &s->baseline, same, error)
                     : repeat(s, schedule, is_first ? "failing" : NULL, failed, same, error);
    }
    return status;
}

/* --- reducing ----------------------------------------------------------------------------------- */

struct reduction {
    struct tg_shake_session *session;
    struct tg_schedule_pair *pairs;
    tg_status status; /* of the run that could not be made */
    struct tg_error *error;
};

static enum tg_reduce_answer run_constraints(void *context, const struct tg_order *constraint,
                                             uint32_t n)
{
    struct reduction *r = context;
    struct tg_shake_session *s = r->session;
    struct tg_shake_difference difference;
    tg_session_pairs(s, constraint, n, r->pairs);
    struct tg_schedule schedule = {TG_SCHEDULE_ORDER, n, 0, r->pairs, 0};
    r->status = tg_session_try(s, &schedule, NULL, NULL, &difference, r->error);
    if (r->status != TG_OK)
        return TG_REDUCE_STOP;
    s->done++;
    return difference.change >= s->threshold ? TG_REDUCE_FAILS : TG_REDUCE_PASSES;
}

/* Races of the task that differs first are the likeliest. */
static void sort_suspects(struct tg_shake_session *s, const struct tg_shake_difference *difference)
{
    uint32_t place = tg_outcome_find(&s->baseline, difference->task.id), front = 0;
    for (uint32_t i = 0; difference->has_task && i < s->n_suspects; i++) {
        struct tg_order pair = s->suspect[i];
        if (pair.first != place && pair.second != place)
            continue;
        s->suspect[i] = s->suspect[front];
        s->suspect[front++] = pair;
    }
}

static tg_status reduce(struct tg_shake_session *s, const struct tg_outcome *failed,
                        struct tg_reduce_result *result, struct tg_error *error)
{
    uint32_t n = s->graph.n;
    size_t room = (n > s->n_suspects ? n : s->n_suspects) + (size_t)1;
    uint32_t *order = malloc(((size_t)n + 1) * sizeof *order);
    struct reduction reduction = {s, malloc(room * sizeof *reduction.pairs), TG_OK, error};
    struct tg_error failure;
    tg_status status = TG_OK;
    memset(result, 0, sizeof *result);
    if (!order || !reduction.pairs || !tg_outcome_order(failed, &s->baseline, order))
        status = no_memory(error);
    if (status == TG_OK) {
        struct tg_reduce_input input = {.graph = s->graph,
                                        .failing = order,
                                        .suspect = s->suspect,
                                        .n_suspects = s->n_suspects,
                                        .most = TG_MAX_SCHEDULE_PAIRS,
                                        .budget = s->config.reduce_runs,
                                        .confirm = 1,
                                        .fails = run_constraints,
                                        .context = &reduction};
        s->phase = TG_SHAKE_REDUCE;
        s->done = 0;
        s->total = s->config.reduce_runs;
        status = tg_reduce(&input, result, &failure);
        if (reduction.status != TG_OK) /* `error` says why that run could not be made */
            status = reduction.status;
        else if (status != TG_OK && error)
            *error = failure;
    }
    free(order);
    free(reduction.pairs);
    return status;
}

/* --- confirming --------------------------------------------------------------------------------- */

/* Runs the reduced schedule and the baseline in turn. All runs must give what their first gave. */
static tg_status confirm(struct tg_shake_session *s, const struct tg_schedule *schedule,
                         bool *confirmed, struct tg_error *error)
{
    struct tg_shake_info *info = &s->shake->info;
    struct tg_outcome first;
    tg_status status = tg_session_try(s, schedule, "reduced", &first, &info->difference, error);
    uint32_t runs = first.status == TG_HANG ? TG_SHAKE_CHECK_HANGS : TG_SHAKE_CHECKS;
    bool same = status == TG_OK && info->difference.change >= s->threshold;
    s->phase = TG_SHAKE_CONFIRM;
    s->total = runs;
    info->confirmed = same;
    for (s->done = 1; s->done < runs && status == TG_OK && same; s->done++) {
        status = repeat(s, schedule, NULL, &first, &same, error);
        info->confirmed += same;
        if (status == TG_OK && same)
            status = repeat(s, &fifo, NULL, &s->baseline, &same, error);
    }
    *confirmed = same;
    tg_outcome_clear(&first);
    return status;
}

static bool describe(struct tg_shake_session *s, const struct tg_reduce_result *reduced,
                     const struct tg_schedule *schedule)
{
    struct tg_shake *shake = s->shake;
    shake->constraint = calloc(reduced->n, sizeof *shake->constraint);
    shake->reduced = tg_session_text(schedule);
    if (!shake->constraint || !shake->reduced)
        return false;
    for (uint32_t i = 0; i < reduced->n; i++) {
        struct tg_shake_constraint *c = &shake->constraint[i];
        tg_outcome_describe(&s->baseline, schedule->pairs[i].before, &c->first);
        tg_outcome_describe(&s->baseline, schedule->pairs[i].after, &c->second);
        c->race = tg_session_races(s, reduced->constraint[i].first, reduced->constraint[i].second);
    }
    shake->info.n_constraints = reduced->n;
    shake->info.fewest = !reduced->spent && !reduced->flaky;
    return true;
}

/* The case breaks under the schedule, and that is all that is known. */
static void leave_schedule(struct tg_shake_session *s, const struct tg_reduce_result *reduced)
{
    const char *why = "no set of order constraints that was tried breaks it";
    if (reduced->too_many)
        why = "its order differs from fifo in more tasks than a schedule can name";
    else if (reduced->spent)
        why = "the runs for reducing were spent before a set of order constraints broke it";
    s->shake->info.result = TG_SHAKE_SCHEDULE;
    snprintf(s->shake->reason, sizeof s->shake->reason, "%s", why);
}

static tg_status settle(struct tg_shake_session *s, const struct tg_reduce_result *reduced,
                        struct tg_error *error)
{
    struct tg_schedule_pair *pairs = malloc(reduced->n * sizeof *pairs);
    struct tg_schedule schedule = {TG_SCHEDULE_ORDER, reduced->n, 0, pairs, 0};
    bool confirmed = false;
    tg_status status = TG_OK;
    if (!pairs)
        return no_memory(error);
    tg_session_pairs(s, reduced->constraint, reduced->n, pairs);
    status = confirm(s, &schedule, &confirmed, error);
    if (status == TG_OK && confirmed) {
        s->shake->info.result = TG_SHAKE_ORDER;
        if (!describe(s, reduced, &schedule))
            status = no_memory(error);
    } else if (status == TG_OK) {
        s->shake->info.result = TG_SHAKE_UNSTABLE;
    }
    free(pairs);
    return status;
}

tg_status tg_session_explain(struct tg_shake_session *s, const struct tg_schedule *schedule,
                             const struct tg_outcome *failed, struct tg_error *error)
{
    struct tg_reduce_result reduced = {0};
    bool same = false;
    tg_status status = repeat_both(s, schedule, failed, &same, error);
    if (status != TG_OK || !same)
        return status;
    sort_suspects(s, &s->shake->info.difference);
    status = reduce(s, failed, &reduced, error);
    if (status == TG_OK && reduced.n > 0)
        status = settle(s, &reduced, error);
    else if (status == TG_OK)
        leave_schedule(s, &reduced);
    free(reduced.constraint);
    return status;
}
