/* SPDX-License-Identifier: Apache-2.0 */
/* Tries schedules until one breaks the case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/deps.h"
#include "base/error.h"
#include "base/files.h"
#include "base/limit.h"
#include "shake/session.h"

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "out of host memory for shaking");
}

/* --- the baseline ------------------------------------------------------------------------------- */

static bool take_graph(struct tg_shake_session *s)
{
    const struct tg_deps *deps = s->baseline.deps;
    uint32_t n = deps ? deps->n_tasks : 0;
    s->graph_start = calloc((size_t)n + 1, sizeof *s->graph_start);
    if (!s->graph_start)
        return false;
    for (uint32_t t = 0; t < n; t++)
        s->graph_start[t + 1] = deps->task[t].first_edge + deps->task[t].n_edges;
    s->graph = (struct tg_order_graph){n, s->graph_start, deps ? deps->before : NULL};
    s->shake->info.tasks = n;
    return true;
}

/* True if the case fails before any order has changed. */
static bool has_failed(const struct tg_outcome *outcome)
{
    return outcome->status != TG_OK;
}

/* What is wrong with the baseline, which nothing can be compared with. */
static void describe_failure(const struct tg_outcome *baseline,
                             struct tg_shake_difference *difference)
{
    difference->change = baseline->status == TG_MISMATCH ? TG_CHANGE_GOLDEN : TG_CHANGE_DEVICE;
    for (uint32_t i = baseline->n_outputs; i-- > 0;)
        if (!baseline->output[i].is_golden)
            snprintf(difference->output, sizeof difference->output, "%s", baseline->output[i].name);
}

static const struct tg_schedule fifo = {.policy = TG_SCHEDULE_FIFO};

/* Runs the baseline again, so that what differs without any change is not taken for a change of the order.
 * *stable is false if it gave another result. */
static tg_status repeat_baseline(struct tg_shake_session *s, bool *stable, struct tg_error *error)
{
    struct tg_outcome again;
    struct tg_shake_difference difference;
    s->phase = TG_SHAKE_REPEAT;
    tg_status status = tg_session_run(s, &fifo, NULL, &again, error);
    if (status == TG_OK) {
        *stable =
            tg_outcome_repeats(&s->baseline, &again, s->threshold == TG_CHANGE_TASK, &difference);
        s->shake->info.unstable_inside = difference.change == TG_CHANGE_TASK;
        if (!*stable || has_failed(&s->baseline)) {
            s->shake->info.result = *stable ? TG_SHAKE_BASELINE : TG_SHAKE_UNSTABLE;
            if (*stable)
                describe_failure(&s->baseline, &difference);
            s->shake->info.difference = difference;
        }
    }
    tg_outcome_clear(&again);
    s->phase = TG_SHAKE_TRY;
    return status;
}

static tg_status run_baseline(struct tg_shake_session *s, bool *goes_on, struct tg_error *error)
{
    struct tg_shake_info *info = &s->shake->info;
    bool stable = false;
    s->done = 0;
    s->total = s->config.runs;
    *goes_on = false;
    tg_status status = tg_session_run(s, &fifo, "baseline", &s->baseline, error);
    if (status != TG_OK)
        return status;
    if (tg_status_exit_code(s->baseline.status) == 2) /* the command or its input is wrong */
        return tg_error_set(error, s->baseline.status, "%s", s->baseline.text);
    info->schedules = 1;
    info->seconds = s->baseline.seconds;
    s->threshold =
        s->config.strict || s->baseline.n_outputs == 0 ? TG_CHANGE_TASK : TG_CHANGE_TASKS;
    s->shake->case_name = strdup(s->baseline.case_name);
    if (!s->shake->case_name || !take_graph(s))
        return no_memory(error);
    status = repeat_baseline(s, &stable, error);
    if (status != TG_OK || !stable || has_failed(&s->baseline))
        return status;
    *goes_on = true;
    return tg_session_suspect(s, error);
}

/* --- trying ------------------------------------------------------------------------------------- */

/* A change that breaks nothing is noted once, and counted. */
static bool note_inside(struct tg_shake_session *s, const struct tg_schedule *schedule,
                        const struct tg_shake_difference *difference)
{
    struct tg_shake *shake = s->shake;
    if (difference->change == TG_CHANGE_NONE)
        return true;
    tg_session_changed_inside(s);
    if (shake->info.inside++ > 0)
        return true;
    shake->info.inside_difference = *difference;
    shake->inside_schedule = tg_session_text(schedule);
    return shake->inside_schedule != NULL;
}

static tg_status break_case(struct tg_shake_session *s, const struct tg_schedule *schedule,
                            const struct tg_outcome *outcome,
                            const struct tg_shake_difference *difference, struct tg_error *error)
{
    s->shake->info.found_at = s->shake->info.schedules;
    s->shake->info.difference = *difference;
    s->shake->schedule = tg_session_text(schedule);
    return s->shake->schedule ? tg_session_explain(s, schedule, outcome, error) : no_memory(error);
}

/* Tries one schedule. *found: it breaks the case, and the answer is filled in. */
static tg_status try_one(struct tg_shake_session *s, const struct tg_schedule *schedule,
                         bool *found, struct tg_error *error)
{
    struct tg_outcome outcome;
    struct tg_shake_difference difference;
    tg_status status = tg_session_try(s, schedule, NULL, &outcome, &difference, error);
    if (status == TG_OK) {
        s->shake->info.schedules++;
        *found = difference.change >= s->threshold;
        if (*found)
            status = break_case(s, schedule, &outcome, &difference, error);
        else if (!note_inside(s, schedule, &difference))
            status = no_memory(error);
    }
    tg_outcome_clear(&outcome);
    return status;
}

static tg_status try_all(struct tg_shake_session *s, struct tg_error *error)
{
    struct tg_schedule_pair *pairs = malloc(((size_t)s->graph.n + 1) * sizeof *pairs);
    tg_status status = pairs ? TG_OK : no_memory(error);
    bool found = false;
    s->shake->info.result = TG_SHAKE_SAME;
    for (uint32_t number = 2; number <= s->config.runs && status == TG_OK && !found; number++) {
        struct tg_schedule schedule;
        s->done = number - 1;
        status = tg_session_choose(s, number, pairs, &schedule, error);
        if (status == TG_OK)
            status = try_one(s, &schedule, &found, error);
    }
    free(pairs);
    return status;
}

/* --- the public functions ----------------------------------------------------------------------- */

static tg_status keep_dirs(struct tg_shake_session *s, struct tg_error *error)
{
    static const char *const name[] = {"baseline", "failing", "reduced"};
    const struct tg_shake_info *info = &s->shake->info;
    bool has[] = {true, info->found_at > 0, info->n_constraints > 0};
    for (int i = 0; s->keeps && i < 3; i++) {
        s->shake->dir[i] = has[i] ? tg_path_join(s->folder, name[i]) : NULL;
        if (has[i] && !s->shake->dir[i])
            return no_memory(error);
    }
    return TG_OK;
}

static tg_status shake_case(struct tg_shake_session *s, const struct tg_settings *settings,
                            struct tg_error *error)
{
    bool goes_on = false;
    tg_status status = tg_session_begin(s, settings, error);
    if (status == TG_OK)
        status = run_baseline(s, &goes_on, error);
    if (status == TG_OK && goes_on)
        status = try_all(s, error);
    if (status == TG_OK)
        status = keep_dirs(s, error);
    return status;
}

tg_status tg_shake_run(const struct tg_settings *settings, const struct tg_workload_file *workload,
                       const struct tg_shake_config *config, struct tg_shake **shake,
                       struct tg_error *error)
{
    TG_REFUSE_NULL(error, settings);
    TG_REFUSE_NULL(error, workload);
    TG_REFUSE_NULL(error, config);
    TG_REFUSE_NULL(error, shake);
    struct tg_shake_session s = {.workload = workload, .config = *config};
    *shake = NULL;
    if (s.config.runs == 0)
        s.config.runs = TG_SHAKE_RUNS;
    if (s.config.reduce_runs == 0)
        s.config.reduce_runs = TG_SHAKE_REDUCE_RUNS;
    if (s.config.seed == 0)
        s.config.seed = 1;
    s.shake = calloc(1, sizeof *s.shake);
    if (!s.shake)
        return no_memory(error);
    double began = tg_limit_now();
    tg_status status = shake_case(&s, settings, error);
    s.shake->info.wall = tg_limit_now() - began;
    tg_session_end(&s);
    if (status == TG_OK)
        *shake = s.shake;
    else
        tg_shake_destroy(s.shake);
    return status;
}

void tg_shake_destroy(struct tg_shake *shake)
{
    if (!shake)
        return;
    free(shake->case_name);
    free(shake->schedule);
    free(shake->reduced);
    free(shake->inside_schedule);
    free(shake->constraint);
    for (int i = 0; i < 3; i++)
        free(shake->dir[i]);
    free(shake);
}

static const char *text_of(const char *text)
{
    return text ? text : "";
}

void tg_shake_get(const struct tg_shake *shake, struct tg_shake_info *info)
{
    if (shake == NULL || info == NULL)
        return;
    *info = shake->info;
    info->case_name = text_of(shake->case_name);
    info->schedule = text_of(shake->schedule);
    info->reduced = text_of(shake->reduced);
    info->reason = shake->reason;
    info->constraint = shake->constraint;
    info->inside_schedule = text_of(shake->inside_schedule);
    info->baseline_dir = text_of(shake->dir[0]);
    info->failing_dir = text_of(shake->dir[1]);
    info->reduced_dir = text_of(shake->dir[2]);
}

int tg_shake_exit_code(const struct tg_shake *shake)
{
    if (shake == NULL)
        return 2;
    switch (shake->info.result) {
    case TG_SHAKE_SAME:
        return 0;
    case TG_SHAKE_UNKNOWN:
        return 2;
    case TG_SHAKE_BASELINE:
        return tg_status_exit_code(shake->info.difference.status);
    default:
        return 1;
    }
}
