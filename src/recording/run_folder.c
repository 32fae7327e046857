/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "recording/run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <taskglass/live.h>
#include <taskglass/ranks.h>
#include <taskglass/scope_stats.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/lock.h"
#include "recording/record.h"

static const struct tg_run_name files[] = {
    {"", "run.json"},
    {"", "deps.json"},
    {"", TG_CALLS_FILE},
    {"", TG_RANKS_FILE}, /* of a job, in the folder that holds those of its ranks */
    {TG_DUMP_FOLDER, TG_DUMP_MANIFEST},
    {TG_DUMP_FOLDER, TG_DUMP_JOURNAL},
    {TG_DUMP_FOLDER, TG_DUMP_PAYLOAD},
    {TG_SCOPE_FOLDER, TG_SCOPE_SAMPLES},
    {TG_SCOPE_FOLDER, TG_SCOPE_SUMMARY},
    {"", TG_LIVE_SOCKET}, /* of a run that was killed */
};
enum { FILES = sizeof files / sizeof files[0], LARGEST_PROBE = 4096, MOST_TRIES = 100 };

const struct tg_run_name *tg_run_name_at(unsigned number)
{
    return number < FILES ? &files[number] : NULL;
}

/* ── the lock ──────────────────────────────────────────────────────────────────────────── */

static tg_status busy(const char *dir, struct tg_error *error)
{
    return tg_error_set(error, TG_BUSY,
                        "'%s' is in use by another run, or by recover; wait until it has ended, or "
                        "name another folder (--output)",
                        dir);
}

int tg_run_lock_compare(const struct tg_run_lock *lock, const char *dir, bool *same)
{
    struct stat held, there;
    *same = false;
    if (lock->fd < 0)
        return 0;
    if (fstat(lock->fd, &held) != 0 || stat(dir, &there) != 0)
        return tg_cause_is_fault(errno) ? errno : 0;
    *same = held.st_dev == there.st_dev && held.st_ino == there.st_ino;
    return 0;
}

/* An earlier version locks only the journal, and so does a run on another machine as far as this one can
 * see. */
static int look_at_journal(const char *dir, bool *is_busy)
{
    enum tg_lock held = TG_LOCK_FREE;
    char *journal = tg_path_join(dir, TG_DUMP_FOLDER "/" TG_DUMP_JOURNAL);
    int cause = journal ? tg_lock_look(journal, &held) : ENOMEM;
    free(journal);
    *is_busy = held == TG_LOCK_BUSY;
    return cause;
}

static tg_status take(const char *dir, struct tg_run_lock *lock, struct tg_error *error)
{
    lock->fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock->fd < 0)
        return tg_file_error(error, "use directory", dir, errno);
    if (tg_lock_take(lock->fd) != TG_LOCK_BUSY)
        return TG_OK;
    close(lock->fd);
    lock->fd = -1;
    return busy(dir, error);
}

tg_status tg_run_folder_lock(const char *dir, struct tg_run_lock *lock, struct tg_error *error)
{
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        tg_status status = take(dir, lock, error);
        if (status != TG_OK)
            return status;
        /* Somebody may have replaced the folder between open and flock. */
        bool same, is_busy = false;
        int cause = tg_run_lock_compare(lock, dir, &same);
        if (cause == 0 && same)
            cause = look_at_journal(dir, &is_busy);
        if (cause == 0 && same && !is_busy)
            return TG_OK;
        tg_run_folder_unlock(lock);
        if (cause != 0)
            return tg_file_error(error, "use directory", dir, cause);
        if (same)
            break;
    }
    return busy(dir, error);
}

void tg_run_folder_unlock(struct tg_run_lock *lock)
{
    tg_lock_drop(lock->fd);
    lock->fd = -1;
}

/* ── a run in the folder of another ────────────────────────────────────────────────────── */

static bool has(const char *dir, const char *name)
{
    char *path = tg_path_join(dir, name);
    bool is = path && access(path, F_OK) == 0;
    free(path);
    return is;
}

/* Other programs lock folders too (flock(1)), so a locked one is a run's only if it holds what a run
 * makes, or if `next`, which comes below it, is the name of a run's own folder. */
static bool looks_like_run(const char *dir, const char *next)
{
    bool is = false;
    for (unsigned i = 0; i < FILES && !is; i++) {
        const char *name = *files[i].folder ? files[i].folder : files[i].name;
        is = (*files[i].folder && strcmp(next, name) == 0) || has(dir, name);
    }
    return is;
}

/* Cuts the last part off a path and returns it. The rest is "." or "/" at last, and the function then
 * returns NULL. The path has a byte to spare. */
static const char *cut_last(char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        path[--length] = '\0';
    char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    if (*last == '\0' || strcmp(path, ".") == 0)
        return NULL;
    if (slash > path) {
        *slash = '\0';
        return last;
    }
    memmove(path + 2, last,
            strlen(last) + 1); /* "/x" becomes "/" and "x"; "x" becomes "." and "x" */
    memcpy(path, slash ? "/" : ".", 2);
    return path + 2;
}

/* The absolute path, without links, of the part of `path` that exists. *next: what comes behind it, or NULL
 * if all of it exists. NULL: the system does not tell. `path` is changed. */
static char *existing_part(char *path, const char **next)
{
    char *real = NULL, *spare = NULL;
    *next = NULL;
    do
        real = realpath(path, NULL);
    while (!real && errno == ENOENT && (*next = cut_last(path)));
    if (real && !(spare = realloc(real, strlen(real) + 3)))
        free(real);
    return spare;
}

static bool is_run_at_work(const char *dir, const char *next)
{
    enum tg_lock held = TG_LOCK_FREE;
    return looks_like_run(dir, next) && tg_lock_look(dir, &held) == 0 && held == TG_LOCK_BUSY;
}

tg_status tg_run_folder_check_parents(const char *dir, struct tg_error *error)
{
    char *path = malloc(strlen(dir) + 3);
    const char *next = NULL;
    tg_status status = TG_OK;
    if (!path)
        return tg_file_no_memory(error);
    char *real = existing_part(strcpy(path, dir), &next);
    if (real && !next)
        next = cut_last(real);
    for (; real && next && status == TG_OK; next = cut_last(real))
        if (is_run_at_work(real, next))
            status = tg_error_set(error, TG_BUSY,
                                  "'%s' lies in the folder of a run that is still at work, '%s'; "
                                  "wait until it has ended, or name another folder (--output)",
                                  dir, real);
    free(real);
    free(path);
    return status;
}

/* ── folders and leftovers ─────────────────────────────────────────────────────────────── */

int tg_run_folder_make(const char *path, bool shared)
{
    return mkdir(path, shared ? 0777 : 0700) == 0 || errno == EEXIST ? 0 : errno;
}

void tg_run_folder_share(const char *dir, const char *name)
{
    char *path = tg_path_join(dir, name);
    if (path)
        (void)tg_run_folder_make(path, true);
    free(path);
}

void tg_run_folder_remove_empty(const char *dir)
{
    for (unsigned i = 0; i < FILES; i++) {
        char *path = *files[i].folder ? tg_path_join(dir, files[i].folder) : NULL;
        if (path)
            (void)rmdir(path);
        free(path);
    }
}

static void remove_file(int folder, const char *name, off_t largest)
{
    struct stat info;
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode) &&
        info.st_size <= largest)
        (void)unlinkat(folder, name, 0);
}

static void remove_temporary(const char *dir, const struct tg_run_name *file)
{
    char *in = tg_path_join(dir, file->folder), *name = tg_path_temporary(".", file->name);
    int folder = in ? open(in, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (folder >= 0 && name)
        remove_file(folder, name, INT64_MAX);
    if (folder >= 0)
        close(folder);
    free(name);
    free(in);
}

/* ".probe.1234": the file with which a run of process 1234 tries whether it can write. */
static bool is_probe(const char *name)
{
    static const char begin[] = ".probe.";
    const char *digits = name + sizeof begin - 1;
    return strncmp(name, begin, sizeof begin - 1) == 0 && *digits &&
           digits[strspn(digits, "0123456789")] == '\0';
}

static void remove_probes(const char *dir)
{
    const struct dirent *entry;
    DIR *folder = opendir(dir);
    while (folder && (entry = readdir(folder)))
        if (is_probe(entry->d_name))
            remove_file(dirfd(folder), entry->d_name, LARGEST_PROBE);
    if (folder)
        closedir(folder);
}

void tg_run_folder_clean(const char *dir)
{
    for (unsigned i = 0; i < FILES; i++)
        remove_temporary(dir, &files[i]);
    remove_probes(dir);
}
