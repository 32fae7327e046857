/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files that a path stands for: a run's directory, the recording's folder in it, or a
 * file of the recording. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "recording/reader.h"
#include "recording/record.h"

/* In order of preference. The given folder itself comes last: a run's directory may hold files of
 * any name, but the folders in it are known. */
static const char *const folders[] = {TG_DUMP_FOLDER, "args_dump", "."};
static const char *const manifests[] = {TG_DUMP_MANIFEST, "args_dump.json", "manifest.json"};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Sets *copy to the name if the folder has a file of that name. */
static tg_status look_for(const char *dir, const char *name, char **copy, struct tg_error *error)
{
    char *path = tg_path_join(dir, name);
    enum tg_path_kind kind = TG_PATH_NOTHING;
    int cause = path ? tg_path_look(path, &kind) : ENOMEM;
    tg_status status = TG_OK;
    if (cause == 0 && kind == TG_PATH_FILE && !(*copy = strdup(name)))
        cause = ENOMEM;
    if (cause != 0)
        status = cause == ENOMEM ? tg_file_no_memory(error)
                                 : tg_file_error(error, "look for", path, cause);
    free(path);
    return status;
}

/* Finds the files in a folder; both names stay NULL if it has none. */
static tg_status look_into(const char *dir, struct tg_found *found, struct tg_error *error)
{
    tg_status status = look_for(dir, TG_DUMP_JOURNAL, &found->journal, error);
    for (size_t i = 0; status == TG_OK && i < COUNT(manifests) && !found->manifest; i++)
        status = look_for(dir, manifests[i], &found->manifest, error);
    return status;
}

static tg_status find_in_dir(const char *path, struct tg_found *found, struct tg_error *error)
{
    for (size_t i = 0; i < COUNT(folders); i++) {
        bool itself = strcmp(folders[i], ".") == 0;
        found->dir = itself ? strdup(path) : tg_path_join(path, folders[i]);
        if (!found->dir)
            return tg_file_no_memory(error);
        tg_status status = look_into(found->dir, found, error);
        if (status != TG_OK)
            return status;
        if (found->journal || found->manifest)
            return TG_OK;
        free(found->dir);
        found->dir = NULL;
    }
    return tg_error_set(error, TG_NOT_FOUND,
                        "'%s' has no recording: neither tensor_dump/ nor args_dump/, and no "
                        "tensor_dump.rec or tensor_dump.json",
                        path);
}

/* Recognizes a journal by its first bytes, so that a renamed one is found as well. */
static bool is_journal(const char *path)
{
    char begin[8];
    int fd;
    if (tg_file_open(path, TG_LINKS_FOLLOW, false, &fd, NULL) != 0)
        return false;
    bool is = pread(fd, begin, sizeof begin, 0) == (ssize_t)sizeof begin &&
              tg_journal_begins(begin, sizeof begin);
    close(fd);
    return is;
}

static tg_status find_file(const char *path, struct tg_found *found, struct tg_error *error)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t dir_length = slash ? (size_t)(slash - path) : 0;
    found->dir = slash == path ? strdup("/") : slash ? strndup(path, dir_length) : strdup(".");
    bool journal = is_journal(path) || strcmp(name, TG_DUMP_JOURNAL) == 0;
    char **which = journal ? &found->journal : &found->manifest;
    *which = strdup(name);
    return found->dir && *which ? TG_OK : tg_file_no_memory(error);
}

tg_status tg_found_files(const char *path, struct tg_found *found, struct tg_error *error)
{
    struct stat info;
    *found = (struct tg_found){0};
    if (stat(path, &info) != 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? tg_error_set(error, TG_NOT_FOUND, "there is no '%s'", path)
                   : tg_file_error(error, "read", path, errno);
    if (S_ISDIR(info.st_mode))
        return find_in_dir(path, found, error);
    if (!S_ISREG(info.st_mode))
        return tg_error_set(error, TG_BAD_ARGUMENT, "'%s' is neither a directory nor a file", path);
    return find_file(path, found, error);
}

tg_status tg_found_both(struct tg_found *found, struct tg_error *error)
{
    tg_status status = TG_OK;
    if (!found->journal)
        status = look_for(found->dir, TG_DUMP_JOURNAL, &found->journal, error);
    if (status == TG_OK && !found->manifest)
        status = look_for(found->dir, TG_DUMP_MANIFEST, &found->manifest, error);
    return status;
}

void tg_found_free(struct tg_found *found)
{
    free(found->dir);
    free(found->journal);
    free(found->manifest);
    *found = (struct tg_found){0};
}

/* Returns 0, or a cause that is a fault. */
static int look_up(const char *dir, bool *is_in_run)
{
    char *real = realpath(dir, NULL), last[TG_NAME_MAX + 1];
    if (!real && tg_cause_is_fault(errno))
        return errno;
    tg_path_last(real ? real : dir, last, sizeof last);
    free(real);
    *is_in_run = false;
    for (size_t i = 0; i + 1 < COUNT(folders); i++)
        *is_in_run = *is_in_run || strcmp(last, folders[i]) == 0;
    return 0;
}

/* The folder around `dir`, on the heap. "dir/.." is right in all cases, but if no link is involved a shorter
 * path means the same, and messages show it. */
static char *folder_around(const char *dir)
{
    const char *slash = strrchr(dir, '/');
    struct stat info;
    if (!tg_path_is_plain(slash ? slash + 1 : dir) || lstat(dir, &info) != 0 ||
        S_ISLNK(info.st_mode))
        return tg_path_join(dir, "..");
    if (!slash)
        return strdup(".");
    return strndup(dir, slash == dir ? 1 : (size_t)(slash - dir));
}

int tg_run_folder(const char *dir, char **folder)
{
    bool is_in_run;
    int cause = look_up(dir, &is_in_run);
    *folder = NULL;
    if (cause == 0 && is_in_run && !(*folder = folder_around(dir)))
        cause = ENOMEM;
    return cause;
}

int tg_run_file(const char *dir, const char *name, char **path)
{
    char *folder;
    int cause = tg_run_folder(dir, &folder);
    *path = NULL;
    if (cause == 0 && !(*path = tg_path_join(folder ? folder : dir, name)))
        cause = ENOMEM;
    free(folder);
    return cause;
}
