/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/grow.h"
#include "export/export_job.h"
#include "base/files.h"

static bool is_same(const char *dir, const char *name, const struct stat *target)
{
    struct stat info;
    char *path = *name ? tg_path_join(dir, name) : NULL;
    bool same = path && stat(path, &info) == 0 && info.st_dev == target->st_dev &&
                info.st_ino == target->st_ino;
    free(path);
    return same;
}

/* An export that overwrote the recording it reads would destroy it, so even --force does not allow
 * it. */
static bool is_of_recording(const struct tg_recording_info *info, const struct stat *target)
{
    return is_same(info->dir, info->journal, target) || is_same(info->dir, info->payload, target) ||
           is_same(info->dir, info->manifest, target);
}

static bool is_plain_file(const struct stat *info)
{
    return S_ISREG(info->st_mode) || S_ISDIR(info->st_mode);
}

static tg_status check_target(const struct tg_export_job *job, const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return TG_OK;
    if (is_of_recording(&job->info, &info))
        return tg_error_set(job->error, TG_BAD_ARGUMENT,
                            "'%s' is a file of the recording itself; name another", path);
    if (is_plain_file(&info) && !job->config->overwrite)
        return tg_error_set(job->error, TG_BAD_ARGUMENT,
                            "'%s' already exists; --force overwrites it", path);
    return TG_OK;
}

/* Without --force, O_EXCL makes sure that this export created the file: two exports to one name do
 * not mix. */
static int open_target(const struct tg_export_job *job, const char *path)
{
    int flags = O_WRONLY | O_CLOEXEC | O_TRUNC;
    if (!job->config->overwrite) {
        int fd = open(path, O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, 0666);
        struct stat info;
        if (fd >= 0 || errno != EEXIST || stat(path, &info) != 0 || is_plain_file(&info))
            return fd;
        return open(path, flags); /* a pipe, a terminal, /dev/null */
    }
    return open(path, flags | O_CREAT, 0666);
}

tg_status tg_export_file_open(const struct tg_export_job *job, const char *path,
                              struct tg_export_file *file)
{
    struct stat info;
    *file = (struct tg_export_file){.file = stdout, .path = path};
    if (strcmp(path, "-") == 0)
        return TG_OK;
    file->file = NULL;
    tg_status status = check_target(job, path);
    if (status != TG_OK)
        return status;
    int fd = open_target(job, path);
    if (fd < 0)
        return tg_file_error(job->error, "write", path, errno);
    int cause = fstat(fd, &info) == 0 ? 0 : errno;
    file->is_regular = cause != 0 || S_ISREG(info.st_mode);
    file->file = cause == 0 ? fdopen(fd, "wb") : NULL;
    if (file->file)
        return TG_OK;
    status = tg_file_error(job->error, "write", path, cause != 0 ? cause : errno);
    close(fd);
    if (file->is_regular)
        unlink(path);
    return status;
}

static bool note(struct tg_export_job *job, const char *path, bool is_folder)
{
    char *copy = strdup(path);
    if (!copy || !tg_grow(&job->made, &job->made_room, job->n_made + 1, sizeof *job->made)) {
        free(copy);
        return false;
    }
    job->made[job->n_made++] = (struct tg_export_made){copy, is_folder};
    return true;
}

/* Removes a file that is not complete, so that no program reads it as if it were. */
tg_status tg_export_file_close(struct tg_export_job *job, struct tg_export_file *file,
                               tg_status status)
{
    bool is_stdout = file->file == stdout;
    const char *name = is_stdout ? "standard output" : file->path;
    struct tg_error
        loss; /* explains whatever else went wrong: a write of lost bytes fails as well */
    if ((is_stdout ? fflush(stdout) : fclose(file->file)) != 0 && status == TG_OK)
        status = tg_file_error(job->error, "write", name, errno);
    else if (status == TG_IO_ERROR)
        tg_error_set(job->error, status, "cannot write '%s': %s", name, job->error->text);
    if (tg_recording_check_files(job->recording, &loss) != TG_OK)
        status = tg_error_set(job->error, loss.status, "%s", loss.text);
    if (status == TG_OK && file->is_regular && !note(job, file->path, false))
        status = tg_export_no_memory(job->error);
    if (status != TG_OK && file->is_regular)
        unlink(file->path);
    file->file = NULL;
    return status;
}

tg_status tg_export_folder_make(struct tg_export_job *job, const char *path)
{
    if (mkdir(path, 0777) == 0) {
        if (note(job, path, true))
            return TG_OK;
        (void)rmdir(path);
        return tg_export_no_memory(job->error);
    }
    return errno == EEXIST ? TG_OK : tg_file_error(job->error, "write", path, errno);
}

/* A folder that another program has put something into stays. */
void tg_export_made_end(struct tg_export_job *job, tg_status status)
{
    for (size_t i = job->n_made; i > 0; i--) {
        const struct tg_export_made *made = &job->made[i - 1];
        if (status != TG_OK)
            (void)(made->is_folder ? rmdir(made->path) : unlink(made->path));
        free(made->path);
    }
    free(job->made);
    job->made = NULL;
    job->n_made = job->made_room = 0;
}
