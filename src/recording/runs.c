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

struct tg_runs {
    struct tg_runs_entry *run;
    size_t count, room;
};

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

/* A file that is broken in the middle has told what comes before. False if there is none. */
static bool read_json(const char *dir, struct tg_runs_entry *run)
{
    struct tg_map map = {0};
    struct tg_pull pull;
    char key[32];
    char *path = tg_path_join(dir, "run.json");
    bool is_there = path && tg_map_open(path, TG_LINKS_REFUSE, &map) == 0;
    bool is_read = is_there && map.size > 0 && map.size <= TG_RUN_JSON_MOST;
    tg_pull_start(&pull, (const char *)map.bytes, is_read ? map.size : 0);
    bool good = is_read && tg_pull_next(&pull) == TG_PULL_BEGIN_OBJECT;
    while (good && tg_pull_next(&pull) == TG_PULL_KEY) {
        tg_pull_text(&pull, key, sizeof key);
        tg_pull_next(&pull);
        good = read_top(&pull, key, run);
    }
    tg_map_close(&map);
    free(path);
    return is_there;
}

/* --- one run -------------------------------------------------------------------------------------- */

/* A run holds the lock of its directory until its last file is written. On another machine, as far as this
 * one can see, it holds only that of the journal. */
static uint32_t find_state(const char *dir, const struct tg_runs_entry *run, bool has_json)
{
    enum tg_lock folder = TG_LOCK_UNKNOWN, journal = TG_LOCK_UNKNOWN;
    (void)tg_lock_look(dir, &folder);
    if (folder == TG_LOCK_BUSY)
        return TG_RECORDING_RUNNING;
    if (run->has_status)
        return tg_recording_state_of(run->status);
    if (has_json)
        return TG_RECORDING_UNKNOWN; /* a run writes the file whole or not at all: it was damaged since */
    char *path = tg_path_join(dir, TG_DUMP_FOLDER "/" TG_DUMP_JOURNAL);
    if (path)
        (void)tg_lock_look(path, &journal);
    free(path);
    if (journal == TG_LOCK_BUSY)
        return TG_RECORDING_RUNNING;
    return folder == TG_LOCK_FREE ? TG_RECORDING_INTERRUPTED : TG_RECORDING_UNKNOWN;
}

/* False if the directory is not that of a run, or cannot be read. */
static bool look(const char *path, const char *name, struct tg_runs_entry *run)
{
    struct tg_run_content content;
    struct stat info;
    int dir;
    *run = (struct tg_runs_entry){0};
    if (tg_run_content_open(path, &dir) != 0)
        return false;
    bool good = fstat(dir, &info) == 0 && tg_run_content(dir, NULL, NULL, &content) == 0 &&
                tg_run_content_is_run(&content, name);
    close(dir);
    if (!good)
        return false;
    run->began = (int64_t)info.st_mtime;
    run->bytes = content.bytes;
    run->others = content.others;
    bool has_json = read_json(path, run);
    run->state = find_state(path, run, has_json);
    tg_text_clean(name, run->name, sizeof run->name);
    return true;
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

/* False: out of memory. The list owns `path`. */
static bool add(struct tg_runs *runs, char *path, const char *name)
{
    if (!path || !grow(runs)) {
        free(path);
        return false;
    }
    if (!look(path, name, &runs->run[runs->count])) {
        free(path);
        return true;
    }
    runs->run[runs->count++].path = path;
    return true;
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
    char last[256];
    tg_path_last(dir, last, sizeof last);
    if (!add(runs, strdup(dir), last))
        return tg_file_no_memory(error);
    if (runs->count > 0)
        return TG_OK; /* the directory of one run */
    DIR *names = opendir(dir);
    if (!names && (errno == ENOENT || errno == ENOTDIR))
        return tg_error_set(error, TG_NOT_FOUND, "there is no directory '%s'", dir);
    if (!names)
        return tg_file_error(error, "read", dir, errno);
    bool good = true;
    while (good && (entry = readdir(names)))
        if (entry->d_name[0] != '.')
            good = add(runs, tg_path_join(dir, entry->d_name), entry->d_name);
    closedir(names);
    return good ? TG_OK : tg_file_no_memory(error);
}

tg_status tg_runs_open(const char *dir, struct tg_runs **runs, struct tg_error *error)
{
    struct tg_error unread;
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

void tg_runs_close(struct tg_runs *runs)
{
    for (size_t i = 0; runs && i < runs->count; i++)
        free((char *)(uintptr_t)runs->run[i].path);
    free(runs ? runs->run : NULL);
    free(runs);
}
