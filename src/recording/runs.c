/* SPDX-License-Identifier: Apache-2.0 */
/* Lists runs. What it tells of one comes from run.json, from the lock of its directory and from the names and
 * sizes of its files; it opens no recording, so that a thousand runs are listed at once. */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <taskglass/runs.h>
#include <taskglass/text.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json_pull.h"
#include "base/lock.h"
#include "recording/reader.h"
#include "recording/record.h"
#include "recording/runs.h"

/* --- run.json ------------------------------------------------------------------------------------- */

static void read_text(const struct tg_pull *pull, char *text, size_t room)
{
    char raw[1024];
    if (pull->token != TG_PULL_STRING)
        return;
    tg_pull_text(pull, raw, sizeof raw);
    tg_text_clean(raw, text, room);
}

/* "2026-01-01T12:00:00+0100". */
static void read_time(const struct tg_pull *pull, int64_t *seconds)
{
    char text[40] = "";
    struct tm time = {0};
    read_text(pull, text, sizeof text);
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S%z", &time);
    long zone = time.tm_gmtoff;
    if (rest && *rest == '\0')
        *seconds = (int64_t)timegm(&time) - zone;
}

/* The members of objects within run.json that the list shows. */
static void read_member(const struct tg_pull *pull, const char *object, const char *key,
                        struct tg_runs_entry *run)
{
    uint64_t number = 0;
    bool is_number = tg_pull_u64(pull, &number);
    if (strcmp(object, "result") == 0 && strcmp(key, "status") == 0)
        run->has_status = tg_status_from_word(pull, &run->status);
    else if (strcmp(object, "times") == 0 && strcmp(key, "started") == 0)
        read_time(pull, &run->began);
    else if (strcmp(object, "times") == 0 && strcmp(key, "total_seconds") == 0)
        (void)tg_pull_double(pull, &run->seconds);
    else if (strcmp(object, "counters") == 0 && strcmp(key, "tasks") == 0)
        run->tasks = number;
    else if (strcmp(object, "counters") == 0 && strcmp(key, "finished") == 0)
        run->finished = number;
    else if (strcmp(object, "recorder") == 0 && strcmp(key, "recorded") == 0)
        run->records = number;
    else if (strcmp(object, "lost") == 0 && is_number)
        run->lost = number > UINT64_MAX - run->lost ? UINT64_MAX : run->lost + number;
    run->has_counts |= strcmp(object, "counters") == 0 && strcmp(key, "tasks") == 0 && is_number;
}

/* Reads the members of the object that the last token began. */
static bool read_object(struct tg_pull *pull, const char *object, struct tg_runs_entry *run)
{
    char key[32];
    while (tg_pull_next(pull) == TG_PULL_KEY) {
        tg_pull_text(pull, key, sizeof key);
        tg_pull_next(pull);
        bool is_lost = strcmp(object, "recorder") == 0 && strcmp(key, "lost") == 0;
        if (is_lost && pull->token == TG_PULL_BEGIN_OBJECT) {
            if (!read_object(pull, "lost", run))
                return false;
            continue;
        }
        read_member(pull, object, key, run);
        if (!tg_pull_skip(pull))
            return false;
    }
    return pull->token == TG_PULL_END_OBJECT;
}

static bool read_top(struct tg_pull *pull, const char *key, struct tg_runs_entry *run)
{
    static const char *const objects[] = {"result", "times", "counters", "recorder"};
    if (strcmp(key, "workload") == 0)
        read_text(pull, run->workload, sizeof run->workload);
    else if (strcmp(key, "case") == 0)
        read_text(pull, run->case_name, sizeof run->case_name);
    else if (strcmp(key, "platform") == 0)
        read_text(pull, run->platform, sizeof run->platform);
    else if (strcmp(key, "runtime") == 0)
        read_text(pull, run->runtime, sizeof run->runtime);
    for (size_t i = 0; pull->token == TG_PULL_BEGIN_OBJECT && i < 4; i++)
        if (strcmp(key, objects[i]) == 0) {
            run->recorded |= strcmp(key, "recorder") == 0;
            return read_object(pull, key, run);
        }
    return tg_pull_skip(pull);
}

/* A file that is broken in the middle has told what comes before. Returns 0, or a cause that is a fault. */
static int read_json(const char *dir, struct tg_runs_entry *run, bool *is_there)
{
    struct tg_map map = {0};
    struct tg_pull pull;
    char key[32];
    char *path = tg_path_join(dir, "run.json");
    int cause = path ? tg_map_open(path, TG_LINKS_REFUSE, &map) : ENOMEM;
    *is_there = cause == 0;
    bool is_read = cause == 0 && map.size > 0 && map.size <= TG_RUN_JSON_MOST;
    tg_pull_start(&pull, (const char *)map.bytes, is_read ? map.size : 0);
    bool good = is_read && tg_pull_next(&pull) == TG_PULL_BEGIN_OBJECT;
    while (good && tg_pull_next(&pull) == TG_PULL_KEY) {
        tg_pull_text(&pull, key, sizeof key);
        tg_pull_next(&pull);
        good = read_top(&pull, key, run);
    }
    if (is_read)
        cause = tg_map_check(&map) == TG_CAUSE_CHANGED ? EIO : 0;
    tg_map_close(&map);
    free(path);
    return tg_cause_is_fault(cause) ? cause : 0;
}

/* --- one run -------------------------------------------------------------------------------------- */

/* A run holds the lock of its directory until its last file is written. On another machine, as far as this
 * one can see, it holds only that of the journal. */
static uint32_t state_of(const struct tg_runs_entry *run, bool has_json, enum tg_lock folder,
                         enum tg_lock journal)
{
    if (folder == TG_LOCK_BUSY)
        return TG_RECORDING_RUNNING;
    if (run->has_status)
        return tg_recording_state_of(run->status);
    if (has_json)
        return TG_RECORDING_UNKNOWN; /* a run writes it whole or not at all: it was damaged since */
    if (journal == TG_LOCK_BUSY)
        return TG_RECORDING_RUNNING;
    return folder == TG_LOCK_FREE ? TG_RECORDING_INTERRUPTED : TG_RECORDING_UNKNOWN;
}

static int find_state(const char *dir, bool has_json, struct tg_runs_entry *run)
{
    enum tg_lock folder = TG_LOCK_UNKNOWN, journal = TG_LOCK_UNKNOWN;
    char *path = tg_path_join(dir, TG_DUMP_FOLDER "/" TG_DUMP_JOURNAL);
    int cause = path ? tg_lock_look(dir, &folder) : ENOMEM;
    if (cause == 0 && !run->has_status)
        cause = tg_lock_look(path, &journal);
    free(path);
    run->state = state_of(run, has_json, folder, journal);
    return cause;
}

/* What lies in the directory. Returns 0, or a cause that is a fault. */
static int read_content(const char *path, struct tg_runs_entry *run, bool *is_run)
{
    struct tg_run_content content;
    struct stat info;
    int dir, cause = tg_run_content_open(path, &dir);
    *is_run = false;
    if (cause != 0) /* mostly no directory */
        return tg_cause_is_fault(cause) ? cause : 0;
    cause = fstat(dir, &info) != 0 ? errno : tg_run_content(dir, NULL, NULL, &content);
    close(dir);
    if (cause != 0)
        return cause;
    cause = tg_run_content_is_run(path, &content, is_run);
    run->began = (int64_t)info.st_mtime;
    run->bytes = content.bytes;
    run->others = content.others;
    return cause;
}

int tg_runs_look(const char *path, const char *name, struct tg_runs_entry *run, bool *is_run)
{
    bool has_json;
    *run = (struct tg_runs_entry){0};
    int cause = read_content(path, run, is_run);
    if (cause != 0 || !*is_run)
        return cause;
    cause = read_json(path, run, &has_json);
    if (cause == 0)
        cause = find_state(path, has_json, run);
    tg_text_clean(name, run->name, sizeof run->name);
    return cause;
}

/* --- the list ------------------------------------------------------------------------------------- */

static bool grow(struct tg_runs *runs)
{
    if (runs->count < runs->room)
        return true;
    size_t room = runs->room ? 2 * runs->room : 64;
    struct tg_runs_entry *larger = realloc(runs->run, room * sizeof *larger);
    if (!larger)
        return false;
    runs->run = larger;
    runs->room = room;
    return true;
}

/* Directories of other users are left out, and counted. */
static tg_status add(struct tg_runs *runs, const char *dir, const char *name,
                     struct tg_error *error)
{
    bool is_run = false;
    char *path = dir ? tg_path_join(dir, name) : strdup(name), last[256];
    if (!path || !grow(runs)) {
        free(path);
        return tg_file_no_memory(error);
    }
    tg_path_last(path, last, sizeof last);
    struct tg_runs_entry *run = &runs->run[runs->count];
    int cause = tg_runs_look_ranks(path, last, run, &is_run);
    if (cause == 0 && !is_run)
        cause = tg_runs_look(path, last, run, &is_run);
    bool is_hidden = dir && (cause == EACCES || cause == EPERM);
    if (cause == 0 && is_run) {
        runs->run[runs->count++].path = path;
        return TG_OK;
    }
    tg_status status = TG_OK;
    if (cause != 0 && !is_hidden)
        status = tg_file_error(error, "read", path, cause);
    if (is_hidden && runs->unread++ == 0)
        tg_text_clean(path, runs->first_unread, sizeof runs->first_unread);
    free(path);
    return status;
}

static int newest_first(const void *a, const void *b)
{
    const struct tg_runs_entry *x = a, *y = b;
    if (x->began != y->began)
        return x->began > y->began ? -1 : 1;
    return strcmp(y->path, x->path);
}

static tg_status fill(struct tg_runs *runs, const char *dir, struct tg_error *error)
{
    const struct dirent *entry;
    tg_status status = add(runs, NULL, dir, error);
    if (status != TG_OK || runs->count > 0) /* the directory of one run */
        return status;
    DIR *names = opendir(dir);
    if (!names && (errno == ENOENT || errno == ENOTDIR))
        return tg_error_set(error, TG_NOT_FOUND, "there is no directory '%s'", dir);
    if (!names)
        return tg_file_error(error, "read", dir, errno);
    while (status == TG_OK && (errno = 0, entry = readdir(names)))
        if (entry->d_name[0] != '.')
            status = add(runs, dir, entry->d_name, error);
    if (status == TG_OK && errno != 0)
        status = tg_file_error(error, "read", dir, errno);
    closedir(names);
    return status;
}

tg_status tg_runs_open(const char *dir, struct tg_runs **runs, struct tg_error *error)
{
    struct tg_error unread;
    TG_REFUSE_NULL(error, runs);
    error = error ? error : &unread;
    *runs = calloc(1, sizeof **runs);
    if (!*runs)
        return tg_file_no_memory(error);
    tg_status status = fill(*runs, dir ? dir : "outputs", error);
    if (status != TG_OK) {
        tg_runs_close(*runs);
        *runs = NULL;
    } else if ((*runs)->count > 0) {
        qsort((*runs)->run, (*runs)->count, sizeof *(*runs)->run, newest_first);
    }
    return status;
}

bool tg_runs_get(const struct tg_runs *runs, uint64_t number, struct tg_runs_entry *run)
{
    if (!runs || number >= runs->count)
        return false;
    *run = runs->run[number];
    return true;
}

uint64_t tg_runs_unread(const struct tg_runs *runs, const char **path)
{
    if (path)
        *path = runs ? runs->first_unread : "";
    return runs ? runs->unread : 0;
}

void tg_runs_close(struct tg_runs *runs)
{
    for (size_t i = 0; runs && i < runs->count; i++)
        free((char *)(uintptr_t)runs->run[i].path);
    free(runs ? runs->run : NULL);
    free(runs);
}
