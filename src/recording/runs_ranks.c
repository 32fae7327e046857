/* SPDX-License-Identifier: Apache-2.0 */
/* Runs with several ranks in the list of runs: one run, whose files lie in the folders of its ranks. */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <taskglass/ranks.h>
#include <taskglass/text.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/lock.h"
#include "recording/reader.h"
#include "recording/runs.h"

/* ── listing ───────────────────────────────────────────────────────────────────────────── */

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Takes what a rank has into the run: counts add up, times are those of the longest. */
static void add_rank(const struct tg_runs_entry *rank, bool is_first, struct tg_runs_entry *run)
{
    if (is_first) {
        memcpy(run->platform, rank->platform, sizeof run->platform);
        memcpy(run->runtime, rank->runtime, sizeof run->runtime);
        run->began = rank->began;
    }
    run->began = rank->began < run->began ? rank->began : run->began;
    run->seconds = rank->seconds > run->seconds ? rank->seconds : run->seconds;
    run->has_counts = (is_first || run->has_counts) && rank->has_counts;
    run->recorded |= rank->recorded;
    run->tasks = add(run->tasks, rank->tasks);
    run->finished = add(run->finished, rank->finished);
    run->records = add(run->records, rank->records);
    run->lost = add(run->lost, rank->lost);
    run->bytes = add(run->bytes, rank->bytes);
    run->others += rank->others;
    if (rank->state == TG_RECORDING_RUNNING)
        run->state = TG_RECORDING_RUNNING;
}

static int add_ranks(const struct tg_ranks *ranks, struct tg_runs_entry *run)
{
    struct tg_ranks_rank rank;
    bool is_first = true, is_whole = true;
    int cause = 0;
    for (uint32_t i = 0; cause == 0 && tg_ranks_get(ranks, i, &rank); i++) {
        struct tg_runs_entry entry;
        bool is_run = false;
        cause = rank.is_there ? tg_runs_look(rank.dir, rank.folder, &entry, &is_run) : 0;
        if (cause == 0 && is_run) {
            add_rank(&entry, is_first, run);
            is_first = false;
        }
        is_whole = is_whole && is_run;
    }
    /* A sum without one of the ranks is not the run's. */
    run->has_counts = run->has_counts && is_whole;
    run->recorded = run->recorded && is_whole;
    return cause;
}

/* ranks.json says RUNNING until the end; if nobody holds a lock any more, the run was killed. */
static void set_state(const struct tg_ranks_info *info, struct tg_runs_entry *run)
{
    run->has_status = info->has_status;
    run->status = info->status;
    if (run->state == TG_RECORDING_RUNNING)
        return;
    if (info->has_status)
        run->state = tg_recording_state_of(info->status);
    else
        run->state = info->is_running ? TG_RECORDING_INTERRUPTED : TG_RECORDING_UNKNOWN;
}

/* Without a ranks.json that can be read, the ranks are the folders that are runs. Returns 0, or a cause that is a
 * fault. */
static int add_folders(const char *path, struct tg_runs_entry *run)
{
    const struct dirent *entry;
    bool is_first = true;
    int cause = 0;
    DIR *names = opendir(path);
    if (!names)
        return tg_cause_is_fault(errno) ? errno : 0;
    while (cause == 0 && (entry = readdir(names))) {
        struct tg_runs_entry rank;
        bool is_run = false;
        if (entry->d_name[0] == '.')
            continue;
        char *folder = tg_path_join(path, entry->d_name);
        cause = folder ? tg_runs_look(folder, entry->d_name, &rank, &is_run) : ENOMEM;
        if (cause == 0 && is_run)
            add_rank(&rank, is_first, run);
        is_first = is_first && !is_run;
        free(folder);
    }
    (void)closedir(names);
    run->has_counts = run->recorded = false;
    return cause == EACCES || cause == EPERM ? 0 : cause;
}

static int add_known(const struct tg_ranks *ranks, struct tg_runs_entry *run)
{
    struct tg_ranks_info info;
    tg_ranks_get_info(ranks, &info);
    memcpy(run->workload, info.workload, sizeof run->workload);
    memcpy(run->case_name, info.case_name, sizeof run->case_name);
    run->ranks = info.ranks;
    int cause = add_ranks(ranks, run);
    set_state(&info, run);
    return cause;
}

int tg_runs_look_ranks(const char *path, const char *name, struct tg_runs_entry *run, bool *is_run)
{
    struct tg_ranks *ranks = NULL;
    struct stat folder;
    struct tg_error error;
    bool is_ranks = false;
    if (lstat(path, &folder) != 0 || !S_ISDIR(folder.st_mode) ||
        tg_ranks_look(path, &is_ranks, &error) != TG_OK || !is_ranks)
        return 0;
    *is_run = true;
    *run = (struct tg_runs_entry){.began = (int64_t)folder.st_mtime};
    tg_text_clean(name, run->name, sizeof run->name);
    tg_status status = tg_ranks_open(path, &ranks, &error);
    if (status == TG_NO_MEMORY)
        return ENOMEM;
    int cause = status == TG_OK ? add_known(ranks, run) : add_folders(path, run);
    tg_ranks_close(ranks);
    return cause;
}

/* ── removing ──────────────────────────────────────────────────────────────────────────── */

/* Of all ranks before the first file goes: half a run is of no use. */
static tg_status check_locks(const struct tg_ranks *ranks, const char *path, struct tg_error *error)
{
    struct tg_ranks_rank rank;
    for (uint32_t i = 0; tg_ranks_get(ranks, i, &rank); i++) {
        enum tg_lock held = TG_LOCK_FREE;
        if (rank.is_there && tg_lock_look(rank.dir, &held) == 0 && held == TG_LOCK_BUSY)
            return tg_error_set(error, TG_BUSY, "'%s' is still at work and was not removed", path);
    }
    return TG_OK;
}

static void add_removed(const struct tg_runs_removed *rank, struct tg_runs_removed *all)
{
    all->bytes = add(all->bytes, rank->bytes);
    all->files += rank->files;
    all->others += rank->others;
    if (rank->others > 0)
        memcpy(all->other, rank->other, sizeof all->other);
}

/* With --trace each rank leaves one in its folder; elsewhere such a name is a user's file. */
static void remove_traces(const struct tg_ranks_rank *rank, struct tg_runs_removed *removed)
{
    static const char *const names[] = {"trace.json", "trace.pftrace"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct stat info;
        char *path = tg_path_join(rank->dir, names[i]);
        if (path && lstat(path, &info) == 0 && S_ISREG(info.st_mode) && unlink(path) == 0) {
            removed->bytes = add(removed->bytes, (uint64_t)info.st_blocks * 512);
            removed->files++;
        }
        free(path);
    }
}

/* A folder that is no run's, such as one that somebody else made, stays. */
static tg_status remove_rank(const struct tg_ranks_rank *rank, struct tg_runs_removed *removed,
                             struct tg_error *error)
{
    struct tg_runs_removed one;
    remove_traces(rank, removed);
    tg_status status = tg_runs_remove(rank->dir, &one, error);
    if (status == TG_OK)
        add_removed(&one, removed);
    if (status != TG_BAD_ARGUMENT)
        return status == TG_NOT_FOUND ? TG_OK : status;
    if (rmdir(rank->dir) == 0)
        return TG_OK;
    removed->others++;
    tg_text_clean(rank->folder, removed->other, sizeof removed->other);
    return TG_OK;
}

/* ranks.json goes last, so that a removal that is interrupted leaves what is still listed. */
static tg_status remove_file(const char *path, struct tg_runs_removed *removed,
                             struct tg_error *error)
{
    char *temporary = tg_path_temporary(path, TG_RANKS_FILE);
    if (temporary)
        (void)unlink(temporary);
    free(temporary);
    tg_status status = tg_file_remove(path, TG_RANKS_FILE, error);
    if (status != TG_OK)
        return status;
    removed->files++;
    if (rmdir(path) != 0 && errno != ENOTEMPTY && errno != EEXIST && errno != ENOENT)
        return tg_file_error(error, "remove", path, errno);
    return TG_OK;
}

tg_status tg_runs_remove_ranks(const char *path, struct tg_runs_removed *removed,
                               struct tg_error *error)
{
    struct tg_ranks *ranks;
    struct tg_ranks_rank rank;
    tg_status status = tg_ranks_open(path, &ranks, error);
    if (status != TG_OK)
        return status;
    status = check_locks(ranks, path, error);
    for (uint32_t i = 0; status == TG_OK && tg_ranks_get(ranks, i, &rank); i++)
        if (rank.is_there)
            status = remove_rank(&rank, removed, error);
    tg_ranks_close(ranks);
    return status == TG_OK ? remove_file(path, removed, error) : status;
}
