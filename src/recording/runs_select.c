/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the runs somebody means: by workload, result and age, or by name. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"
#include "recording/runs.h"

/* --- words ------------------------------------------------------------------------------------ */

tg_status tg_runs_check_result(const char *word, struct tg_error *error)
{
#define STATE(constant, number, word, meaning) (word),
#define STATUS(name, number, ...) #name,
    static const char *const known[] = {TG_RECORDING_STATE_MAP(STATE) TG_STATUS_MAP(STATUS)};
    char states[200] = "";
    TG_REFUSE_NULL(error, word);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcasecmp(word, known[i]) == 0)
            return TG_OK;
    for (unsigned i = 0; i < TG_RECORDING_STATES; i++) {
        size_t at = strlen(states);
        snprintf(states + at, sizeof states - at, "%s%s",
                 i == 0                         ? ""
                 : i + 1 == TG_RECORDING_STATES ? " and "
                                                : ", ",
                 known[i]);
    }
    return tg_error_set(error, TG_BAD_ARGUMENT,
                        "unknown result '%s'; results are %s, or the name of a status such as "
                        "MISMATCH or HANG",
                        word, states);
}

tg_status tg_runs_parse_age(const char *text, int64_t *seconds, struct tg_error *error)
{
    static const struct {
        char unit;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
    char *end;
    TG_REFUSE_NULL(error, text);
    TG_REFUSE_NULL(error, seconds);
    errno = 0;
    long long number = strtoll(text, &end, 10);
    bool good = errno == 0 && end > text && *text >= '0' && *text <= '9' && number <= 100000000;
    for (size_t i = 0; good && i < sizeof units / sizeof units[0]; i++)
        if (end[0] == units[i].unit && end[1] == '\0') {
            *seconds = number * units[i].seconds;
            return TG_OK;
        }
    return tg_error_set(error, TG_BAD_ARGUMENT,
                        "'%s' is not an age; ages are written as 90s, 30m, 12h, 7d or 2w", text);
}

/* --- selecting -------------------------------------------------------------------------------- */

static bool is_selected(const struct tg_runs_filter *filter, const struct tg_runs_entry *run)
{
    if (filter->workload && strcmp(filter->workload, run->workload) != 0)
        return false;
    if (filter->result && strcasecmp(filter->result, tg_recording_state_name(run->state)) != 0 &&
        !(run->has_status && strcasecmp(filter->result, tg_status_name(run->status)) == 0))
        return false;
    return !filter->has_age || run->began <= (int64_t)time(NULL) - filter->older_than;
}

tg_status tg_runs_select(struct tg_runs *runs, const struct tg_runs_filter *filter,
                         struct tg_error *error)
{
    uint64_t seen = 0;
    size_t kept = 0;
    TG_REFUSE_NULL(error, runs);
    TG_REFUSE_NULL(error, filter);
    tg_status status = filter->result ? tg_runs_check_result(filter->result, error) : TG_OK;
    if (status != TG_OK)
        return status;
    for (size_t i = 0; i < runs->count; i++) {
        const struct tg_runs_entry *run = &runs->run[i];
        if (is_selected(filter, run) && ++seen > filter->keep &&
            !(filter->ended && run->state == TG_RECORDING_RUNNING))
            runs->run[kept++] = *run;
        else
            free((char *)(uintptr_t)run->path);
    }
    runs->count = kept;
    return TG_OK;
}

/* --- by name ---------------------------------------------------------------------------------- */

static bool is_run(const char *path)
{
    struct tg_runs *list;
    struct tg_runs_entry run;
    if (tg_runs_open(path, &list, NULL) != TG_OK)
        return false;
    bool is = tg_runs_get(list, 0, &run) && strcmp(run.path, path) == 0;
    tg_runs_close(list);
    return is;
}

static bool is_same(const char *path, const char *other)
{
    struct stat a, b;
    return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static tg_status find_path(const char *word, char *path, size_t room, struct tg_error *error)
{
    struct stat info;
    bool is_there = stat(word, &info) == 0 || errno != ENOENT;
    snprintf(path, room, "outputs/%s", word);
    if (!strchr(word, '/') && word[0] != '.' && (!is_there || is_run(path))) {
        if (!is_there || !is_run(word) || is_same(word, path))
            return TG_OK;
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "there is a run '%s' here and one under outputs; type ./%s or "
                            "outputs/%s",
                            word, word, word);
    }
    snprintf(path, room, "%s", word);
    return TG_OK;
}

tg_status tg_runs_find(const char *word, struct tg_runs **runs, struct tg_error *error)
{
    char path[PATH_MAX];
    struct tg_runs_entry run;
    TG_REFUSE_NULL(error, word);
    TG_REFUSE_NULL(error, runs);
    *runs = NULL;
    tg_status status = find_path(word, path, sizeof path, error);
    if (status == TG_OK)
        status = tg_runs_open(path, runs, error);
    if (status == TG_NOT_FOUND)
        return tg_error_set(error, TG_NOT_FOUND,
                            "there is no run '%s'; `taskglass runs` lists them", word);
    if (status == TG_OK && (!tg_runs_get(*runs, 0, &run) || strcmp(run.path, path) != 0)) {
        tg_runs_close(*runs);
        *runs = NULL;
        status =
            tg_error_set(error, TG_BAD_ARGUMENT,
                         "'%s' is not the directory of a run; `taskglass runs` lists them", word);
    }
    return status;
}
