/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "host/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "host/text.h"

/* Stop looking for a free directory name after this many. */
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

/* Creates each parent, then the directory itself. Those that exist already are kept. */
static tg_status make_with_parents(char *path, struct tg_error *error)
{
    for (char *slash = path;; slash++) {
        slash = strchrnul(slash, '/');
        char kept = *slash;
        *slash = '\0';
        bool made = *path == '\0' || mkdir(path, 0777) == 0 || errno == EEXIST;
        tg_status status = made ? TG_OK : cannot("create directory", path, errno, error);
        *slash = kept;
        if (status != TG_OK || kept == '\0')
            return status;
    }
}

/* Writes a test file, because a full disk or a read-only directory shows only on a write. */
static int probe(const char *path)
{
    static const char zeros[PROBE_BYTES];
    FILE *file = fopen(path, "wxe");
    if (!file)
        return errno;
    int cause = fwrite(zeros, 1, sizeof zeros, file) == sizeof zeros ? 0 : errno;
    if (fclose(file) != 0 && cause == 0)
        cause = errno;
    unlink(path);
    return cause;
}

static tg_status check_writable(const char *dir, struct tg_error *error)
{
    char *path = tg_text_format("%s/.probe.%ld", dir, (long)getpid());
    if (!path)
        return no_memory(error);
    int cause = probe(path);
    free(path);
    return cause ? cannot("write to directory", dir, cause, error) : TG_OK;
}

static tg_status remove_old(const char *dir, const char *name, struct tg_error *error)
{
    char *path = tg_text_format("%s/%s", dir, name);
    if (!path)
        return no_memory(error);
    tg_status status = TG_OK;
    if (unlink(path) != 0 && errno != ENOENT && errno != ENOTDIR)
        status = cannot("replace", path, errno, error);
    free(path);
    return status;
}

/* Uses the directory that the user named. Removes the files of an earlier run, so that they are
 * not mistaken for this run's; all other files stay. */
static tg_status use(const char *requested, char **dir, struct tg_error *error)
{
    static const char *const ours[] = {"run.json",
                                       "deps.json",
                                       "tensor_dump/tensor_dump.json",
                                       "tensor_dump/tensor_dump.rec",
                                       "tensor_dump/tensor_dump.bin",
                                       "scope_stats/scope_stats.jsonl",
                                       "scope_stats/scope_stats.json"};
    struct stat info;
    *dir = strdup(requested);
    if (!*dir)
        return no_memory(error);
    tg_status status = make_with_parents(*dir, error);
    if (status == TG_OK && stat(*dir, &info) != 0)
        status = cannot("use directory", *dir, errno, error);
    else if (status == TG_OK && !S_ISDIR(info.st_mode))
        status = cannot("use directory", *dir, ENOTDIR, error);
    if (status == TG_OK)
        status = check_writable(*dir, error);
    for (size_t i = 0; status == TG_OK && i < sizeof ours / sizeof ours[0]; i++)
        status = remove_old(*dir, ours[i], error);
    return status;
}

/* mkdir is atomic: of several runs that want one name, one gets it and the others count on. */
static tg_status make_unique(const char *stem, char **dir, struct tg_error *error)
{
    for (int n = 1; n < MOST_PER_SECOND; n++) {
        *dir = n == 1 ? strdup(stem) : tg_text_format("%s_%d", stem, n);
        if (!*dir)
            return no_memory(error);
        if (mkdir(*dir, 0777) == 0)
            return TG_OK;
        if (errno != EEXIST)
            return cannot("create directory", *dir, errno, error);
        free(*dir);
        *dir = NULL;
    }
    tg_error_set(error, TG_IO_ERROR, "too many directories are called '%s_N'; remove some", stem);
    return TG_IO_ERROR;
}

/* Creates a new directory for this run. */
static tg_status make_new(const char *workload, const char *case_name, time_t now, char **dir,
                          struct tg_error *error)
{
    char date[32] = "";
    struct tm local;
    if (mkdir("outputs", 0777) != 0 && errno != EEXIST)
        return cannot("create directory", "outputs", errno, error);
    if (localtime_r(&now, &local))
        strftime(date, sizeof date, "%Y%m%d_%H%M%S", &local);
    char *stem = tg_text_format("outputs/%s_%s_%s", workload, case_name, date);
    if (!stem)
        return no_memory(error);
    tg_status status = make_unique(stem, dir, error);
    free(stem);
    if (status != TG_OK)
        return status;
    status = check_writable(*dir, error);
    if (status != TG_OK)
        rmdir(*dir);
    return status;
}

tg_status tg_output_create(const char *requested, const char *workload, const char *case_name,
                           time_t now, char **dir, struct tg_error *error)
{
    *dir = NULL;
    tg_status status =
        *requested ? use(requested, dir, error) : make_new(workload, case_name, now, dir, error);
    if (status != TG_OK) {
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
