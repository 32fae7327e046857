/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/signals.h"
#include "export/export_job.h"
#include "recording/reader.h"
#include "base/files.h"

static tg_status open_target(const struct tg_export_job *job, const char *path, bool named,
                             struct tg_export_file *file)
{
    bool overwrite = job->config->overwrite;
    *file = (struct tg_export_file){.file = stdout, .path = path};
    if (strcmp(path, "-") == 0)
        return TG_OK;
    file->file = NULL;
    tg_status status = tg_recording_check_output(job->recording, path, job->error);
    if (status == TG_OK)
        status = named ? tg_new_file_open_named(path, overwrite, &file->made, job->error)
                       : tg_new_file_open(path, overwrite, &file->made, job->error);
    if (status == TG_OK)
        file->file = tg_new_file_stream(file->made);
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

tg_status tg_export_file_open(const struct tg_export_job *job, const char *path,
                              struct tg_export_file *file)
{
    return open_target(job, path, false, file);
}

tg_status tg_export_file_open_named(const struct tg_export_job *job, const char *path,
                                    struct tg_export_file *file)
{
    return open_target(job, path, true, file);
}

/* Names a file that is complete and notes it; removes another. */
static tg_status close_made(struct tg_export_job *job, struct tg_export_file *file,
                            tg_status status)
{
    bool is_regular = tg_new_file_name(file->made) != NULL;
    if (status == TG_OK && is_regular && !note(job, file->path, false))
        status = tg_export_no_memory(job->error);
    bool is_noted = status == TG_OK && is_regular;
    tg_status closed = tg_new_file_close(file->made, status == TG_OK, job->error);
    if (closed != TG_OK && is_noted)
        free(job->made[--job->n_made].path); /* another program's file may have the name */
    return status == TG_OK ? closed : status;
}

tg_status tg_export_file_close(struct tg_export_job *job, struct tg_export_file *file,
                               tg_status status)
{
    /* A text that begins with "cannot" names the file that is meant, such as the deps.json that was read. */
    const char *name = file->made ? file->path : "standard output";
    if (!file->made && fflush(stdout) != 0 && status == TG_OK)
        status = tg_file_error(job->error, "write", name, errno);
    else if (status == TG_IO_ERROR && strncmp(job->error->text, "cannot ", 7) != 0)
        tg_error_set(job->error, status, "cannot write '%s': %s", name, job->error->text);
    status = tg_recording_conclude(job->recording, status, job->error);
    if (file->made)
        status = close_made(job, file, status);
    *file = (struct tg_export_file){0};
    return status;
}

tg_status tg_export_folder_make(struct tg_export_job *job, const char *path)
{
    bool is_new = false;
    tg_status status = tg_recording_check_output(job->recording, path, job->error);
    if (status == TG_OK)
        status = tg_new_folder(path, job->config->overwrite, &is_new, job->error);
    if (status == TG_OK && is_new && !note(job, path, true)) {
        (void)rmdir(path);
        status = tg_export_no_memory(job->error);
    }
    return status;
}

/* A folder that another program has put something into stays. */
void tg_export_made_end(struct tg_export_job *job, tg_status status)
{
    sigset_t before;
    tg_signals_hold(&before);
    for (size_t i = job->n_made; i > 0; i--) {
        const struct tg_export_made *made = &job->made[i - 1];
        if (status != TG_OK)
            (void)(made->is_folder ? rmdir(made->path) : unlink(made->path));
        free(made->path);
    }
    tg_signals_release(&before);
    free(job->made);
    job->made = NULL;
    job->n_made = job->made_room = 0;
}
