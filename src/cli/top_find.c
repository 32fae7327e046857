/* SPDX-License-Identifier: Apache-2.0 */
/* Which run `top` follows. */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <taskglass/ranks.h>

#include "cli/top.h"

static const char outputs[] = "outputs";

static bool answers_itself(const char *dir)
{
    struct tg_live *live;
    if (tg_live_open(dir, &live, NULL) != TG_OK)
        return false;
    tg_live_close(live);
    return true;
}

/* Of a run with several ranks, whether one of them does. */
static bool answers(const char *dir)
{
    struct tg_ranks *ranks = NULL;
    struct tg_ranks_rank rank;
    bool is = answers_itself(dir);
    if (!is && tg_ranks_open(dir, &ranks, NULL) == TG_OK)
        for (uint32_t i = 0; !is && tg_ranks_get(ranks, i, &rank); i++)
            is = rank.is_there && answers_itself(rank.dir);
    tg_ranks_close(ranks);
    return is;
}

/* The best directory so far. */
struct best {
    char *path;
    bool answers;
    struct timespec time;
};

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* A run that answers is better than one that does not, and a newer one better than an older. */
static void consider(const char *name, struct best *best)
{
    char path[PATH_MAX];
    struct stat info;
    int length = snprintf(path, sizeof path, "%s/%s", outputs, name);
    if (name[0] == '.' || length >= PATH_MAX || stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return;
    bool is_live = answers(path);
    if (best->path &&
        (best->answers != is_live ? best->answers : !is_newer(&info.st_mtim, &best->time)))
        return;
    char *copy = strdup(path);
    if (!copy)
        return;
    free(best->path);
    *best = (struct best){copy, is_live, info.st_mtim};
}

/* The recording in a run's directory stands for the run, as with other verbs. */
static char *run_of(const char *dir)
{
    static const char folder[] = "tensor_dump";
    char *path = strdup(dir);
    if (!path)
        return NULL;
    size_t length = strlen(path), last = sizeof folder - 1;
    while (length > 1 && path[length - 1] == '/')
        path[--length] = '\0';
    if (length > last && path[length - last - 1] == '/' &&
        strcmp(path + length - last, folder) == 0)
        path[length - last - 1] = '\0';
    return path;
}

static tg_status fail(struct tg_error *error, tg_status status, const char *text)
{
    error->status = status;
    snprintf(error->text, sizeof error->text, "%s", text);
    return status;
}

tg_status cli_top_newest(char **path, struct tg_error *error)
{
    return cli_top_find(NULL, path, error);
}

tg_status cli_top_find(const char *dir, char **path, struct tg_error *error)
{
    struct best best = {0};
    const struct dirent *entry;
    *path = NULL;
    if (dir) {
        *path = run_of(dir);
        return *path ? TG_OK : fail(error, TG_NO_MEMORY, "out of memory");
    }
    DIR *folder = opendir(outputs);
    while (folder && (entry = readdir(folder)))
        consider(entry->d_name, &best);
    if (folder)
        closedir(folder);
    *path = best.path;
    return *path ? TG_OK
                 : fail(error, TG_NOT_FOUND,
                        "no run under outputs/; name the directory of one, or start one: taskglass "
                        "run WORKLOAD");
}
