/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.json: which ranks a run had, how each ended, and how their clocks go. */
#define _GNU_SOURCE 1
#include "recording/ranks.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <taskglass/comm.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json_pull.h"
#include "recording/reader.h"

static bool wrong(struct tg_pull *pull, const char *problem)
{
    tg_pull_fail(pull, problem);
    return false;
}

/* Members that are only shown: one of another kind counts as missing. */
static bool take_text(struct tg_pull *pull, char *text, size_t room)
{
    if (pull->token == TG_PULL_STRING) {
        size_t length = tg_pull_text(pull, text, room);
        tg_name_clean(text, length, text, room);
    }
    return tg_pull_skip(pull);
}

/* "RUNNING" is not a status: the run has not ended, or nobody could write that it has. */
static bool take_status(struct tg_pull *pull, bool *is_running, bool *has_status, tg_status *status)
{
    *is_running = pull->token == TG_PULL_STRING && tg_pull_is(pull, "RUNNING");
    *has_status = tg_status_from_word(pull, status);
    return tg_pull_skip(pull);
}

/* ── one rank ──────────────────────────────────────────────────────────────────────────── */

static bool take_clock(struct tg_pull *pull, struct tg_ranks_clock *clock)
{
    bool has_offset = false, has_at = false;
    if (pull->token != TG_PULL_BEGIN_OBJECT)
        return tg_pull_skip(pull);
    *clock = (struct tg_ranks_clock){0};
    while (tg_pull_next(pull) == TG_PULL_KEY) {
        char key[16];
        tg_pull_text(pull, key, sizeof key);
        tg_pull_next(pull);
        if (strcmp(key, "offset_ns") == 0)
            has_offset = tg_pull_i64(pull, &clock->offset_ns);
        else if (strcmp(key, "at_ns") == 0)
            has_at = tg_pull_i64(pull, &clock->at_ns);
        else if (strcmp(key, "error_ns") == 0)
            (void)tg_pull_i64(pull, &clock->error_ns);
        else if (strcmp(key, "samples") == 0)
            (void)tg_pull_u64(pull, &clock->samples);
        else if (strcmp(key, "drift") == 0)
            (void)tg_pull_double(pull, &clock->drift);
        if (!tg_pull_skip(pull))
            return false;
    }
    bool is_sane = isfinite(clock->drift) && fabs(clock->drift) < 1 && clock->error_ns >= 0;
    clock->is_known = has_offset && has_at && is_sane;
    if (!clock->is_known)
        *clock = (struct tg_ranks_clock){0};
    return pull->token == TG_PULL_END_OBJECT;
}

static bool take_folder(struct tg_pull *pull, struct tg_ranks_rank *rank)
{
    char folder[sizeof rank->folder];
    if (pull->token != TG_PULL_STRING || pull->length >= sizeof folder)
        return wrong(pull, "\"folder\" is not the name of a folder");
    tg_pull_text(pull, folder, sizeof folder);
    if (!tg_path_is_plain(folder)) /* it must not lead out of the directory */
        return wrong(pull, "\"folder\" is not the name of a folder beside this file");
    memcpy(rank->folder, folder, sizeof folder);
    return true;
}

static bool take_rank_member(struct tg_pull *pull, const char *key, struct tg_ranks_rank *rank,
                             uint64_t *number)
{
    uint64_t local;
    if (strcmp(key, "rank") == 0)
        return tg_pull_u64(pull, number) || wrong(pull, "\"rank\" is not a number");
    if (strcmp(key, "folder") == 0)
        return take_folder(pull, rank);
    if (strcmp(key, "host") == 0)
        return take_text(pull, rank->host, sizeof rank->host);
    if (strcmp(key, "error") == 0)
        return take_text(pull, rank->error, sizeof rank->error);
    if (strcmp(key, "status") == 0)
        return take_status(pull, &rank->is_running, &rank->has_status, &rank->status);
    if (strcmp(key, "clock") == 0)
        return take_clock(pull, &rank->clock);
    if (strcmp(key, "ended_ns") == 0)
        rank->has_end = tg_pull_i64(pull, &rank->ended_ns);
    else if (strcmp(key, "pid") == 0)
        (void)tg_pull_u64(pull, &rank->pid);
    else if (strcmp(key, "local_rank") == 0 && tg_pull_u64(pull, &local) &&
             local < TG_COMM_MAX_RANKS)
        rank->local_rank = (uint32_t)local;
    return tg_pull_skip(pull);
}

static bool take_rank(struct tg_pull *pull, struct tg_ranks *ranks)
{
    struct tg_ranks_rank rank = {.is_listed = true};
    uint64_t number = UINT64_MAX;
    if (pull->token != TG_PULL_BEGIN_OBJECT)
        return wrong(pull, "an element of \"rank\" is not an object");
    while (tg_pull_next(pull) == TG_PULL_KEY) {
        char key[16];
        tg_pull_text(pull, key, sizeof key);
        tg_pull_next(pull);
        if (!take_rank_member(pull, key, &rank, &number))
            return false;
    }
    if (pull->token != TG_PULL_END_OBJECT)
        return false;
    if (number >= TG_COMM_MAX_RANKS)
        return wrong(pull, "an element of \"rank\" has no \"rank\" from 0 to 4095");
    if (ranks->rank[number].is_listed)
        return wrong(pull, "two elements of \"rank\" have the same \"rank\"");
    rank.rank = (uint32_t)number;
    ranks->rank[number] = rank;
    return true;
}

static bool take_list(struct tg_pull *pull, struct tg_ranks *ranks)
{
    if (pull->token != TG_PULL_BEGIN_ARRAY)
        return wrong(pull, "\"rank\" is not a list");
    while (tg_pull_next(pull) > TG_PULL_END && pull->token != TG_PULL_END_ARRAY)
        if (!take_rank(pull, ranks))
            return false;
    return pull->token == TG_PULL_END_ARRAY;
}

/* ── the whole file ────────────────────────────────────────────────────────────────────── */

static bool take_count(struct tg_pull *pull, struct tg_ranks_info *info)
{
    uint64_t ranks;
    if (!tg_pull_u64(pull, &ranks) || ranks < 1 || ranks > TG_COMM_MAX_RANKS)
        return wrong(pull, "\"ranks\" is not a number from 1 to 4096");
    info->ranks = (uint32_t)ranks;
    return true;
}

static bool take_version(struct tg_pull *pull)
{
    uint64_t version;
    if (!tg_pull_u64(pull, &version) || version != 1)
        return wrong(pull, "\"version\" is not 1, the only one that this program knows");
    return true;
}

static bool take_member(struct tg_pull *pull, const char *key, struct tg_ranks *ranks)
{
    struct tg_ranks_info *info = &ranks->info;
    if (strcmp(key, "version") == 0)
        return take_version(pull);
    if (strcmp(key, "ranks") == 0)
        return take_count(pull, info);
    if (strcmp(key, "rank") == 0)
        return take_list(pull, ranks);
    if (strcmp(key, "workload") == 0)
        return take_text(pull, info->workload, sizeof info->workload);
    if (strcmp(key, "case") == 0)
        return take_text(pull, info->case_name, sizeof info->case_name);
    if (strcmp(key, "transport") == 0)
        return take_text(pull, info->transport, sizeof info->transport);
    if (strcmp(key, "about") == 0)
        return take_text(pull, info->about, sizeof info->about);
    if (strcmp(key, "status") == 0)
        return take_status(pull, &info->is_running, &info->has_status, &info->status);
    return tg_pull_skip(pull);
}

static int compare_folders(const void *a, const void *b)
{
    const struct tg_ranks_rank *const *x = a, *const *y = b;
    return strcmp((*x)->folder, (*y)->folder);
}

/* Names the folders that the file does not name. Of two ranks with the same one, at least one has the files of another
 * rank; which of them is not known. */
static bool check_folders(struct tg_pull *pull, struct tg_ranks *ranks)
{
    static const char same[] = "two ranks have the same \"folder\"";
    struct tg_ranks_rank *sorted[TG_COMM_MAX_RANKS];
    uint32_t n = ranks->info.ranks;
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = &ranks->rank[i];
        if (!sorted[i]->folder[0])
            snprintf(sorted[i]->folder, sizeof sorted[i]->folder, "rank%u", i);
    }
    qsort(sorted, n, sizeof(struct tg_ranks_rank *), compare_folders);
    for (uint32_t i = 1; i < n; i++)
        if (strcmp(sorted[i - 1]->folder, sorted[i]->folder) == 0)
            return wrong(pull, same);
    return true;
}

/* The list may come before the number, so only the end shows a rank too many. */
static bool check(struct tg_pull *pull, struct tg_ranks *ranks)
{
    if (ranks->info.ranks == 0)
        return wrong(pull, "\"ranks\" is missing");
    for (uint32_t i = ranks->info.ranks; i < TG_COMM_MAX_RANKS; i++)
        if (ranks->rank[i].is_listed)
            return wrong(pull, "\"rank\" lists a rank that \"ranks\" does not count");
    return check_folders(pull, ranks);
}

static bool read_text(struct tg_pull *pull, struct tg_ranks *ranks)
{
    if (tg_pull_next(pull) != TG_PULL_BEGIN_OBJECT)
        return wrong(pull, "it is not a JSON object");
    while (tg_pull_next(pull) == TG_PULL_KEY) {
        char key[16];
        tg_pull_text(pull, key, sizeof key);
        tg_pull_next(pull);
        if (!take_member(pull, key, ranks))
            return false;
    }
    return pull->token == TG_PULL_END_OBJECT && tg_pull_next(pull) == TG_PULL_END &&
           check(pull, ranks);
}

/* Every rank has a number and a path, also one that the file does not list. */
static bool fill(struct tg_ranks *ranks)
{
    for (uint32_t i = 0; i < ranks->info.ranks; i++) {
        struct tg_ranks_rank *rank = &ranks->rank[i];
        rank->rank = i;
        rank->dir = tg_path_join(ranks->dir, rank->folder);
        if (!rank->dir)
            return false;
    }
    return true;
}

tg_status tg_ranks_read(const char *dir, const char *text, size_t size, struct tg_ranks **ranks,
                        struct tg_error *error)
{
    struct tg_pull pull;
    struct tg_ranks *made = calloc(1, sizeof *made);
    *ranks = NULL;
    if (made) {
        made->dir = strdup(dir);
        made->rank = calloc(TG_COMM_MAX_RANKS, sizeof *made->rank);
    }
    if (!made || !made->dir || !made->rank) {
        tg_ranks_close(made);
        return tg_file_no_memory(error);
    }
    made->info.dir = made->dir;
    tg_pull_start(&pull, text, size);
    bool is_good = read_text(&pull, made);
    if (is_good && fill(made)) {
        *ranks = made;
        return TG_OK;
    }
    tg_ranks_close(made);
    if (is_good)
        return tg_file_no_memory(error);
    return tg_error_set(error, TG_BAD_ARGUMENT,
                        "'%s/" TG_RANKS_FILE "', line %lu: %s; this is not the " TG_RANKS_FILE
                        " of a run",
                        dir, tg_pull_line(&pull), pull.problem ? pull.problem : "it ends early");
}

void tg_ranks_close(struct tg_ranks *ranks)
{
    for (uint32_t i = 0; ranks && ranks->rank && i < ranks->info.ranks; i++)
        free((char *)(uintptr_t)ranks->rank[i].dir);
    free(ranks ? ranks->rank : NULL);
    free(ranks ? ranks->dir : NULL);
    free(ranks);
}

/* ── the directory ─────────────────────────────────────────────────────────────────────── */

tg_status tg_ranks_look(const char *dir, bool *is, struct tg_error *error)
{
    enum tg_path_kind kind;
    TG_REFUSE_NULL(error, dir);
    TG_REFUSE_NULL(error, is);
    *is = false;
    char *path = tg_path_join(dir, TG_RANKS_FILE);
    if (!path)
        return tg_file_no_memory(error);
    int cause = tg_path_look(path, &kind);
    *is = cause == 0 && kind != TG_PATH_NOTHING;
    tg_status status = cause == 0 ? TG_OK : tg_file_error(error, "read", path, cause);
    free(path);
    return status;
}

/* A folder's name comes out of the file, which may be a stranger's, so that it must not lead elsewhere: a symbolic
 * link counts as not there. */
static tg_status look_at_folders(struct tg_ranks *ranks, struct tg_error *error)
{
    for (uint32_t i = 0; i < ranks->info.ranks; i++) {
        struct stat folder;
        int cause = lstat(ranks->rank[i].dir, &folder) == 0 ? 0 : errno;
        if (tg_cause_is_fault(cause) && cause != EACCES && cause != EPERM)
            return tg_file_error(error, "read", ranks->rank[i].dir, cause);
        ranks->rank[i].is_there = cause == 0 && S_ISDIR(folder.st_mode);
    }
    return TG_OK;
}

static tg_status load(const char *dir, const char *path, struct tg_ranks **ranks,
                      struct tg_error *error)
{
    struct tg_map map;
    int cause = tg_map_load(path, TG_RANKS_MOST, &map);
    if (cause == ENOENT || cause == ENOTDIR)
        return tg_error_set(error, TG_NOT_FOUND,
                            "'%s' has no " TG_RANKS_FILE ": it is not the directory of a run "
                            "with several ranks",
                            dir);
    if (cause != 0)
        return tg_cause_is_fault(cause)
                   ? tg_file_error(error, "read", path, cause)
                   : tg_error_set(error, TG_BAD_ARGUMENT, "cannot read '%s': %s", path,
                                  tg_cause_text(cause));
    tg_status status = tg_ranks_read(dir, (const char *)map.bytes, map.size, ranks, error);
    tg_map_close(&map);
    return status;
}

tg_status tg_ranks_open(const char *dir, struct tg_ranks **ranks, struct tg_error *error)
{
    TG_REFUSE_NULL(error, dir);
    TG_REFUSE_NULL(error, ranks);
    *ranks = NULL;
    char *path = tg_path_join(dir, TG_RANKS_FILE);
    if (!path)
        return tg_file_no_memory(error);
    tg_status status = load(dir, path, ranks, error);
    free(path);
    if (status == TG_OK && (status = look_at_folders(*ranks, error)) != TG_OK) {
        tg_ranks_close(*ranks);
        *ranks = NULL;
    }
    return status;
}

void tg_ranks_get_info(const struct tg_ranks *ranks, struct tg_ranks_info *info)
{
    if (ranks == NULL || info == NULL)
        return;
    *info = ranks->info;
}

bool tg_ranks_get(const struct tg_ranks *ranks, uint32_t number, struct tg_ranks_rank *rank)
{
    if (!ranks || number >= ranks->info.ranks)
        return false;
    *rank = ranks->rank[number];
    return true;
}

/* ── clocks ────────────────────────────────────────────────────────────────────────────── */

static int64_t add(int64_t a, int64_t b)
{
    if (b > 0 && a > INT64_MAX - b)
        return INT64_MAX;
    if (b < 0 && a < INT64_MIN - b)
        return INT64_MIN;
    return a + b;
}

int64_t tg_ranks_time(const struct tg_ranks_clock *clock, int64_t own_ns)
{
    if (clock == NULL || !clock->is_known)
        return own_ns;
    /* Less than 2^64 in size, since the drift is less than 1; beyond int64_t it is cut. */
    double drift = clock->drift * ((double)own_ns - (double)clock->at_ns);
    drift = drift > 9.2e18 ? 9.2e18 : drift < -9.2e18 ? -9.2e18 : drift;
    return add(add(own_ns, clock->offset_ns), llround(drift));
}
