/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <taskglass/ranks.h>
#include <taskglass/text.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "recording/run_folder.h"
#include "recording/runs.h"

struct removal {
    struct tg_runs_removed *removed;
    int cause; /* of the first file that could not be removed */
};

static bool remove_file(void *context, int folder, const char *name)
{
    struct removal *removal = context;
    if (unlinkat(folder, name, 0) == 0)
        removal->removed->files++;
    else if (errno != ENOENT && removal->cause == 0)
        removal->cause = errno;
    return removal->cause == 0;
}

/* A folder with something else in it stays. */
static int remove_folders(int dir)
{
    const struct tg_run_name *file;
    for (unsigned i = 0; (file = tg_run_name_at(i)); i++)
        if (*file->folder && unlinkat(dir, file->folder, AT_REMOVEDIR) != 0 && errno != ENOENT &&
            errno != ENOTEMPTY && errno != ENOTDIR)
            return errno;
    return 0;
}

/* Removes it only if it is empty, whatever it is by now. Returns 0 or an errno. */
static int remove_directory(const char *path)
{
    if (rmdir(path) == 0)
        return 0;
    if (errno != EINVAL) /* "." has to be removed by its name */
        return errno;
    char *real = realpath(path, NULL);
    int cause = !real || rmdir(real) != 0 ? errno : 0;
    free(real);
    return cause;
}

/* The caller holds the lock of the directory, and `dir` is open in it. */
static tg_status remove_content(const char *path, int dir, struct tg_runs_removed *removed,
                                struct tg_error *error)
{
    struct removal removal = {.removed = removed};
    struct tg_run_content content;
    int cause = tg_run_content(dir, remove_file, &removal, &content);
    removed->bytes = content.bytes;
    removed->others = content.others;
    tg_text_clean(content.other, removed->other, sizeof removed->other);
    if (cause != 0)
        return tg_file_error(error, "remove", path, removal.cause ? removal.cause : cause);
    cause = remove_folders(dir);
    if (cause != 0)
        return tg_file_error(error, "remove", path, cause);
    cause = content.others == 0 ? remove_directory(path) : 0;
    return cause == 0 || cause == ENOENT ? TG_OK : tg_file_error(error, "remove", path, cause);
}

/* Refuses what is not the directory of a run. */
static tg_status check(const char *path, int dir, struct tg_error *error)
{
    struct tg_run_content content;
    bool is_run = false;
    int cause = tg_run_content(dir, NULL, NULL, &content);
    if (cause == 0)
        cause = tg_run_content_is_run(path, &content, &is_run);
    if (cause != 0)
        return tg_file_error(error, "read", path, cause);
    if (!is_run)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "'%s' is not the directory of a run: it has no file that a run writes",
                            path);
    return TG_OK;
}

static tg_status lock_and_remove(const char *path, int dir, struct tg_runs_removed *removed,
                                 struct tg_error *error)
{
    struct tg_run_lock lock = TG_RUN_LOCK_NONE;
    struct stat opened, locked;
    tg_status status = check(path, dir, error);
    if (status == TG_OK)
        status = tg_run_folder_lock(path, &lock, error);
    if (status == TG_BUSY)
        return tg_error_set(error, TG_BUSY, "'%s' is still at work and was not removed", path);
    if (status != TG_OK)
        return status;
    /* Somebody may have put a link or another directory in its place. */
    if (fstat(dir, &opened) != 0 || fstat(lock.fd, &locked) != 0)
        status = tg_file_error(error, "read", path, errno);
    else if (opened.st_ino != locked.st_ino || opened.st_dev != locked.st_dev)
        status = tg_error_set(error, TG_IO_ERROR, "'%s' was replaced meanwhile", path);
    else
        status = remove_content(path, dir, removed, error);
    tg_run_folder_unlock(&lock);
    return status;
}

tg_status tg_runs_remove(const char *path, struct tg_runs_removed *removed, struct tg_error *error)
{
    struct tg_runs_removed unread;
    struct tg_error unseen;
    int dir;
    removed = removed ? removed : &unread;
    error = error ? error : &unseen;
    *removed = (struct tg_runs_removed){0};
    bool has_ranks = false;
    int cause = tg_run_content_open(path, &dir);
    if (cause == 0 && tg_ranks_look(path, &has_ranks, error) == TG_OK && has_ranks) {
        close(dir);
        return tg_runs_remove_ranks(path, removed, error);
    }
    if (cause == ENOENT)
        return tg_error_set(error, TG_NOT_FOUND, "there is no run '%s'", path);
    if (cause == ENOTDIR || cause == ELOOP)
        return tg_error_set(error, TG_BAD_ARGUMENT, "'%s' is not the directory of a run", path);
    if (cause != 0)
        return tg_file_error(error, "read", path, cause);
    tg_status status = lock_and_remove(path, dir, removed, error);
    close(dir);
    return status;
}
