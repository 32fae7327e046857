/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "host/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <taskglass/ranks.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "host/text.h"

/* Stop looking for a free directory name after this many. */
static const char outputs[] = "outputs";
enum { MOST_PER_SECOND = 100000, PROBE_BYTES = 4096 };

static tg_status no_memory(struct tg_error *error)
{
    tg_error_set(error, TG_NO_MEMORY, "out of host memory for a path");
    return TG_NO_MEMORY;
}

static tg_status cannot(const char *what, const char *path, int cause, struct tg_error *error)
{
    tg_error_set(error, TG_IO_ERROR, "cannot %s '%s': %s", what, path, strerror(cause));
    return TG_IO_ERROR;
}

/* True if what follows a part of a path names the same directory again: "", "/", "/./". */
static bool is_last(const char *rest)
{
    return rest[strspn(rest, "/.")] == '\0';
}

/* Makes a directory, or keeps one that is there. Returns 0 or an errno. */
static int make(const char *path, bool shared, size_t *made)
{
    if (mkdir(path, shared ? 0777 : 0700) != 0)
        return errno == EEXIST ? 0 : errno;
    if (*made == 0)
        *made = strlen(path);
    return 0;
}

/* Creates each parent, as the umask says, then the directory itself. Those that exist already are
 * kept. */
static tg_status make_with_parents(char *path, bool shared, size_t *made, struct tg_error *error)
{
    for (char *slash = path;; slash++) {
        slash = strchrnul(slash, '/');
        char kept = *slash;
        bool last = is_last(slash);
        *slash = '\0';
        int cause = *path == '\0' ? 0 : make(path, shared || !last, made);
        tg_status status = cause == 0 ? TG_OK : cannot("create directory", path, cause, error);
        *slash = kept;
        if (status != TG_OK || kept == '\0')
            return status;
    }
}

/* Opens a file without a name, of which even a killed run leaves nothing; or one with a name, where the
 * file system cannot do that. */
static int open_probe(const char *dir, const char *path)
{
    int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOENT))
        fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    return fd;
}

/* Writes a test file, because a full disk or a read-only directory shows only on a write. */
static int probe(const char *dir, const char *path)
{
    static const char zeros[PROBE_BYTES];
    int fd = open_probe(dir, path);
    if (fd < 0)
        return errno;
    int cause = tg_write_at(fd, zeros, sizeof zeros, 0, NULL);
    if (close(fd) != 0 && cause == 0)
        cause = errno;
    unlink(path);
    return cause;
}

static tg_status check_writable(const char *dir, struct tg_error *error)
{
    char *path = tg_text_format("%s/.probe.%ld", dir, (long)getpid());
    if (!path)
        return no_memory(error);
    int cause = probe(dir, path);
    free(path);
    return cause ? cannot("write to directory", dir, cause, error) : TG_OK;
}

static tg_status remove_old(const char *dir, const struct tg_run_name *name, struct tg_error *error)
{
    char *folder = *name->folder ? tg_path_join(dir, name->folder) : strdup(dir);
    char *path = folder ? tg_path_join(folder, name->name) : NULL;
    free(folder);
    if (!path)
        return no_memory(error);
    tg_status status = TG_OK;
    if (unlink(path) != 0 && errno != ENOENT && errno != ENOTDIR)
        status = cannot("replace", path, errno, error);
    free(path);
    return status;
}

/* Removes the files of an earlier run, so that they are not mistaken for this run's, and what a killed
 * one left; all other files stay. */
static tg_status clear_files(const char *dir, struct tg_error *error)
{
    const struct tg_run_name *name;
    tg_status status = TG_OK;
    tg_run_folder_clean(dir);
    for (unsigned i = 0; status == TG_OK && (name = tg_run_name_at(i)); i++)
        status = remove_old(dir, name, error);
    return status;
}

/* The same for the folder of a rank, whose trace has a name that the job chose. */
static tg_status clear_rank(const char *dir, struct tg_error *error)
{
    static const struct tg_run_name traces[] = {{"", "trace.json"}, {"", "trace.pftrace"}};
    tg_status status = clear_files(dir, error);
    for (size_t i = 0; i < sizeof traces / sizeof traces[0] && status == TG_OK; i++)
        status = remove_old(dir, &traces[i], error);
    return status;
}

/* "rank12" */
static bool is_rank_folder(const char *name)
{
    const char *digits = name + strlen("rank");
    return strncmp(name, "rank", strlen("rank")) == 0 && *digits &&
           digits[strspn(digits, "0123456789")] == '\0';
}

/* Empties the folder of a rank of an earlier job, and removes it if nothing else is in it. */
static tg_status remove_rank(const char *dir, const char *name, struct tg_error *error)
{
    struct tg_run_lock lock = TG_RUN_LOCK_NONE;
    char *path = tg_path_join(dir, name);
    if (!path)
        return no_memory(error);
    tg_status status = tg_run_folder_lock(path, &lock, error);
    if (status == TG_OK)
        status = clear_rank(path, error);
    if (status == TG_OK) {
        tg_run_folder_remove_empty(path);
        (void)rmdir(path);
    }
    tg_run_folder_unlock(&lock);
    free(path);
    return status;
}

/* Only a directory with ranks.json has such folders: others of that name are the user's. */
static tg_status clear_job(const char *dir, struct tg_error *error)
{
    const struct dirent *entry;
    tg_status status = TG_OK;
    bool is_job = false;
    if (tg_ranks_look(dir, &is_job, error) != TG_OK || !is_job)
        return TG_OK;
    DIR *folder = opendir(dir);
    if (!folder)
        return cannot("read directory", dir, errno, error);
    while (status == TG_OK && (entry = readdir(folder)))
        if (entry->d_type == DT_DIR && is_rank_folder(entry->d_name))
            status = remove_rank(dir, entry->d_name, error);
    closedir(folder);
    return status;
}

static tg_status clear(const struct tg_output_request *request, struct tg_error *error)
{
    if (request->is_of_rank)
        return clear_rank(request->dir, error);
    tg_status status = clear_job(request->dir, error);
    return status == TG_OK ? clear_files(request->dir, error) : status;
}

/* Uses the directory that the user named. */
static tg_status use(const struct tg_output_request *request, char **dir, size_t *made,
                     struct tg_run_lock *lock, struct tg_error *error)
{
    *dir = strdup(request->dir);
    if (!*dir)
        return no_memory(error);
    tg_status status = request->is_of_rank ? TG_OK : tg_run_folder_check_parents(*dir, error);
    if (status == TG_OK)
        status = make_with_parents(*dir, request->shared, made, error);
    if (status == TG_OK)
        status = tg_run_folder_lock(*dir, lock, error);
    if (status == TG_OK)
        status = check_writable(*dir, error);
    return status == TG_OK ? clear(request, error) : status;
}

/* mkdir is atomic: of several runs that want one name, one gets it and the others count on. A run that
 * was told that name may lock the new directory first; then it is that run's. */
static tg_status make_unique(const char *stem, bool shared, char **dir, size_t *made,
                             struct tg_run_lock *lock, struct tg_error *error)
{
    for (int n = 1; n < MOST_PER_SECOND; n++) {
        *dir = n == 1 ? strdup(stem) : tg_text_format("%s_%d", stem, n);
        if (!*dir)
            return no_memory(error);
        if (mkdir(*dir, shared ? 0777 : 0700) == 0) {
            *made = *made ? *made : strlen(*dir);
            tg_status status = tg_run_folder_lock(*dir, lock, error);
            if (status != TG_BUSY)
                return status;
        } else if (errno ==
                   ENOENT) { /* another run made it, was refused and has removed it again */
            int cause = make(outputs, true, made);
            if (cause != 0)
                return cannot("create directory", outputs, cause, error);
        } else if (errno != EEXIST) {
            return cannot("create directory", *dir, errno, error);
        }
        free(*dir);
        *dir = NULL;
    }
    tg_error_set(error, TG_IO_ERROR, "too many directories are called '%s_N'; remove some", stem);
    return TG_IO_ERROR;
}

/* Creates a new directory for this run. */
static tg_status make_new(const struct tg_output_request *request, char **dir, size_t *made,
                          struct tg_run_lock *lock, struct tg_error *error)
{
    char date[32] = "";
    struct tm local;
    tg_status status = tg_run_folder_check_parents(outputs, error);
    if (status != TG_OK)
        return status;
    int cause = make(outputs, true, made);
    if (cause != 0)
        return cannot("create directory", outputs, cause, error);
    if (localtime_r(&request->now, &local))
        strftime(date, sizeof date, "%Y%m%d_%H%M%S", &local);
    char *stem =
        tg_text_format("%s/%s_%s_%s", outputs, request->workload, request->case_name, date);
    if (!stem)
        return no_memory(error);
    status = make_unique(stem, request->shared, dir, made, lock, error);
    free(stem);
    return status == TG_OK ? check_writable(*dir, error) : status;
}

/* The length of a path without the slashes at its end, or without the characters that are none. */
static size_t length_without(const char *path, size_t length, bool slashes)
{
    while (length > 0 && (path[length - 1] == '/') == slashes)
        length--;
    return length;
}

void tg_output_remove(const char *dir, size_t made)
{
    char *path = strdup(dir);
    for (size_t length = strlen(dir); path && made > 0 && length >= made; path[length] = '\0') {
        if (rmdir(path) != 0 && errno != ENOENT && errno != ENAMETOOLONG)
            break; /* it was made, and is not empty */
        length = length_without(path, length, true);
        length = length_without(path, length, false);
        length = length_without(path, length, true);
    }
    free(path);
}

tg_status tg_output_create(const struct tg_output_request *request, char **dir, size_t *made,
                           struct tg_run_lock *lock, struct tg_error *error)
{
    *dir = NULL;
    *made = 0;
    *lock = TG_RUN_LOCK_NONE;
    tg_status status = *request->dir ? use(request, dir, made, lock, error)
                                     : make_new(request, dir, made, lock, error);
    if (status != TG_OK) {
        if (status != TG_BUSY) /* then it is another run's by now */
            tg_output_remove(*dir ? *dir : outputs, *made);
        tg_run_folder_unlock(lock);
        free(*dir);
        *dir = NULL;
    }
    return status;
}

/* One file's contents: the function that writes it, and that function's context. */
struct contents {
    tg_output_write_fn write;
    void *context;
};

/* Writes through stdio on a duplicate descriptor, because fclose reports a failed write. */
static int fill(int fd, const void *context)
{
    const struct contents *contents = context;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    FILE *file = own < 0 ? NULL : fdopen(own, "w");
    if (!file) {
        int cause = errno;
        if (own >= 0)
            close(own);
        return cause;
    }
    int cause = contents->write(file, contents->context);
    if (fclose(file) != 0 && cause == 0)
        cause = errno;
    return cause;
}

tg_status tg_output_write(const char *dir, const char *name, tg_output_write_fn write,
                          void *context, struct tg_error *error)
{
    struct contents contents = {write, context};
    return tg_file_write(dir, name, fill, &contents, error);
}
