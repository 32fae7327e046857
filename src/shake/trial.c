/* SPDX-License-Identifier: Apache-2.0 */
/* One run of the case, in a directory of its own. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <taskglass/runs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "shake/session.h"

/* Tasks of which the order of starts is kept before their number is known. */
enum { FIRST_STARTS = 1 << 16 };

/* What shaking decides itself. */
static const struct {
    const char *name, *value;
} decided[] = {{"cores", "1"},
               {"dump-tensor", "hash"},
               {"dump-args", "off"},
               {"dump-policy", "block"},
               {"live", "off"},
               {"deps", "off"},
               {"enable-scope-stats", "off"}};

static bool is_decided(const char *name)
{
    for (size_t i = 0; i < sizeof decided / sizeof decided[0]; i++)
        if (strcmp(decided[i].name, name) == 0)
            return true;
    return strcmp(name, "output") == 0 || strcmp(name, "schedule") == 0;
}

/* Values of the environment are in both tables. */
static tg_status copy_settings(const struct tg_settings *from, struct tg_settings *to,
                               struct tg_error *error)
{
    struct tg_setting_info info;
    tg_status status = TG_OK;
    for (uint32_t i = 0; status == TG_OK && tg_settings_get(from, i, &info); i++)
        if (info.source == TG_FROM_CALLER && !is_decided(info.name))
            status = tg_settings_set(to, info.name, info.value, error);
    for (size_t i = 0; status == TG_OK && i < sizeof decided / sizeof decided[0]; i++)
        status = tg_settings_set(to, decided[i].name, decided[i].value, error);
    return status;
}

/* Under outputs/, as the directories of runs are. */
static tg_status make_folder(struct tg_shake_session *session, struct tg_error *error)
{
    const char *wanted = session->config.output;
    session->keeps = wanted != NULL;
    session->folder = strdup(wanted ? wanted : "outputs/.shake_XXXXXX");
    if (!session->folder)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory for the name of a folder");
    if (!wanted && mkdir("outputs", 0777) != 0 && errno != EEXIST)
        return tg_file_error(error, "make", "outputs", errno);
    if (wanted ? mkdir(wanted, 0777) != 0 : !mkdtemp(session->folder)) {
        int cause = errno;
        free(session->folder);
        session->folder = NULL;
        return tg_file_error(error, "make", wanted ? wanted : "a folder in outputs", cause);
    }
    return TG_OK;
}

tg_status tg_session_begin(struct tg_shake_session *session, const struct tg_settings *settings,
                           struct tg_error *error)
{
    tg_status status = tg_settings_create(&session->settings, error);
    if (status == TG_OK)
        status = copy_settings(settings, session->settings, error);
    if (status == TG_OK)
        status = make_folder(session, error);
    return status;
}

/* Again if it fails, because a signal may have come between. What cannot be removed stays to be seen. */
static void remove_path(const char *path)
{
    for (int i = 0; i < 3 && tg_runs_remove(path, NULL, NULL) == TG_IO_ERROR; i++)
        continue;
}

static void remove_run(const char *folder, const char *name)
{
    char *path = tg_path_join(folder, name);
    if (path)
        remove_path(path);
    free(path);
}

void tg_session_end(struct tg_shake_session *session)
{
    if (session->folder && !session->keeps)
        remove_run(session->folder, "baseline");
    if (session->folder)
        (void)rmdir(session->folder); /* fails unless it is empty */
    if (session->folder && !session->keeps)
        (void)rmdir("outputs"); /* the same */
    tg_outcome_clear(&session->baseline);
    tg_settings_destroy(session->settings);
    free(session->folder);
    free(session->graph_start);
    free(session->suspect);
}

/* --- one run ------------------------------------------------------------------------------------ */

static int show(void *context, enum tg_phase phase, uint64_t finished, uint64_t total)
{
    struct tg_shake_session *s = context;
    (void)phase;
    (void)finished;
    (void)total;
    return s->config.progress ? s->config.progress(s->config.context, s->phase, s->done, s->total)
                              : 0;
}

/* A run that failed for a reason that no order of tasks can have. */
static bool is_ours(tg_status status)
{
    return status == TG_IO_ERROR || status == TG_NO_MEMORY || status == TG_BUSY ||
           status == TG_UNSUPPORTED || status == TG_ABI_MISMATCH || status == TG_NOT_FOUND ||
           status == TG_CANCELLED;
}

/* The recording of a run says why its files could not be written: the disk is full, for example. */
static tg_status check_written(const struct tg_execution *execution, struct tg_error *error)
{
    struct tg_execution_info info;
    tg_execution_get(execution, &info);
    if (info.run.record.status != TG_IO_ERROR)
        return TG_OK;
    return tg_error_set(error, TG_IO_ERROR, "a run could not be compared: %s",
                        info.run.record.text);
}

/* A run that ended well and whose files lack something cannot be compared: what was not compared is not
 * the same. */
static tg_status check_whole(const struct tg_outcome *outcome, struct tg_error *error)
{
    if (outcome->status != TG_OK && outcome->status != TG_MISMATCH)
        return TG_OK;
    if (!outcome->deps)
        return tg_error_set(error, TG_IO_ERROR,
                            "a run could not be compared: its deps.json is missing");
    if (outcome->lost > 0)
        return tg_error_set(error, TG_IO_ERROR,
                            "a run could not be compared: its recording lacks %llu records",
                            (unsigned long long)outcome->lost);
    return TG_OK;
}

static tg_status execute(struct tg_shake_session *s, const struct tg_schedule *schedule,
                         struct tg_outcome *outcome, struct tg_error *error)
{
    struct tg_execution *execution = NULL;
    struct tg_error failure = {TG_OK, ""};
    struct tg_execute_config config = {
        .case_name = s->config.case_name,
        .set = s->config.set,
        .n_set = s->config.n_set,
        .progress = show,
        .progress_context = s,
        .guard = s->config.guard,
        .guard_context = s->config.guard_context,
        .schedule = schedule,
    };
    tg_status status = tg_execute(s->settings, s->workload, &config, &execution, &failure);
    if (!execution || is_ours(status)) {
        if (error)
            *error = failure;
        tg_execution_destroy(execution);
        return status;
    }
    status = check_written(execution, error);
    if (status == TG_OK)
        status = tg_outcome_read(execution, outcome, error);
    tg_execution_destroy(execution);
    return status == TG_OK ? check_whole(outcome, error) : status;
}

tg_status tg_session_run(struct tg_shake_session *s, const struct tg_schedule *schedule,
                         const char *keep, struct tg_outcome *outcome, struct tg_error *error)
{
    bool is_baseline = keep && strcmp(keep, "baseline") == 0;
    bool stays = keep && (s->keeps || is_baseline);
    struct tg_schedule kept = *schedule;
    char *path = tg_path_join(s->folder, stays ? keep : "trial");
    memset(outcome, 0, sizeof *outcome);
    if (!path)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory for the name of a folder");
    kept.keep_starts = s->baseline.deps ? 2 * (uint64_t)s->graph.n + 64 : FIRST_STARTS;
    tg_status status = tg_settings_set(s->settings, "output", path, error);
    if (status == TG_OK)
        status = execute(s, &kept, outcome, error);
    s->shake->info.runs++;
    if (!stays || status != TG_OK)
        remove_path(path);
    free(path);
    return status;
}

tg_status tg_session_try(struct tg_shake_session *s, const struct tg_schedule *schedule,
                         const char *keep, struct tg_outcome *outcome,
                         struct tg_shake_difference *difference, struct tg_error *error)
{
    struct tg_outcome own, *to = outcome ? outcome : &own;
    tg_status status = tg_session_run(s, schedule, keep, to, error);
    if (status == TG_OK) {
        tg_outcome_compare(&s->baseline, to, difference);
        s->shake->info.seconds += to->seconds;
        if (s->config.tell) {
            char *text = tg_session_text(schedule);
            struct tg_shake_trial trial = {s->phase, text ? text : "", difference, to->seconds};
            s->config.tell(s->config.context, &trial);
            free(text);
        }
    }
    if (!outcome)
        tg_outcome_clear(to);
    return status;
}

char *tg_session_text(const struct tg_schedule *schedule)
{
    size_t size = tg_schedule_text(schedule, NULL, 0) + 1;
    char *text = malloc(size);
    if (text)
        tg_schedule_text(schedule, text, size);
    return text;
}
