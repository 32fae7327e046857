/* SPDX-License-Identifier: Apache-2.0 */
/* What is left to do in the directory of a job after ranks have died: say in ranks.json who died of what,
 * and make the recordings of the dead readable. */
#define _GNU_SOURCE 1
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/job.h>
#include <taskglass/recording.h>
#include <taskglass/recover.h>
#include <taskglass/wire/stream.h>
#include <time.h>

#include "base/files.h"
#include "host/empty_recording.h"
#include "host/job.h"
#include "recording/ranks.h"

/* A rank that has said how it ended keeps its words, unless it was well until it was killed. */
static bool was_killed(const struct tg_ranks_rank *rank, const struct tg_job_ending *ending)
{
    bool has_no_words = rank->is_running || !rank->has_status ||
                        strcmp(rank->error, TG_JOB_NO_REPORT) == 0 || rank->status == TG_OK;
    return ending->is_gone && ending->signal != 0 && has_no_words;
}

static bool note(struct tg_ranks_rank *rank, const struct tg_job_ending *ending)
{
    if (was_killed(rank, ending) && ending->was_stopped) {
        snprintf(rank->error, sizeof rank->error, TG_RANKS_BY_LAUNCHER);
    } else if (was_killed(rank, ending)) {
        const char *name = sigabbrev_np(ending->signal);
        snprintf(rank->error, sizeof rank->error, TG_RANKS_BY_SIGNAL "%d%s%s", ending->signal,
                 name ? ", SIG" : "", name ? name : "");
    } else if (ending->is_gone && (rank->is_running || !rank->has_status) && ending->code >= 0) {
        snprintf(rank->error, sizeof rank->error, TG_RANKS_BY_EXIT "%d before it left a report",
                 ending->code);
    } else if (ending->is_gone && (rank->is_running || !rank->has_status)) {
        snprintf(rank->error, sizeof rank->error, "its process ended without a report%s",
                 ending->was_first ? ", the first on its machine as far as seen"
                                   : ", after that of another rank");
    } else {
        return false;
    }
    rank->status = TG_RANK_LOST;
    rank->has_status = true;
    rank->is_running = false;
    return true;
}

/* How the ranks were recorded: as any of them that has a recording was. False: none has. */
static bool find_recorded(const char *dir, const struct tg_ranks_rank *all, uint32_t n,
                          struct tg_recording_info *info)
{
    bool found = false;
    for (uint32_t r = 0; r < n && !found; r++) {
        struct tg_recording *recording = NULL;
        struct tg_error error;
        char *path = tg_path_join(dir, all[r].folder);
        if (path && tg_recording_open(path, &recording, &error) == TG_OK) {
            tg_recording_get_info(recording, info);
            found = info->level != TG_LEVEL_OFF;
            tg_recording_close(recording);
        }
        free(path);
    }
    return found;
}

/* A rank that died before it began to record has a recording too: one without a record that says why. */
static void write_empty(const char *path, const struct tg_recording_info *like)
{
    const struct tg_record_config config = {.level = like->level};
    struct tg_run_lock lock = TG_RUN_LOCK_NONE;
    struct tg_record_result result;
    struct tg_error error;
    if (tg_run_folder_lock(path, &lock, &error) == TG_OK)
        tg_empty_recording_write(path, &config, false, like->poison, TG_RANK_LOST, &result);
    tg_run_folder_unlock(&lock);
}

static void recover(const char *dir, const struct tg_ranks_rank *all, uint32_t n, uint32_t r)
{
    struct tg_recovery recovery;
    struct tg_recording_info like;
    struct tg_error error;
    char *path = tg_path_join(dir, all[r].folder);
    if (path && all[r].is_there && tg_recording_recover(path, &recovery, &error) == TG_NOT_FOUND &&
        find_recorded(dir, all, n, &like))
        write_empty(path, &like);
    free(path);
}

/* The others may have written already that it is gone, but not what it left. */
static bool had_no_report(const struct tg_ranks_rank *rank)
{
    return rank->status == TG_RANK_LOST && strcmp(rank->error, TG_JOB_NO_REPORT) == 0;
}

static void conclude(struct tg_ranks_info *info, const struct tg_ranks_rank *all)
{
    if (!info->is_running && info->has_status && info->status != TG_OK)
        return;
    info->is_running = false;
    info->has_status = true;
    info->status = TG_OK;
    for (uint32_t r = 0; r < info->ranks; r++)
        if (tg_status_exit_code(all[r].status) > tg_status_exit_code(info->status))
            info->status = all[r].status;
}

static bool complete(const char *dir, const struct tg_ranks *ranks,
                     const struct tg_job_ending *ending, uint32_t n)
{
    struct tg_ranks_info info;
    struct tg_error error;
    bool changed = false, all_known = true;
    tg_ranks_get_info(ranks, &info);
    struct tg_ranks_rank *all = calloc(info.ranks, sizeof *all);
    if (!all)
        return false;
    for (uint32_t r = 0; r < info.ranks; r++)
        (void)tg_ranks_get(ranks, r, &all[r]);
    for (uint32_t r = 0; r < info.ranks; r++) {
        bool is_new = r < n && ending[r].is_gone && note(&all[r], &ending[r]);
        if (is_new || (r < n && ending[r].is_gone && had_no_report(&all[r])))
            recover(dir, all, info.ranks, r);
        changed = changed || is_new;
        all_known = all_known && all[r].has_status && !all[r].is_running;
    }
    if (changed && all_known)
        conclude(&info, all);
    if (changed)
        (void)tg_ranks_json_write(dir, &info, all, &error);
    free(all);
    return changed;
}

/* Others may do the same for the ranks of other machines. */
static void lock(const char *dir, struct tg_run_lock *lock)
{
    const struct timespec nap = {.tv_nsec = 20000000};
    struct tg_error error;
    for (int tries = 0; tries < 100 && tg_run_folder_lock(dir, lock, &error) == TG_BUSY; tries++)
        nanosleep(&nap, NULL);
}

bool tg_job_complete(const char *dir, const struct tg_job_ending *ending, uint32_t n)
{
    struct tg_run_lock held = TG_RUN_LOCK_NONE;
    struct tg_ranks *ranks;
    struct tg_error error;
    bool changed = false;
    if (dir == NULL || ending == NULL)
        return false;
    lock(dir, &held);
    if (tg_ranks_open(dir, &ranks, &error) == TG_OK) {
        changed = complete(dir, ranks, ending, n);
        tg_ranks_close(ranks);
    }
    tg_run_folder_unlock(&held);
    return changed;
}
