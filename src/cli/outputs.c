/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "cli/outputs.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <taskglass/ranks.h>

static const char outputs[] = "outputs";

static bool has_folder_itself(const char *run_dir, const struct cli_outputs_want *want)
{
    char path[PATH_MAX];
    struct stat info;
    for (size_t i = 0; i < sizeof want->folders / sizeof want->folders[0]; i++) {
        if (!want->folders[i])
            break;
        int length = snprintf(path, sizeof path, "%s/%s", run_dir, want->folders[i]);
        if (length < PATH_MAX && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
            return true;
    }
    return false;
}

/* Of a run with several ranks, whether one of them has. */
static bool has_folder(const char *run_dir, const struct cli_outputs_want *want)
{
    struct tg_ranks *ranks = NULL;
    struct tg_ranks_rank rank;
    bool has = has_folder_itself(run_dir, want);
    if (!has && tg_ranks_open(run_dir, &ranks, NULL) == TG_OK)
        for (uint32_t i = 0; !has && tg_ranks_get(ranks, i, &rank); i++)
            has = rank.is_there && has_folder_itself(rank.dir, want);
    tg_ranks_close(ranks);
    return has;
}

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* Compares the modification times of the runs' directories. A directory changes when the run writes
 * run.json, but not when a command reads or recovers the run. Of equal times the later name wins. */
static void consider(const char *name, const struct cli_outputs_want *want, struct timespec *newest,
                     char **best)
{
    char path[PATH_MAX];
    struct stat info;
    int length = snprintf(path, sizeof path, "%s/%s", outputs, name);
    if (name[0] == '.' || length >= PATH_MAX || stat(path, &info) != 0 || !S_ISDIR(info.st_mode) ||
        !has_folder(path, want))
        return;
    if (*best && (is_newer(newest, &info.st_mtim) ||
                  (!is_newer(&info.st_mtim, newest) && strcmp(*best, path) > 0)))
        return;
    free(*best);
    *best = strdup(path);
    *newest = info.st_mtim;
}

tg_status cli_outputs_newest(const struct cli_outputs_want *want, char **path,
                             struct tg_error *error)
{
    struct timespec newest = {0};
    const struct dirent *entry;
    DIR *dir = opendir(outputs);
    *path = NULL;
    if (!dir && errno != ENOENT) {
        error->status = TG_IO_ERROR;
        snprintf(error->text, sizeof error->text, "cannot read '%s': %s", outputs, strerror(errno));
        return TG_IO_ERROR;
    }
    while (dir && (entry = readdir(dir)))
        consider(entry->d_name, want, &newest, path);
    if (dir)
        closedir(dir);
    if (*path)
        return TG_OK;
    error->status = TG_NOT_FOUND;
    snprintf(error->text, sizeof error->text, "%s", want->missing);
    return TG_NOT_FOUND;
}
